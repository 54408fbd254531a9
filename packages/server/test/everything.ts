import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Stores } from '../src/platform/tenant.ts'

/** Every row of every table of the service's database, the job queue's included, as text. */
export async function everythingStored({ postgres }: { postgres: { pool: Pool } }): Promise<string> {
  const { rows: tables } = await postgres.pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await postgres.pool.query<{ row: string }>(`SELECT whole::text AS row FROM ${name} AS whole`)
    texts.push(`-- ${name}`, ...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}

/** The tables of both stores that contain a text, the job queue's included. */
export async function tablesWith(
  { database, clickhouse }: Pick<Stores, 'database' | 'clickhouse'>,
  text: string,
): Promise<string[]> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
    WHERE table_schema IN ('public', 'pgboss') AND table_type = 'BASE TABLE'`.execute(database)
  // In one statement: a hundred take much longer than what they read.
  const isIn = tables.map(
    ({ schema, name }) => sql`SELECT ${`${schema}.${name}`} AS place WHERE EXISTS (
      SELECT FROM ${sql.id(schema, name)} AS t WHERE strpos(lower(t::text), lower(${text})) > 0)`,
  )
  const { rows: found } = await sql<{ place: string }>`${sql.join(isIn, sql` UNION ALL `)}`.execute(database)
  const places = found.map(({ place }) => place)
  for (const table of ['events', 'owner_links', 'contact_sets']) {
    const [rows] = await clickhouse.query<{ n: number }>(
      `SELECT count() AS n FROM ${table} WHERE positionCaseInsensitiveUTF8(formatRow('JSONEachRow', *), {text: String}) > 0`,
      { text },
    )
    if (Number(rows?.n) > 0) places.push(table)
  }
  return places
}
