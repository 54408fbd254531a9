import type { Tenant } from '../platform/tenant.ts'
import type { ErasureSubject } from './subject.ts'

/** Memberships go with the contact; what waits to be looked at refers to nothing. */
export async function eraseFromSegments(tx: Tenant, { contactId }: ErasureSubject): Promise<Record<string, number>> {
  await tx.db.deleteFrom('segment_checks').where('contact_id', '=', contactId).execute()
  return {}
}
