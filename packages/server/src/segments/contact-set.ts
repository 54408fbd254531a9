import { sql } from 'kysely'
import { eventsOf, type SegmentFilter } from '../conditions/language.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { copyContacts } from '../contact-sets/copy.ts'
import { idLines } from '../contacts/matching.ts'
import { rangesOfContacts } from '../contacts/ranges.ts'
import type { Tenant } from '../platform/tenant.ts'
import { contextFor } from './contact-filters.ts'
import { queryEvents } from './events.ts'

/** Contacts that PostgreSQL compares at once: few enough to let others read in between. */
const CONTACTS_PER_RANGE = 50_000
/** With conditions on events, each range reads the events of the tenant, and keeps in memory who meets them: about 20 MB. */
const CONTACTS_PER_RANGE_OF_EVENTS = 200_000

/**
 * Copies the contacts that meet a filter now into a set, for queries of events (`isInSet`). There may be any number of them.
 * The caller has checked the scopes and, with `requireKnownSegments`, the segments.
 * @returns the set's id.
 * @throws ServiceError 400 `query_too_expensive` for conditions on events.
 */
export async function contactSetOf(tenant: Tenant, filter: SegmentFilter, now: Date): Promise<string> {
  const context = await contextFor(tenant, filter, now)
  const questions = eventsOf(filter)
  if (questions.length === 0) {
    const isMet = compileFilter(filter, { ...context, hasEvents: () => sql`false` })
    return copyContacts(tenant, rangesOfContacts(tenant, CONTACTS_PER_RANGE), (range) => idLines(tenant, range, isMet))
  }
  return copyContacts(tenant, rangesOfContacts(tenant, CONTACTS_PER_RANGE_OF_EVENTS), async (range) => {
    const results = await queryEvents(tenant, questions, range, now)
    const isMet = compileFilter(filter, { ...context, hasEvents: (question) => results.hasEvents(question) })
    return idLines(tenant, range, isMet)
  })
}
