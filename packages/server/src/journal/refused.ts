import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { refusalCode } from '../platform/clickhouse/refusal.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { JournalRow } from './append.ts'
import { JOURNAL_FORMAT } from './event-record.ts'

/** ClickHouse's error codes for rows that it cannot read, however often they come. */
const UNREADABLE: ReadonlySet<number> = new Set([
  6, 25, 26, 27, 32, 33, 38, 41, 53, 69, 70, 72, 117, 130, 131, 321, 349, 376, 407, 467,
])
const ERROR_LENGTH_MAX = 1_000

/** Whether ClickHouse has answered, and will always answer, that it cannot read what it was given. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(refusalCode(error) ?? 0)
}

/**
 * Inserts the events of a journal row one by one and sets aside those that ClickHouse cannot read, so that one bad
 * event, which should not have been accepted, holds up no others. ClickHouse takes a statement whole or not at all, so
 * nothing of the row is there yet; each event has a token of its own, so a repetition changes nothing.
 */
export async function insertReadable(
  { database, clickhouse, log }: { database: Database; clickhouse: ClickHouse; log: Logger },
  { journalId, rows }: JournalRow,
): Promise<void> {
  const [names = '', ...events] = rows.trimEnd().split('\n')
  for (const [line, event] of events.entries()) {
    const row = `${names}\n${event}\n`
    try {
      await clickhouse.insert('events', JOURNAL_FORMAT, row, `${journalId}/${line}`)
    } catch (error) {
      if (!isUnreadable(error)) throw error
      log.error({ journal_id: journalId, line }, 'ClickHouse cannot read an event; it is kept in refused_events')
      await database
        .insertInto('refused_events')
        .values({ journal_id: journalId, line, row, error: String(error).slice(0, ERROR_LENGTH_MAX).toWellFormed() })
        .onConflict((known) => known.columns(['journal_id', 'line']).doNothing())
        .execute()
    }
  }
}
