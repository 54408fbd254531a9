import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'

/*
 * The outbox of changed companies. A change is taken once it is committed, so that whoever changes a company need not
 * wait for its contacts.
 */

/** Tenants with companies that have changed. */
export async function tenantsWithChanges(
  stores: Pick<Stores, 'database' | 'closed'>,
  limit: number,
): Promise<string[]> {
  const rows = await stores.database
    .selectFrom('company_changes')
    .select('tenant_id')
    .distinct()
    .where(isOfOpenTenant(stores))
    .limit(limit)
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Takes changed companies out of the box, in the caller's transaction. A later change of one puts it back. */
export async function takeChanges(tx: Tenant, limit: number): Promise<string[]> {
  const taken = tx.db.selectFrom('company_changes').select('company_id').limit(limit).forUpdate().skipLocked()
  const rows = await tx.db
    .deleteFrom('company_changes')
    .where('company_id', 'in', taken)
    .returning('company_id')
    .execute()
  return rows.map(({ company_id }) => company_id)
}
