import { type Kysely, sql } from 'kysely'

/**
 * Runs `work` on a connection of its own, whose temporary tables nobody else sees and which end with it. Its statements
 * may take as long as they need.
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
      // The connection goes back to the pool. When it is broken, the pool drops it, and its tables with it.
      await sql`DISCARD TEMP`.execute(scratch).catch(() => {})
      await sql`RESET statement_timeout`.execute(scratch).catch(() => {})
    }
  })
}
