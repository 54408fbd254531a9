import type { Tenant } from '../platform/tenant.ts'
import { EVENT_COLUMNS, type EventObject, type EventRow, toEventObject } from './event-object.ts'
import { type EventFilters, eventConditions } from './filters.ts'

const ROWS_A_PAGE = 10_000

/**
 * All events that match, newest first, some at a time. Each page is a question of its own that goes on where the one
 * before ended: the table is sorted that way, and the embedded engine would answer a single question with everything.
 */
export async function* eventPages(tenant: Tenant, filters: EventFilters): AsyncGenerator<EventObject[]> {
  const { where, parameters } = eventConditions(filters)
  let last: EventRow | undefined
  for (;;) {
    const after = last
      ? {
          // The first condition is there for the index; the second is what is asked.
          where: [...where, `timestamp <= ${MOMENT}`, `timestamp < ${MOMENT} OR event_id < {after_id: UUID}`],
          parameters: { ...parameters, after_ms: Number(last.timestamp_ms), after_id: last.event_id },
        }
      : { where, parameters }
    const rows = await tenant.events.select<EventRow>({
      name: 'events.page',
      columns: EVENT_COLUMNS,
      ...after,
      orderBy: 'timestamp DESC, event_id DESC',
      limit: ROWS_A_PAGE,
    })
    if (rows.length > 0) yield rows.map(toEventObject)
    if (rows.length < ROWS_A_PAGE) return
    last = rows.at(-1)
  }
}

const MOMENT = "fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC')"
