import { sql } from 'kysely'
import { deleteTenant } from '../access/closed-tenants.ts'
import type { Database } from '../platform/postgres/database.ts'

/** Few enough for a short statement: a tenant may have millions of rows. */
const ROWS_AT_ONCE = 5_000
/** Deleted with the tenant's row, because a trigger refuses it before. */
const APPEND_ONLY = 'audit_log'
/** Has the receipts, which stay. */
const RECEIPTS = 'tenant_deletions'

type CountRows = (transaction: Database, table: string, rows: number) => Promise<void>

/**
 * Deletes a tenant's rows from every table that has its id, then the tenant's own row and what still refers to it. Which
 * tables there are, PostgreSQL says: a new one needs no line here. It can be repeated.
 * @param count counts the rows that a statement deleted, in its transaction.
 */
export async function deleteRowsOfTenant(
  database: Database,
  tenantId: string,
  count: CountRows = async () => {},
): Promise<void> {
  for (const table of await tablesOfTenants(database)) {
    for (;;) {
      const rows = await database.transaction().execute(async (transaction) => {
        const { numAffectedRows } = await sql`DELETE FROM ${sql.table(table)} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${sql.table(table)} WHERE tenant_id = ${tenantId} LIMIT ${ROWS_AT_ONCE}))`.execute(transaction)
        const deleted = Number(numAffectedRows ?? 0)
        await count(transaction, table, deleted)
        return deleted
      })
      if (rows === 0) break
    }
  }
  await database.transaction().execute((transaction) => deleteTenantRow(transaction, tenantId, count))
}

async function deleteTenantRow(transaction: Database, tenantId: string, count: CountRows): Promise<void> {
  const { rows } = await sql<{ entries: number }>`SELECT count(*) AS entries FROM ${sql.table(APPEND_ONLY)}
    WHERE tenant_id = ${tenantId}`.execute(transaction)
  if (!(await deleteTenant(transaction, tenantId))) return
  await count(transaction, APPEND_ONLY, Number(rows[0]?.entries ?? 0))
  await count(transaction, 'tenants', 1)
}

/** The tables with a tenant's id, each before those that it refers to: otherwise their deletion would delete its rows uncounted. */
async function tablesOfTenants(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string; references: string[] }>`
    SELECT relname AS name, ARRAY(
        SELECT referenced.relname::text FROM pg_constraint JOIN pg_class AS referenced ON referenced.oid = confrelid
        WHERE contype = 'f' AND conrelid = pg_class.oid AND confrelid <> conrelid) AS references
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND attname = 'tenant_id'
      AND relname NOT IN ('tenants', ${APPEND_ONLY}, ${RECEIPTS})
    ORDER BY relname`.execute(database)
  const referencesOf = new Map(rows.map(({ name, references }) => [name, references]))
  const ordered = new Set<string>()
  const visiting = new Set<string>()
  /** Adds a table after those it refers to. Where they refer to each other, either may come first. */
  const add = (name: string) => {
    if (ordered.has(name) || visiting.has(name)) return
    visiting.add(name)
    for (const referenced of referencesOf.get(name) ?? []) if (referencesOf.has(referenced)) add(referenced)
    ordered.add(name)
  }
  for (const name of referencesOf.keys()) add(name)
  return [...ordered].reverse()
}
