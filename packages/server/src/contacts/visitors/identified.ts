import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'

/** The contacts of these visitors, by visitor; only identified ones. */
export async function contactsOfVisitors(tenant: Tenant, visitorIds: readonly string[]): Promise<Map<string, string>> {
  if (visitorIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('visitors')
    .select(['visitor_id', 'contact_id'])
    .where('visitor_id', '=', sql<string>`any(${visitorIds}::text[])`)
    .where('contact_id', 'is not', null)
    .execute()
  return new Map(rows.flatMap(({ visitor_id, contact_id }) => (contact_id === null ? [] : [[visitor_id, contact_id]])))
}

/** Whether a visitor was seen before: it has sent events, or somebody has identified it. */
export async function isKnownVisitor(tx: Tenant, visitorId: string): Promise<boolean> {
  const visitors = tx.db.selectFrom('visitors').select('visitor_id').where('visitor_id', '=', visitorId)
  return (await visitors.executeTakeFirst()) !== undefined
}

/** Whether a visitor belongs to a contact, or will once the contact that its page names exists. */
export async function belongsToContact(tx: Tenant, visitorId: string): Promise<boolean> {
  const visitor = await tx.db
    .selectFrom('visitors')
    .select(['contact_id', 'external_contact_id'])
    .where('visitor_id', '=', visitorId)
    .executeTakeFirst()
  return (visitor?.contact_id ?? visitor?.external_contact_id ?? null) !== null
}
