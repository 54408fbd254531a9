import { type Deletion, deleteRows } from '../platform/clickhouse/delete-rows.ts'
import { CONTACT_SETS_TABLE } from './table.ts'

/** Deletes a contact from the sets of a tenant. */
export async function deleteFromSets(deletion: Deletion, tenantId: string, contactId: string): Promise<void> {
  const conditions = 'tenant_id = {tenant_id: UUID} AND contact_id = {contact_id: UUID}'
  await deleteRows(deletion, CONTACT_SETS_TABLE, conditions, { tenant_id: tenantId, contact_id: contactId })
}

/** Deletes all sets of a tenant. @returns how many rows they had. */
export function deleteSetsOfTenant(deletion: Deletion, tenantId: string): Promise<number> {
  return deleteRows(deletion, CONTACT_SETS_TABLE, 'tenant_id = {tenant_id: UUID}', { tenant_id: tenantId })
}
