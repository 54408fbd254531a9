import type { WriteDependencies } from '../contacts/change-log.ts'
import { separated, throttled } from '../platform/progress.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { RecordResult } from '../sources/apply-records.ts'
import { writeRecords } from '../sources/write-records.ts'
import { type Column, columnsOf } from './columns.ts'
import { readCsv, unusableFile } from './csv.ts'
import { recognize } from './known-exports.ts'
import { mappedColumns, proposedMapping } from './mapping.ts'
import { openResults } from './results.ts'
import { forEachChunk, SOURCE, withStagedRows } from './stage-file.ts'

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
  const records = readCsv(file)
  const header = await records.next()
  const columns = meaningOf(header.done ? undefined : header.value)
  if (typeof columns === 'string') {
    await records.return(undefined)
    throw unusableFile(file, columns)
  }
  const report = throttled(onProgress)
  const onRead = (rows: number) => report(`read ${separated(rows)} rows`)
  return withStagedRows(tenant, { records, columns, onRead }, async (rowCount, chunks) => {
    const results = await openResults(file, resultsFile)
    const failed: number[] = []
    const summary = { rows: 0, created: 0, updated: 0, unchanged: 0, failed: 0, results: results.path }
    try {
      await forEachChunk(chunks, async (rows) => {
        const sent = rows.map(({ record }) => record)
        const outcomes = await writeRecords(tenant, dependencies, SOURCE, sent)
        await results.write(outcomes.map((outcome, index) => [rows[index]?.row ?? 0, outcome] as const))
        summary.rows += outcomes.length
        for (const { status } of outcomes) summary[status]++
        failed.push(...rows.flatMap(({ row }, index) => (outcomes[index]?.status === 'failed' ? row : [])))
        failed.sort((a, b) => a - b).splice(FAILED_ROWS_MAX)
        report(`${separated(summary.rows)} of ${separated(rowCount)} rows`)
      })
      return { ...summary, failed_rows: failed }
    } finally {
      await results.close()
    }
  })
}

/** The meaning of the columns: as in the dashboard for a known export, by their names for other files. */
function meaningOf(header: readonly string[] | undefined): Column[] | string {
  const source = header && recognize(header)
  return source ? mappedColumns(proposedMapping(header, [], source), header.length) : columnsOf(header)
}

/** A summary of the failed rows and where the results file explains them; null if none failed. */
export function failedRowsOf({ rows, failed, failed_rows, results }: ImportSummary): string | null {
  if (failed === 0) return null
  const more = failed > failed_rows.length ? ` and ${separated(failed - failed_rows.length)} more` : ''
  // Below the header of the results file.
  const lines = failed_rows.map((row) => row + 1).join(', ')
  return `${separated(failed)} of ${separated(rows)} rows failed. ${results} says why: see line ${lines}${more}.`
}
