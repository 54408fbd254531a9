import type { Pool } from 'pg'

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
