import { sql } from 'kysely'
import { expect } from 'vitest'
import type { TestService } from './service.ts'

/**
 * Sends requests that write to a table, and keeps them from writing until each one waits for a lock. By then each one has
 * read the table, unless it waits for another one to end.
 */
export async function simultaneously<Response>(
  { stores: { database } }: TestService,
  table: string,
  requests: readonly (() => Promise<Response>)[],
): Promise<Response[]> {
  const waiting = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  const count = async () => (await waiting.execute(database)).rows.length
  const { responses } = await database.transaction().execute(async (blocking) => {
    await sql`LOCK TABLE ${sql.table(table)} IN SHARE MODE`.execute(blocking)
    const responses = Promise.all(requests.map((send) => send()))
    await expect.poll(count).toBeGreaterThanOrEqual(requests.length)
    return { responses }
  })
  return responses
}
