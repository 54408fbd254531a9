import { sql } from 'kysely'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import { type Clock, HOUR_MS } from '../platform/time.ts'
import { type EventIdTable, eventIdTables } from './sent-ids.ts'

const EVERY_MS = HOUR_MS

/**
 * Empties, once, tomorrow's table, which has the ids of the day before yesterday. PostgreSQL stores the day of each
 * table, which only increases, so a process whose clock is behind cannot empty today's table. @returns how many days
 * the tables are ahead of this clock; 0 if all clocks agree.
 */
export async function deleteOldEventIds(database: Database, now: Date): Promise<number> {
  const { today, tomorrow } = eventIdTables(now)
  return database.transaction().execute(async (transaction) => {
    await advance(transaction, today)
    // TRUNCATE locks the table even when it has nothing to do.
    if (await advance(transaction, tomorrow)) await sql`TRUNCATE ${sql.table(tomorrow.table)}`.execute(transaction)
    const { last } = await transaction
      .selectFrom('event_id_days')
      .select(({ fn }) => fn.max('day').as('last'))
      .executeTakeFirstOrThrow()
    return last - tomorrow.day
  })
}

/** @returns whether the table was still for an earlier day. */
async function advance(database: Database, { turn, day }: EventIdTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto('event_id_days')
    .values({ turn, day })
    .onConflict((known) => known.column('turn').doUpdateSet({ day }).where('event_id_days.day', '<', day))
    .executeTakeFirst()
  return Boolean(numInsertedOrUpdatedRows)
}

/** Deletes old event ids now and every hour. */
export async function startEventIdCleanup(
  database: Database,
  clock: Clock,
  log: Logger,
): Promise<{ stop(): Promise<void> }> {
  const deleteOld = async () => {
    const daysAhead = await deleteOldEventIds(database, clock())
    if (daysAhead > 0) {
      const message =
        'the clock of this process is behind, or that of another was ahead: old event ids are kept until this clock catches up. If this clock is right, empty the table event_id_days'
      log.warn({ days_ahead: daysAhead }, message)
    }
  }
  let running = deleteOld()
  await running
  const timer = setInterval(() => {
    running = deleteOld().catch((error) =>
      log.warn({ err: error }, 'old event ids could not be deleted; retrying in an hour'),
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
