import { type Kysely, sql } from 'kysely'

/**
 * Runs `work` on a dedicated connection for temporary tables, which are dropped when it ends. Its statements have no
 * time limit.
 */
export async function onScratch<Tables, T>(
  database: Kysely<Tables>,
  work: (scratch: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return database.connection().execute(async (scratch) => {
    try {
      await sql`SET statement_timeout = 0`.execute(scratch)
      return await work(scratch)
    } finally {
      // The connection returns to the pool. If it is broken, the pool closes it, which drops its tables.
      await sql`DISCARD TEMP`.execute(scratch).catch(() => {})
      await sql`RESET statement_timeout`.execute(scratch).catch(() => {})
    }
  })
}
