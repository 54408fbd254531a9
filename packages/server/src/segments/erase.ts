import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { deleteMetConditionsOf } from './met-conditions.ts'

/** Memberships are deleted with the contact; its pending check and the event conditions it met are deleted here. */
export async function eraseFromSegments(tx: Tenant, { contactId }: ErasureSubject): Promise<Record<string, number>> {
  await tx.db.deleteFrom('segment_checks').where('contact_id', '=', contactId).execute()
  await deleteMetConditionsOf(tx, [contactId])
  return {}
}
