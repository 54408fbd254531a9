import { sql } from 'kysely'
import type { Database } from '../platform/postgres/database.ts'
import { lockKey } from '../platform/postgres/locks.ts'
import type { JournalTable } from './append.ts'

/** A larger insertion would only use more memory: the cost of an insertion hardly depends on its size. */
const BATCH_BYTES_MAX = 16_000_000
const BATCH_ROWS_MAX = 1_000
/** A journal row of a batch, without its text. */
export interface BatchRow {
  journalId: string
  table: JournalTable
  rowCount: number
  /** The number of the batch that it was first part of. */
  sequence: number
  /** Whether its events are inserted one by one. */
  isDivided: boolean
}

/**
 * Assigns the waiting rows, oldest first, to a batch. The batch is committed before it is inserted into ClickHouse, so
 * repeating the insertion, after a crash or in another process, inserts exactly the same rows.
 * @returns the batches that are not known to be in ClickHouse, oldest first, and whether more rows may be waiting than
 * fit into the new one.
 */
export async function formBatch(database: Database, batchId: string): Promise<{ isFull: boolean; open: string[] }> {
  const { rows } = await sql<{ is_full: boolean; open_batches: string[] }>`
    SELECT is_full, open_batches
    FROM form_batch(${lockKey('journal')}, ${batchId}, ${BATCH_ROWS_MAX}, ${BATCH_BYTES_MAX})`.execute(database)
  return { isFull: rows[0]?.is_full ?? false, open: rows[0]?.open_batches ?? [] }
}

/** How many rows there are, and how many events were set aside. */
export async function countRows(database: Database): Promise<{ waiting: number; setAside: number }> {
  const { rows } = await sql<{ waiting: number; set_aside: number }>`
    SELECT (SELECT count(*) FROM journal) AS waiting, (SELECT count(*) FROM refused_events) AS set_aside`.execute(
    database,
  )
  return { waiting: rows[0]?.waiting ?? 0, setAside: rows[0]?.set_aside ?? 0 }
}

/** The batches that are not known to be in ClickHouse, oldest first. */
export async function openBatches(database: Database): Promise<string[]> {
  const rows = await database
    .selectFrom('journal')
    .select('batch_id')
    .distinct()
    .where('batch_id', 'is not', null)
    .orderBy('batch_id')
    .execute()
  return rows.flatMap(({ batch_id }) => batch_id ?? [])
}

/** The parts of split batches: rows that each form a batch. */
export async function openParts(database: Database): Promise<string[]> {
  const rows = await database
    .selectFrom('journal')
    .select('journal_id')
    .whereRef('batch_id', '=', 'journal_id')
    .orderBy('journal_id')
    .execute()
  return rows.map(({ journal_id }) => journal_id)
}

/** Tenants with rows that are waiting or in a batch. */
export async function waitingTenants(database: Database): Promise<Set<string>> {
  const { rows } = await sql<{ tenant_id: string }>`
    SELECT DISTINCT tenant_id FROM journal, unnest(tenant_ids) AS tenant_id`.execute(database)
  return new Set(rows.map(({ tenant_id }) => tenant_id))
}

/** Tenants with rows in some batches. */
export async function tenantsOfBatches(database: Database, batchIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ tenant_id: string }>`
    SELECT DISTINCT tenant_id FROM journal, unnest(tenant_ids) AS tenant_id
    WHERE batch_id = ANY(${batchIds}::uuid[])`.execute(database)
  return new Set(rows.map(({ tenant_id }) => tenant_id))
}

/**
 * Locks a batch, waiting for another process that has locked it. Call it in a transaction: if the process dies, the
 * lock is released.
 * @returns its rows; none if another process has finished or split it.
 */
export async function lockBatch(transaction: Database, batchId: string): Promise<BatchRow[]> {
  // A power failure may undo the deletion. The rows are then looked up in ClickHouse before they are inserted again.
  const { rows } = await sql<{
    journal_id: string
    table_name: string
    row_count: number
    sequence: number | null
    is_divided: boolean
  }>`
    WITH unsynced AS (SELECT set_config('synchronous_commit', 'off', true))
    SELECT journal_id, table_name, row_count, sequence, is_divided FROM journal, unsynced WHERE batch_id = ${batchId}
    ORDER BY journal_id FOR UPDATE OF journal`.execute(transaction)
  return rows.map(({ journal_id, table_name, row_count, sequence, is_divided }) => ({
    journalId: journal_id,
    table: table_name as JournalTable,
    rowCount: row_count,
    sequence: Number(sequence ?? 0),
    isDivided: is_divided,
  }))
}

/** Keeps PostgreSQL from ending the transaction's session as idle. @throws if it has ended, and its locks with it. */
export async function keepAlive(transaction: Database): Promise<void> {
  await sql`SELECT 1`.execute(transaction)
}

export async function readTexts(transaction: Database, journalIds: readonly string[]): Promise<Map<string, string>> {
  if (journalIds.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('journal')
    .select(['journal_id', 'rows'])
    .where('journal_id', 'in', journalIds)
    .execute()
  return new Map(rows.map((row) => [row.journal_id, row.rows]))
}

/** Splits a rejected batch into one batch per row. @param isDivided whether its only row is split into its events. */
export async function splitBatch(transaction: Database, batchId: string, isDivided: boolean): Promise<void> {
  // The rows will be inserted again with new tokens, so this must survive a power failure.
  await sql`SET LOCAL synchronous_commit = on`.execute(transaction)
  await transaction
    .updateTable('journal')
    .set(({ ref }) => ({ batch_id: ref('journal_id'), is_divided: isDivided }))
    .where('batch_id', '=', batchId)
    .execute()
}

export async function deleteRows(transaction: Database, journalIds: readonly string[]): Promise<void> {
  if (journalIds.length > 0) await transaction.deleteFrom('journal').where('journal_id', 'in', journalIds).execute()
}
