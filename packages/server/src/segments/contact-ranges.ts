import type { Tenant } from '../platform/tenant.ts'

/** No contact has this id, and none a smaller one. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** No contact has a greater id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The contacts whose ids are greater than one and not greater than the other. */
export interface ContactRange {
  after: string
  upTo: string
}

export const ALL_CONTACTS: ContactRange = { after: FIRST_ID, upTo: LAST_ID }

/** Whether no range comes after this one. */
export function isLast({ upTo }: ContactRange): boolean {
  return upTo === LAST_ID
}

/** All contacts, in the order of their ids, some at a time. */
export async function* rangesOfContacts(tenant: Tenant, size: number): AsyncGenerator<ContactRange> {
  for (let after = FIRST_ID; after !== LAST_ID; ) {
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
