import type { RawBuilder, SqlBool } from 'kysely'
import { copyContacts } from '../contact-sets/copy.ts'
import { idLines } from '../contacts/matching.ts'
import { rangesOfContacts } from '../contacts/ranges.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Contacts that PostgreSQL compares at once: few enough to let others read in between. */
const CONTACTS_PER_RANGE = 50_000

/**
 * Copies the contacts of whom a condition is true into a set, for queries of events (`isInSet`). There may be any number of
 * them.
 * @returns the set's id.
 */
export function contactSetMeeting(tenant: Tenant, isMet: RawBuilder<SqlBool>): Promise<string> {
  return copyContacts(tenant, rangesOfContacts(tenant, CONTACTS_PER_RANGE), (range) => idLines(tenant, range, isMet))
}
