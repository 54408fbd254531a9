import type { WriteDependencies } from '../contacts/change-log.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { noteSource } from '../sources/source-kinds.ts'
import { type IncomingRecord, type RecordResult, writeRecords } from '../sources/write-records.ts'
import { columnsOf, recordOf } from './columns.ts'
import { checkCsv, readCsv, unusableFile } from './csv.ts'
import { openResults, type Results } from './results.ts'

const SOURCE = { source: 'import', kind: 'import' } as const
/** Rows of one transaction: enough to share its statements, few enough to hold no lock for long. */
const ROWS_A_CHUNK = 500
/** A chunk whose contact has more rows below takes them in, because rows of one transaction are judged together. */
const ROWS_A_CHUNK_MAX = 1_000
/** A chunk of long rows ends earlier, so that memory stays flat. */
const CHARACTERS_A_CHUNK = 4_000_000
/** While one is read and applied, PostgreSQL writes others. */
const CHUNKS_IN_FLIGHT = 3
const PROGRESS_EVERY_MS = 2_000
const FAILED_ROWS_MAX = 20

export interface ImportOptions {
  file: string
  /** Where the result of every row is written; it is overwritten. */
  resultsFile: string
  onProgress: (message: string) => void
}

export interface ImportSummary extends Record<RecordResult['status'], number> {
  rows: number
  results: string
  /** Numbers of the first rows that failed; 1 is the one below the column names. */
  failed_rows: number[]
}

type Row = IncomingRecord | ServiceError

interface Chunk {
  /** Number of its first row; 1 is the one below the column names. */
  firstRow: number
  rows: Row[]
  /** What its rows are found by. */
  keys: Set<string>
}

/**
 * Imports the contacts of a CSV file, a few hundred rows a transaction, and writes what became of each row to a file.
 * However large the file is, a few chunks of it are in memory. Interrupted, it can be run again: rows that are in
 * already change nothing.
 * @throws ServiceError 400 `invalid_file`, before anything is written.
 */
export async function importContacts(
  tenant: Tenant,
  dependencies: WriteDependencies,
  { file, resultsFile, onProgress }: ImportOptions,
): Promise<ImportSummary> {
  const rowsInAll = (await checkCsv(file)) - 1
  const records = readCsv(file)
  try {
    const header = await records.next()
    const columns = columnsOf(header.done ? undefined : header.value)
    if (typeof columns === 'string') throw unusableFile(file, columns)
    const results = await openResults(file, resultsFile)
    try {
      await noteSource(tenant, SOURCE.source, SOURCE.kind, dependencies.clock())
      const chunks = chunksOf(records, (cells) => recordOf(columns, cells))
      const write = (rows: Row[]) => writeRecords(tenant, dependencies, SOURCE, rows)
      return await importChunks(chunks, write, results, (done) => onProgress(`${done} of ${number(rowsInAll)} rows`))
    } finally {
      await results.close()
    }
  } finally {
    await records.return(undefined)
  }
}

/** How many rows failed, and where the file of results says why; null when none did. */
export function failedRowsOf({ rows, failed, failed_rows, results }: ImportSummary): string | null {
  if (failed === 0) return null
  const more = failed > failed_rows.length ? ` and ${number(failed - failed_rows.length)} more` : ''
  // Below its own line of column names.
  const lines = failed_rows.map((row) => row + 1).join(', ')
  return `${number(failed)} of ${number(rows)} rows failed. ${results} says why: see line ${lines}${more}.`
}

/** Imports chunks, several at once. When one fails, those under way are finished and no more are begun. */
async function importChunks(
  chunks: AsyncIterable<Chunk>,
  write: (rows: Row[]) => Promise<RecordResult[]>,
  results: Results,
  onProgress: (done: string) => void,
): Promise<ImportSummary> {
  const summary: ImportSummary = {
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    failed: 0,
    results: results.path,
    failed_rows: [],
  }
  const tell = progressOf(summary, onProgress)
  const inFlight = new Map<Chunk, Promise<void>>()
  let failure: { error: unknown } | undefined
  let last: Promise<void> = Promise.resolve()

  async function importChunk({ firstRow, rows }: Chunk, before: Promise<void>): Promise<void> {
    try {
      const outcomes = await write(rows)
      // The file of results has the order of the rows.
      await before
      await results.write(firstRow, outcomes)
      summary.rows += outcomes.length
      for (const [index, { status }] of outcomes.entries()) {
        summary[status]++
        if (status === 'failed' && summary.failed_rows.length < FAILED_ROWS_MAX) {
          summary.failed_rows.push(firstRow + index)
        }
      }
      tell()
    } catch (error) {
      failure ??= { error }
    }
  }

  try {
    for await (const chunk of chunks) {
      while (inFlight.size >= CHUNKS_IN_FLIGHT) await Promise.race(inFlight.values())
      // Of two rows about one contact the later one has the last word.
      const sameContacts = [...inFlight].filter(([other]) => !chunk.keys.isDisjointFrom(other.keys))
      await Promise.all(sameContacts.map(([, done]) => done))
      if (failure) break
      last = importChunk(chunk, last).finally(() => inFlight.delete(chunk))
      inFlight.set(chunk, last)
    }
  } finally {
    await Promise.all(inFlight.values())
  }
  if (failure) throw failure.error
  return summary
}

async function* chunksOf(lines: AsyncIterable<string[]>, read: (cells: string[]) => Row): AsyncGenerator<Chunk> {
  const begin = (firstRow: number): Chunk => ({ firstRow, rows: [], keys: new Set() })
  let chunk = begin(1)
  let characters = 0
  for await (const cells of lines) {
    const row = read(cells)
    const keys = keysOf(row)
    const isFull = chunk.rows.length >= ROWS_A_CHUNK || characters >= CHARACTERS_A_CHUNK
    const mayGrow = chunk.rows.length < ROWS_A_CHUNK_MAX && characters < CHARACTERS_A_CHUNK
    if (isFull && !(mayGrow && keys.some((key) => chunk.keys.has(key)))) {
      yield chunk
      chunk = begin(chunk.firstRow + chunk.rows.length)
      characters = 0
    }
    chunk.rows.push(row)
    for (const key of keys) chunk.keys.add(key)
    characters += cells.reduce((sum, cell) => sum + cell.length, 0)
  }
  if (chunk.rows.length > 0) yield chunk
}

/** What a row's contact is found by. */
function keysOf(row: Row): string[] {
  if (row instanceof ServiceError) return []
  const { externalId, email } = row
  return [...(externalId === null ? [] : [`id ${externalId}`]), ...(email === null ? [] : [`email ${email}`])]
}

function progressOf(summary: ImportSummary, onProgress: (done: string) => void): () => void {
  let toldAt = performance.now()
  return () => {
    const now = performance.now()
    if (now - toldAt < PROGRESS_EVERY_MS) return
    toldAt = now
    onProgress(number(summary.rows))
  }
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
