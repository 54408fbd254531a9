import { sql } from 'kysely'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Clock } from '../platform/time.ts'
import { eventIdTables } from './flush-queries.ts'

const EVERY_MS = 3_600_000

/** Empties the table that tomorrow will write to; it holds the ids of the day before yesterday. */
export async function forgetOldEventIds(database: Database, now: Date): Promise<void> {
  const { tomorrow } = eventIdTables(now)
  const { rows } = await sql`SELECT FROM ${sql.table(tomorrow)} LIMIT 1`.execute(database)
  // TRUNCATE locks the table even when it has nothing to do.
  if (rows.length > 0) await sql`TRUNCATE ${sql.table(tomorrow)}`.execute(database)
}

/** Forgets old event ids now and every hour. */
export async function keepEventIds(database: Database, clock: Clock, log: Logger): Promise<{ stop(): Promise<void> }> {
  let running = forgetOldEventIds(database, clock())
  await running
  const timer = setInterval(() => {
    running = forgetOldEventIds(database, clock()).catch((error) =>
      log.warn({ err: error }, 'old event ids could not be forgotten; the next hour tries again'),
    )
  }, EVERY_MS)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
