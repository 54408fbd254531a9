import { ZERO_ID } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The greatest possible id. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The contacts with ids above one bound, up to and including the other. */
export interface ContactRange {
  after: string
  upTo: string
}

/** Some contacts: a range, or a list. */
export type ContactSet = ContactRange | { contactIds: readonly string[] }

export const ALL_CONTACTS: ContactRange = { after: ZERO_ID, upTo: LAST_ID }

/** Whether this is the last range. */
export function isLast({ upTo }: ContactRange): boolean {
  return upTo === LAST_ID
}

/** All contacts in consecutive ranges of ids. */
export async function* rangesOfContacts(tenant: Tenant, size: number): AsyncGenerator<ContactRange> {
  for (let after = ZERO_ID; after !== LAST_ID; ) {
    const last = await tenant.db
      .selectFrom('contacts')
      .select('contact_id')
      .where('contact_id', '>', after)
      .orderBy('contact_id')
      .offset(size - 1)
      .limit(1)
      .executeTakeFirst()
    const range = { after, upTo: last?.contact_id ?? LAST_ID }
    yield range
    after = range.upTo
  }
}

/** All contacts in consecutive ranges of ids, the newest first. */
export async function* newestRanges(tenant: Tenant, size: number): AsyncGenerator<ContactRange> {
  for (let upTo = LAST_ID; upTo !== ZERO_ID; ) {
    const before = await tenant.db
      .selectFrom('contacts')
      .select('contact_id')
      .where('contact_id', '<=', upTo)
      .orderBy('contact_id', 'desc')
      .offset(size)
      .limit(1)
      .executeTakeFirst()
    const range = { after: before?.contact_id ?? ZERO_ID, upTo }
    yield range
    upTo = range.after
  }
}
