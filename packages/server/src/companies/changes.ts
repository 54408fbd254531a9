import { sql } from 'kysely'
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

/*
 * The queue of companies whose own segments must be checked. Triggers add those that changed, and those that got or lost a
 * contact.
 */

/** Tenants with companies to check. @param except are left out */
export async function tenantsWithChecks(
  stores: Pick<Stores, 'database' | 'closed'>,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await stores.database
    .selectFrom('company_checks')
    .select('tenant_id')
    .distinct()
    .where(sql<boolean>`tenant_id <> ALL(${except}::uuid[])`)
    .where(isOfOpenTenant(stores))
    .limit(limit)
    .execute()
  return rows.map(({ tenant_id }) => tenant_id)
}

/** The next checks that are due, the longest first. The caller ends them in the same transaction. */
export function dueChecks(tx: Tenant, limit: number): Promise<{ check_id: string; company_id: string }[]> {
  const due = tx.db.selectFrom('company_checks').select(['check_id', 'company_id'])
  return due.orderBy('check_id').limit(limit).execute()
}

export async function endChecks(tx: Tenant, checkIds: readonly string[]): Promise<void> {
  await tx.db.deleteFrom('company_checks').where('check_id', '=', sql<string>`ANY(${checkIds}::bigint[])`).execute()
}

/** Has companies checked by any process. */
export async function addChecks(tx: Tenant, companyIds: readonly string[]): Promise<void> {
  if (companyIds.length === 0) return
  const rows = companyIds.map((company_id) => ({ company_id }))
  await tx.db.insertInto('company_checks').values(rows).execute()
}
