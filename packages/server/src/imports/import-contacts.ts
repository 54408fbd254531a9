import { findContacts } from '../contacts/bulk.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { noteSource } from '../sources/source-kinds.ts'
import { type RecordResult, writeRecords } from '../sources/write-records.ts'
import { CHARACTERS_PER_CHUNK, type Chunk, chunksOf, ROWS_PER_CHUNK } from './chunks.ts'
import { columnsOf, recordOf } from './columns.ts'
import { readCsv, unusableFile } from './csv.ts'
import { createGrouping } from './groups.ts'
import { openResults, type Results } from './results.ts'
import { openStaging, type Part, type Row, type Staging } from './staging.ts'

const SOURCE = { source: 'import', kind: 'import' } as const
/** Concurrent chunks: while one is read and applied, PostgreSQL writes others. */
const CHUNKS_IN_FLIGHT = 3
const PROGRESS_EVERY_MS = 2_000
const FAILED_ROWS_MAX = 20

export interface ImportOptions {
  file: string
  /** The file for the result of every row; it is overwritten. */
  resultsFile: string
  onProgress: (message: string) => void
}

export interface ImportSummary extends Record<RecordResult['status'], number> {
  rows: number
  results: string
  /** Numbers of the first failed rows; 1 is the row below the header. */
  failed_rows: number[]
}

/**
 * Imports the contacts of a CSV file, and writes the result of each row to a file. The whole file is read and staged
 * before anything is written: an error in its last line rejects it as a whole, and all rows of a contact are written in
 * one transaction, wherever they are. Only a few thousand rows are in memory at a time. After an interruption, it can
 * be run again: imported rows change nothing.
 * @throws ServiceError 400 `invalid_file`, before anything is written.
 */
export async function importContacts(
  tenant: Tenant,
  dependencies: WriteDependencies,
  { file, resultsFile, onProgress }: ImportOptions,
): Promise<ImportSummary> {
  return tenant.scratch(async (scratch) => {
    const staging = await openStaging(scratch)
    const report = throttled(onProgress)
    const parts = await stageFile(tenant, staging, file, (rows) => report(`read ${number(rows)} rows`))
    const grouping = createGrouping()
    await staging.visitRepeats(grouping.join)
    const results = await openResults(file, resultsFile)
    try {
      await noteSource(tenant, SOURCE.source, SOURCE.kind, dependencies.clock())
      const rowsInAll = number(parts.at(-1)?.lastRow ?? 0)
      const write = (rows: readonly Row[]) =>
        writeRecords(
          tenant,
          dependencies,
          SOURCE,
          rows.map(({ record }) => record),
        )
      return await importChunks(chunksOf(staging, parts, grouping.groups()), write, results, (done) =>
        report(`${number(done)} of ${rowsInAll} rows`),
      )
    } finally {
      await results.close()
    }
  })
}

/** A summary of the failed rows and where the results file explains them; null if none failed. */
export function failedRowsOf({ rows, failed, failed_rows, results }: ImportSummary): string | null {
  if (failed === 0) return null
  const more = failed > failed_rows.length ? ` and ${number(failed - failed_rows.length)} more` : ''
  // Below the header of the results file.
  const lines = failed_rows.map((row) => row + 1).join(', ')
  return `${number(failed)} of ${number(rows)} rows failed. ${results} says why: see line ${lines}${more}.`
}

/** Stages a file: reads it while PostgreSQL stores the previous part. @returns the stored parts. */
async function stageFile(
  tenant: Tenant,
  staging: Staging,
  file: string,
  onProgress: (rows: number) => void,
): Promise<Part[]> {
  const lines = readCsv(file)
  const parts: Part[] = []
  let storing: Promise<void> = Promise.resolve()
  let rows: Row[] = []
  let characters = 0
  try {
    const header = await lines.next()
    const columns = columnsOf(header.done ? undefined : header.value)
    if (typeof columns === 'string') throw unusableFile(file, columns)
    const hasBothKeys = columns.externalId >= 0 && columns.properties.includes('email')
    const store = async (part: Row[], before: Promise<void>) => {
      await before
      parts.push(await staging.add(part, hasBothKeys ? await storedContactsOf(tenant, part) : []))
      onProgress(parts.at(-1)?.lastRow ?? 0)
    }
    let count = 0
    for await (const cells of lines) {
      const length = cells.reduce((sum, cell) => sum + cell.length, 0)
      rows.push({ row: ++count, record: recordOf(columns, cells), characters: length })
      characters += length
      if (rows.length < ROWS_PER_CHUNK && characters < CHARACTERS_PER_CHUNK) continue
      await storing
      storing = store(rows, storing)
      // Its error is thrown when it is next awaited, which may be later.
      storing.catch(() => {})
      rows = []
      characters = 0
    }
    await storing
    if (rows.length > 0) await store(rows, storing)
    return parts
  } finally {
    await storing.catch(() => {})
    await lines.return(undefined)
  }
}

/** The stored contact of each row: rows without a shared key may belong to the same one. */
async function storedContactsOf(tenant: Tenant, rows: readonly Row[]): Promise<(string | null)[]> {
  const keys = rows.map(({ record }) => (record instanceof ServiceError ? { externalId: null, email: null } : record))
  const externalIds = keys.flatMap(({ externalId }) => externalId ?? [])
  const emails = keys.flatMap(({ email }) => email ?? [])
  const { byExternalId, byEmail } = await findContacts(tenant, SOURCE.source, externalIds, emails)
  return keys.map(({ externalId, email }) => byExternalId.get(externalId ?? '') ?? byEmail.get(email ?? '') ?? null)
}

/** Imports chunks, several at once. If one fails, those in progress are finished and no more are started. */
async function importChunks(
  chunks: AsyncIterable<Chunk>,
  write: (rows: readonly Row[]) => Promise<RecordResult[]>,
  results: Results,
  onProgress: (done: number) => void,
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
  const inFlight = new Map<Chunk, Promise<void>>()
  let failure: { error: unknown } | undefined

  async function importChunk({ rows }: Chunk): Promise<void> {
    try {
      const outcomes = (await write(rows)).map((outcome, index) => [rows[index]?.row ?? 0, outcome] as const)
      await results.write(outcomes)
      summary.rows += outcomes.length
      for (const [, { status }] of outcomes) summary[status]++
      const failed = outcomes.filter(([, { status }]) => status === 'failed').map(([row]) => row)
      summary.failed_rows = [...summary.failed_rows, ...failed].sort((a, b) => a - b).slice(0, FAILED_ROWS_MAX)
      onProgress(summary.rows)
    } catch (error) {
      failure ??= { error }
    }
  }

  try {
    for await (const chunk of chunks) {
      while (inFlight.size >= CHUNKS_IN_FLIGHT) await Promise.race(inFlight.values())
      // If two rows belong to one contact, the later one wins.
      const sameContacts = [...inFlight].filter(([other]) => !chunk.contacts.isDisjointFrom(other.contacts))
      await Promise.all(sameContacts.map(([, done]) => done))
      if (failure) break
      inFlight.set(
        chunk,
        importChunk(chunk).finally(() => inFlight.delete(chunk)),
      )
    }
  } finally {
    await Promise.all(inFlight.values())
  }
  if (failure) throw failure.error
  return summary
}

function throttled(report: (message: string) => void): (message: string) => void {
  let reportedAt = performance.now()
  return (message) => {
    const now = performance.now()
    if (now - reportedAt < PROGRESS_EVERY_MS) return
    reportedAt = now
    report(message)
  }
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
