import { sql } from 'kysely'
import type Type from 'typebox'
import type { Company } from '../companies/company-object.ts'
import { sampleCompanies } from '../companies/list.ts'
import { eventsOf, type SegmentFilter } from '../conditions/language.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import type { SegmentMember } from '../contacts/contact-object.ts'
import { countWithSample } from '../contacts/matching.ts'
import { ALL_CONTACTS } from '../contacts/ranges.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { compileCompanyFilter } from './company-list-filter.ts'
import { contextFor } from './contact-filters.ts'
import { EventResults, isBeyondBounds, queryEvents } from './events.ts'
import { type Entity, requireKnownSegments } from './named-segments.ts'
import { PARSE_FILTER } from './segments.ts'

const SAMPLE_SIZE = 5
/** A preview runs while a user types, so it must stay cheap. */
const COUNT_MS_MAX = 5_000
/** The contacts with matching events are kept in memory: 250,000 of them briefly use some tens of megabytes. */
const EVENT_BOUNDS = { limit: 250_000, secondsMax: 5 }
const STATEMENT_CANCELLED = '57014'

/**
 * The number of contacts or companies that match a filter now, and some of them. Writes nothing.
 * @param visibleOnly whether personal values are hidden from the caller
 * @throws ServiceError 400 naming every invalid field of the filter, or `preview_too_slow`.
 */
export async function previewSegment(
  tenant: Tenant,
  entity: Entity,
  sent: unknown,
  now: Date,
  visibleOnly: boolean,
): Promise<Preview> {
  const filter = PARSE_FILTER[entity](sent, { visibleOnly })
  try {
    return await (entity === 'contacts' ? previewContacts(tenant, filter, now) : previewCompanies(tenant, filter, now))
  } catch (error) {
    const isTooMuch = isBeyondBounds(error) || (error as { code?: string }).code === STATEMENT_CANCELLED
    if (!isTooMuch) throw error
    const message = 'This filter takes too long to preview. You can still save it.'
    throw new ServiceError(400, 'preview_too_slow', message, { cause: error })
  }
}

interface Preview {
  count: number
  sample: SegmentMember[]
  companies: Type.Static<typeof Company>[]
}

async function previewContacts(tenant: Tenant, filter: SegmentFilter, now: Date): Promise<Preview> {
  await requireKnownSegments(tenant, filter)
  const matches = eventsOf(filter)
  const results =
    matches.length > 0 ? await queryEvents(tenant, matches, ALL_CONTACTS, now, EVENT_BOUNDS) : new EventResults()
  const condition = compileFilter(filter, {
    ...(await contextFor(tenant, filter, now)),
    hasEvents: (match) => results.hasEvents(match),
  })
  return { ...(await bounded(tenant, (tx) => countWithSample(tx, condition, SAMPLE_SIZE))), companies: [] }
}

async function previewCompanies(tenant: Tenant, filter: SegmentFilter, now: Date): Promise<Preview> {
  const condition = await compileCompanyFilter(tenant, filter, now)
  return bounded(tenant, async (tx) => ({ ...(await sampleCompanies(tx, condition, SAMPLE_SIZE)), sample: [] }))
}

/** A read of at most some seconds. */
function bounded<T>(tenant: Tenant, read: (tx: Tenant) => Promise<T>): Promise<T> {
  return tenant.heavyRead(() =>
    tenant.transaction(async (tx) => {
      await sql`SELECT set_config('statement_timeout', ${String(COUNT_MS_MAX)}, true),
        set_config('transaction_read_only', 'on', true)`.execute(tx.db)
      return read(tx)
    }),
  )
}
