import { sql } from 'kysely'
import { ZERO_ID } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { compileFilter } from './conditions.ts'
import { LAST_ID } from './contact-ranges.ts'
import { type ContactSet, EventResults, queryEvents } from './events.ts'
import { eventsOf, type SegmentFilter } from './filter.ts'

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
  const rows = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .where(condition)
    .execute()
  return new Set(rows.map((row) => row.contact_id))
}

/** The contacts that match a filter now, in pages, newest first; a caller can stop early. */
export async function* contactsOf(tenant: Tenant, filter: SegmentFilter, now: Date): AsyncGenerator<string[]> {
  for (let upTo = LAST_ID; upTo !== ZERO_ID; ) {
    const after = await startOfRange(tenant, upTo)
    const condition = await conditionOf(tenant, filter, { after, upTo }, now)
    const rows = await tenant.db
      .selectFrom('contacts')
      .select('contact_id')
      .where('contact_id', '>', after)
      .where('contact_id', '<=', upTo)
      .where(condition)
      .orderBy('contact_id', 'desc')
      .execute()
    yield rows.map((row) => row.contact_id)
    upTo = after
  }
}

async function conditionOf(tenant: Tenant, filter: SegmentFilter, contactSet: ContactSet, now: Date) {
  const matches = eventsOf(filter)
  const results = matches.length > 0 ? await queryEvents(tenant, matches, contactSet, now) : new EventResults()
  return compileFilter(filter, { now, hasEvents: (match) => results.hasEvents(match) })
}

/** The lower bound of the range that ends with `upTo`. */
async function startOfRange(tenant: Tenant, upTo: string): Promise<string> {
  const row = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '<=', upTo)
    .orderBy('contact_id', 'desc')
    .offset(CONTACTS_PER_RANGE)
    .limit(1)
    .executeTakeFirst()
  return row?.contact_id ?? ZERO_ID
}
