import { type Deletion, deleteRows } from '../platform/clickhouse/delete-rows.ts'
import type { Tenant } from '../platform/tenant.ts'
import { ownersOf } from './owners.ts'
import { OWNER_LINKS_TABLE } from './table.ts'

/** Deletes ClickHouse's copy of all links of a tenant. @returns how many there were. */
export function deleteLinksOfTenant(deletion: Deletion, tenantId: string): Promise<number> {
  return deleteRows(deletion, OWNER_LINKS_TABLE, 'tenant_id = {tenant_id: UUID}', { tenant_id: tenantId })
}

/** Deletes the links of a contact's owners, whose events have been erased. */
export async function deleteLinks(deletion: Deletion, tenant: Tenant, contactId: string): Promise<void> {
  // ClickHouse may still have earlier versions, from when the owners belonged to another contact.
  const owners = await ownersOf(tenant, [contactId])
  const conditions = `tenant_id = {tenant_id: UUID}
    AND (contact_id = {contact_id: UUID} OR owner_id IN {owners: Array(UUID)})`
  const parameters = { tenant_id: tenant.id, contact_id: contactId, owners }
  await deleteRows(deletion, OWNER_LINKS_TABLE, conditions, parameters)
  await tenant.db.deleteFrom('owner_links').where('contact_id', '=', contactId).execute()
}
