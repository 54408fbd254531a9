import type { RawBuilder } from 'kysely'
import type { Database } from '../platform/postgres/database.ts'

/** Whether a journal row meets a condition on its column `rows`. Waits for rows that a projector is deleting. */
export async function hasJournalRow(database: Database, condition: RawBuilder<boolean>): Promise<boolean> {
  const row = await database
    .selectFrom('journal')
    .select('journal_id')
    .where(condition)
    .limit(1)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes the refused events that meet a condition on their column `row`. @returns how many there were. */
export async function deleteRefusedEvents(database: Database, condition: RawBuilder<boolean>): Promise<number> {
  const { numDeletedRows } = await database.deleteFrom('refused_events').where(condition).executeTakeFirst()
  return Number(numDeletedRows)
}
