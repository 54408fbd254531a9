import { eventsOf, type SegmentFilter } from '../conditions/language.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { idsMatching } from '../contacts/matching.ts'
import { type ContactSet, newestRanges } from '../contacts/ranges.ts'
import type { Tenant } from '../platform/tenant.ts'
import { contextOf, zoneOf } from './contact-filters.ts'
import { EventResults, queryEvents } from './events.ts'

/** Contacts per query of ClickHouse, which reads the tenant's events once for each and keeps the result in memory. */
const CONTACTS_PER_RANGE = 20_000

/** The contacts in a list that match a filter now. The filter need not belong to a segment. */
export async function contactsMatching(
  tenant: Tenant,
  filter: SegmentFilter,
  contactIds: readonly string[],
  now: Date,
): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const condition = await conditionOf(tenant, filter, { contactIds }, now)
  return new Set(await idsMatching(tenant, { contactIds }, condition))
}

/** The contacts that match a filter now, in pages, newest first; a caller can stop early. */
export async function* contactsOf(tenant: Tenant, filter: SegmentFilter, now: Date): AsyncGenerator<string[]> {
  for await (const range of newestRanges(tenant, CONTACTS_PER_RANGE)) {
    yield idsMatching(tenant, range, await conditionOf(tenant, filter, range, now))
  }
}

async function conditionOf(tenant: Tenant, filter: SegmentFilter, contactSet: ContactSet, now: Date) {
  const matches = eventsOf(filter)
  const results = matches.length > 0 ? await queryEvents(tenant, matches, contactSet, now) : new EventResults()
  return compileFilter(filter, {
    ...contextOf(now, await zoneOf(tenant, filter)),
    hasEvents: (match) => results.hasEvents(match),
  })
}
