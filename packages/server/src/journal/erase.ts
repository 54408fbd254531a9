import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../platform/postgres/database.ts'

/** What rows about a person contain: one of these ids, or a text that the pattern matches. */
export interface Concerned {
  ids: readonly string[]
  pattern: string | null
}

/** Whether a journal row concerns a person. Waits for rows that a projector is deleting. */
export async function hasJournalRow(database: Database, concerned: Concerned): Promise<boolean> {
  const row = await database
    .selectFrom('journal')
    .select('journal_id')
    .where(concerns('rows', concerned))
    .limit(1)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes a tenant's refused events that concern a person. @returns how many there were. */
export async function deleteRefusedEvents(database: Database, tenantId: string, concerned: Concerned): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('refused_events')
    .where(sql<boolean>`strpos(row, ${tenantId}) > 0 AND ${concerns('row', concerned)}`)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

function concerns(column: 'row' | 'rows', { ids, pattern }: Concerned): RawBuilder<boolean> {
  const named = sql<boolean>`EXISTS (
    SELECT FROM unnest(${[...ids]}::text[]) AS id WHERE strpos(${sql.ref(column)}, id) > 0)`
  return pattern === null ? named : sql`(${named} OR ${sql.ref(column)} ~* ${pattern})`
}
