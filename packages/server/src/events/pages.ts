import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { LOADED_BYTES_MAX, pagesOf } from '../platform/response-size.ts'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import { EVENT_SELECT, type EventObject, type EventRow, toEventObjects } from './event-object.ts'
import type { EventFilters } from './filters.ts'
import { EVENT_ID_ORDER } from './table.ts'

const ROWS_PER_PAGE = 10_000
/** Events yielded at a time; other requests run in between. */
const EVENTS_AT_ONCE = 250

/**
 * All matching events in pages, newest first. Each page is a separate query that continues after the previous one, in
 * the table's order, because the embedded engine would return the result of a single query all at once.
 */
export async function* eventPages(tenant: Tenant, filters: EventFilters): AsyncGenerator<EventObject[]> {
  const matching = await conditionsOf(tenant, filters)
  const pages = pagesOf<EventRow>(ROWS_PER_PAGE, async (limit, after) => {
    const bounds = await boundsOfPage(tenant, matching, after, limit)
    return tenant.events.select<EventRow>({
      name: 'events.page',
      lane: 'export',
      columns: EVENT_SELECT,
      where: [...matching.where, ...bounds.where],
      parameters: { ...matching.parameters, ...bounds.parameters },
      orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
      bytesMax: LOADED_BYTES_MAX,
    })
  })
  for await (const rows of pages) {
    for (let from = 0; from < rows.length; from += EVENTS_AT_ONCE) {
      yield await toEventObjects(tenant, rows.slice(from, from + EVENTS_AT_ONCE))
    }
  }
}

interface Key {
  timestamp_ms: number
  event_id: string
}

/**
 * The bounds of the page after an event, as conditions. The end is found first, using only the sort columns: with only
 * a LIMIT, ClickHouse would read every column of a block of each part, a thousand times the rows that it returns;
 * between two bounds it reads only those.
 */
async function boundsOfPage(
  tenant: Tenant,
  { where, parameters }: Pick<EventSelect, 'where' | 'parameters'>,
  after: Key | undefined,
  rowsAPage: number,
): Promise<Pick<EventSelect, 'where' | 'parameters'>> {
  const afterKey = after
    ? // The first condition uses the index; the second is exact.
      [`timestamp <= ${AFTER}`, `timestamp < ${AFTER} OR ${EVENT_ID_ORDER} < toUInt128({after_id: UUID})`]
    : []
  const from: QueryParameters = after ? { after_ms: Number(after.timestamp_ms), after_id: after.event_id } : {}
  const [end] = await tenant.events.select<Key>({
    name: 'events.page_end',
    lane: 'export',
    columns: 'toUnixTimestamp64Milli(timestamp) AS timestamp_ms, event_id',
    where: [...where, ...afterKey],
    parameters: { ...parameters, ...from },
    orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
    limit: 1,
    offset: rowsAPage - 1,
  })
  if (!end) return { where: afterKey, parameters: from }
  return {
    where: [...afterKey, `timestamp >= ${END}`, `timestamp > ${END} OR ${EVENT_ID_ORDER} >= toUInt128({end_id: UUID})`],
    parameters: { ...from, end_ms: Number(end.timestamp_ms), end_id: end.event_id },
  }
}

const AFTER = "fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC')"
const END = "fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')"
