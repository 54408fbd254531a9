import type { Tenant } from '../platform/tenant.ts'

/** Makes visitors belong to a contact from now on. Call it in the transaction that names the contact. */
export async function linkVisitors(
  tx: Tenant,
  visitorIds: readonly string[],
  contactId: string,
  now: Date,
): Promise<void> {
  if (visitorIds.length === 0) return
  // Sorted, so that two requests naming the same visitors wait for each other instead of blocking each other.
  const rows = [...new Set(visitorIds)]
    .sort()
    .map((visitor_id) => ({ visitor_id, contact_id: contactId, created_at: now }))
  await tx.db
    .insertInto('visitors')
    .values(rows)
    .onConflict((known) => known.columns(['visitor_id']).doUpdateSet({ contact_id: contactId }))
    .execute()
}
