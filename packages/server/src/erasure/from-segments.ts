import type { Tenant } from '../platform/tenant.ts'
import { forgetHolder } from '../segments/holders.ts'
import type { ErasureSubject } from './subject.ts'

/** Memberships go with the contact; what waits to be looked at, and what is known of its events, refers to nothing. */
export async function eraseFromSegments(tx: Tenant, { contactId }: ErasureSubject): Promise<Record<string, number>> {
  await tx.db.deleteFrom('segment_checks').where('contact_id', '=', contactId).execute()
  await forgetHolder(tx, contactId)
  return {}
}
