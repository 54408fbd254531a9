import { deleteTenantRow } from '../access/tenants.ts'
import { deleteVisitors } from '../contacts/visitors/erase.ts'
import { deleteDevices } from '../identification/erase.ts'
import type { Database } from '../platform/postgres/database.ts'

/**
 * Deletes a tenant and all its data in PostgreSQL. Most tables cascade through foreign keys; the collector's have none.
 * Webhook deliveries are deleted within ten minutes, like those of deleted subscriptions.
 */
export async function deleteTenant(database: Database, tenantId: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await deleteVisitors(transaction, tenantId)
    await deleteDevices(transaction, tenantId)
    await deleteTenantRow(transaction, tenantId)
  })
}
