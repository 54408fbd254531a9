import pg from 'pg'
import { newId } from '../src/platform/ids.ts'

/** What a column gets in a row that stands for any row, by its type. */
const VALUES: Record<string, string> = {
  bool: 'false',
  bytea: "'x'",
  cidr: "'127.0.0.0/8'",
  date: 'now()',
  json: "'{}'",
  jsonb: "'{}'",
  text: "'x'",
  timestamptz: 'now()',
  uuid: 'gen_random_uuid()',
}

/**
 * Inserts a row of a tenant into each table with a tenant_id that has none of it. Such a row has no meaning: constraints of
 * its values and references are off, so close the tenant before, or others will try to work on it.
 * @returns the tables that got one.
 */
export async function fillEveryTable(client: pg.ClientBase, tenantId: string): Promise<string[]> {
  const { rows } = await client.query<{ table: string; columns: { name: string; type: string }[]; checks: string[] }>(
    `SELECT relname AS table, (
        SELECT json_agg(json_build_object('name', attname, 'type', typname)) FROM pg_attribute
        JOIN pg_type ON pg_type.oid = atttypid
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attnotnull AND attgenerated = '' AND attidentity = '') AS columns,
      ARRAY(SELECT conname::text FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'c') AS checks
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'tenant_deletions' AND EXISTS (
      SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'tenant_id')`,
  )
  const filled: string[] = []
  await client.query("SET session_replication_role = 'replica'")
  try {
    for (const { table, columns, checks } of rows) {
      const name = pg.escapeIdentifier(table)
      const found = await client.query(`SELECT FROM ${name} WHERE tenant_id = $1 LIMIT 1`, [tenantId])
      if (found.rowCount !== 0) continue
      for (const check of checks)
        await client.query(`ALTER TABLE ${name} DROP CONSTRAINT ${pg.escapeIdentifier(check)}`)
      const others = columns.filter((column) => column.name !== 'tenant_id')
      const names = ['tenant_id', ...others.map((column) => pg.escapeIdentifier(column.name))]
      const values = others.map(({ type }) => VALUES[type] ?? (type.startsWith('_') ? "'{}'" : '0'))
      await client.query(`INSERT INTO ${name} (${names}) VALUES (${[`'${tenantId}'`, ...values]})`)
      filled.push(table)
    }
  } finally {
    await client.query("SET session_replication_role = 'origin'")
  }
  return filled
}

/** A row of the journal's refused events that names a tenant. */
export async function insertRefusedEvent(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query("INSERT INTO refused_events VALUES ($1, 0, 'events', $2, 'x')", [
    newId(),
    JSON.stringify({ tenant_id: tenantId }),
  ])
}
