import { sql } from 'kysely'
import { eventsOf } from '../conditions/language.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { countWithSample } from '../contacts/matching.ts'
import { ALL_CONTACTS } from '../contacts/ranges.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { contextFor, parseContactFilter } from './contact-filters.ts'
import { EventResults, isBeyondBounds, queryEvents } from './events.ts'
import { requireKnownSegments } from './named-segments.ts'

const SAMPLE_SIZE = 5
/** A preview runs while a user types, so it must stay cheap. */
const COUNT_MS_MAX = 5_000
/** The contacts with matching events are kept in memory: 250,000 of them briefly use some tens of megabytes. */
const EVENT_BOUNDS = { limit: 250_000, secondsMax: 5 }
const STATEMENT_CANCELLED = '57014'

/**
 * The number of contacts that match a filter now, and some of them. Writes nothing.
 * @param visibleOnly whether personal values are hidden from the caller
 * @throws ServiceError 400 naming every invalid field of the filter, or `preview_too_slow`.
 */
export async function previewSegment(tenant: Tenant, sent: unknown, now: Date, visibleOnly: boolean) {
  const filter = parseContactFilter(sent, { visibleOnly })
  await requireKnownSegments(tenant, filter)
  const matches = eventsOf(filter)
  try {
    const results =
      matches.length > 0 ? await queryEvents(tenant, matches, ALL_CONTACTS, now, EVENT_BOUNDS) : new EventResults()
    const condition = compileFilter(filter, {
      ...(await contextFor(tenant, filter, now)),
      hasEvents: (match) => results.hasEvents(match),
    })
    return await tenant.heavyRead(() =>
      tenant.transaction(async (tx) => {
        await sql`SELECT set_config('statement_timeout', ${String(COUNT_MS_MAX)}, true),
        set_config('transaction_read_only', 'on', true)`.execute(tx.db)
        return countWithSample(tx, condition, SAMPLE_SIZE)
      }),
    )
  } catch (error) {
    const isTooMuch = isBeyondBounds(error) || (error as { code?: string }).code === STATEMENT_CANCELLED
    if (!isTooMuch) throw error
    const message = 'This filter takes too long to preview. You can still save it.'
    throw new ServiceError(400, 'preview_too_slow', message, { cause: error })
  }
}
