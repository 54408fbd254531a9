import { isDiskFull, refusalCode } from '../platform/clickhouse/refusal.ts'
import { withSequence } from '../platform/clickhouse/sequence.ts'
import { newId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { JournalRow, JournalTable } from './append.ts'
import type { Insertion } from './insertions.ts'

/** ClickHouse's error codes for rows that it can never parse. */
const UNREADABLE: ReadonlySet<number> = new Set([
  6, 25, 26, 27, 32, 33, 38, 41, 53, 62, 69, 70, 72, 117, 130, 131, 321, 349, 376, 407, 467,
])
/**
 * ClickHouse's codes for temporary failures: timeouts, no memory, too many parts, a lost replica, an unknown outcome.
 */
const BUSY: ReadonlySet<number> = new Set([
  159, 160, 202, 203, 209, 210, 225, 236, 241, 242, 252, 279, 285, 286, 319, 394, 439, 745, 999,
])
const ERROR_LENGTH_MAX = 1_000
/** Used instead of a line number for a corrupt journal row. */
const WHOLE_ROW = -1

/** The transaction that locks a batch, and a function that inserts its rows into ClickHouse. */
export interface BatchLock {
  transaction: Database
  insert(insertion: Insertion): Promise<void>
  log: Logger
}

/** Whether ClickHouse cannot parse the rows, however often they are sent. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(refusalCode(error) ?? 0)
}

/** ClickHouse's text for rows that the queried server could not parse. It sends no text format to other servers. */
const WHILE_READING = /while reading |While executing \w+InputFormat/

/** The same in a cluster, where only an error of the queried server proves that no shard has stored any rows. */
export function isUnreadableByAsked(error: unknown): boolean {
  return isUnreadable(error) && WHILE_READING.test(String(error))
}

/** Whether ClickHouse rejected this statement in particular, for any reason: it may accept others. */
export function isRefused(error: unknown): boolean {
  const code = refusalCode(error)
  return code !== null && !BUSY.has(code) && !isDiskFull(error)
}

/**
 * Inserts the events of journal rows one by one and sets aside those that are rejected, so that an invalid event does
 * not block others. Each event has its own deduplication token, so a repetition changes nothing. The rows must be
 * committed as divided: a repetition that inserted a row whole would look up its first event, find it, and take the
 * others for stored. @param isBatchFault whether an error is caused by the event rather than the state of ClickHouse.
 * @returns the same as `insertAll`.
 */
export async function insertDivided(
  lock: BatchLock,
  rows: readonly JournalRow[],
  isBatchFault: (error: unknown) => boolean,
): Promise<{ stored: string[]; errors: unknown[] }> {
  try {
    for (const row of rows) await insertEach(lock, row, isBatchFault)
    return { stored: rows.map(({ journalId }) => journalId), errors: [] }
  } catch (error) {
    return { stored: [], errors: [error] }
  }
}

async function insertEach(
  lock: BatchLock,
  { journalId, table, rows, sequence = 0 }: JournalRow,
  isBatchFault: (error: unknown) => boolean,
): Promise<void> {
  const [names = '', ...events] = linesOf(rows)
  if (events.length === 0)
    return setAside(lock, { journalId, table, line: WHOLE_ROW, row: rows, error: 'contains no events' })
  for (const [line, event] of events.entries()) {
    const row = `${names}\n${event}\n`
    try {
      await lock.insert({ table, body: row, token: withSequence(`${journalId}/${line}`, sequence) })
    } catch (error) {
      if (!isBatchFault(error)) throw error
      await setAside(lock, { journalId, table, line, row, error: String(error) })
    }
  }
}

/**
 * Sets aside a row that has fewer or more events than were written into it: ClickHouse would silently accept an empty
 * or truncated one. @returns whether it was set aside.
 */
export async function setAsideIncomplete(
  lock: BatchLock,
  { journalId, table, rows }: JournalRow,
  rowCount: number,
): Promise<boolean> {
  const found = linesOf(rows).length - 1
  if (found === rowCount) return false
  const error = `contains ${Math.max(found, 0)} events instead of ${rowCount}`
  await setAside(lock, { journalId, table, line: WHOLE_ROW, row: rows, error })
  return true
}

/** A line of column names, then one line per event: JSON contains no raw line breaks. */
function linesOf(rows: string): string[] {
  return rows.split('\n').filter((line) => line !== '')
}

/** The tenant of the events; null if it cannot be parsed, in which case ClickHouse reports the error. */
function tenantsOf(rows: string): string[] {
  try {
    const [names, ...events] = linesOf(rows).map((line) => JSON.parse(line) as string[])
    const index = names?.indexOf('tenant_id') ?? -1
    return [...new Set(events.flatMap((event) => event[index] ?? []))]
  } catch {
    return []
  }
}

interface Refused {
  journalId: string
  table: JournalTable
  line: number
  row: string
  error: string
}

async function setAside(
  { transaction, log }: BatchLock,
  { journalId, table, line, row, error }: Refused,
): Promise<void> {
  const reason = error.slice(0, ERROR_LENGTH_MAX).toWellFormed()
  // The reason can quote the event, so it is not logged.
  log.error(
    { journal_id: journalId, line },
    'an event cannot be stored and is set aside; see cdsctl doctor and cdsctl event retry',
  )
  await transaction
    .insertInto('refused_events')
    .values({ journal_id: journalId, table_name: table, line, row, error: reason })
    .onConflict((known) => known.columns(['journal_id', 'line']).doNothing())
    .execute()
}

/** The latest events that were set aside, with the reasons. */
export async function latestRefused(database: Database, limit: number) {
  return database
    .selectFrom('refused_events')
    .select(['journal_id', 'line', 'error', 'refused_at'])
    .orderBy('refused_at', 'desc')
    .limit(limit)
    .execute()
}

/**
 * Moves rows that were set aside back into the journal, to be retried after an upgrade that can store them or a
 * correction of their text. Rows without events stay. @returns how many rows were moved.
 */
export async function retryRefused(database: Database): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom('refused_events')
      .select(['journal_id', 'table_name', 'line', 'row'])
      .forUpdate()
      .skipLocked()
      .execute()
    let retried = 0
    for (const { journal_id, table_name, line, row } of rows) {
      const row_count = linesOf(row).length - 1
      if (row_count < 1) continue
      await transaction
        .insertInto('journal')
        .values({ journal_id: newId(), table_name, tenant_ids: tenantsOf(row), row_count, rows: row })
        .execute()
      await transaction
        .deleteFrom('refused_events')
        .where('journal_id', '=', journal_id)
        .where('line', '=', line)
        .execute()
      retried++
    }
    return retried
  })
}
