import type { Properties } from '../contacts/properties.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { separated, throttled } from '../platform/progress.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { RecordResult } from '../sources/apply-records.ts'
import { type WrittenContact, writeRecords } from '../sources/write-records.ts'
import { unusableFile } from './csv.ts'
import { detectEncoding, requireText } from './detect-encoding.ts'
import type { Encoding } from './encoding.ts'
import type { ChosenShape } from './file-format.ts'
import { type FileColumn, type Inspected, inspectFile } from './inspect-file.ts'
import { mappedColumns, problemsOf } from './mapping.ts'
import { bytesOf, readContactRows, sizeOf } from './read-rows.ts'
import { openResults } from './results.ts'
import type { RowWarning } from './row-warnings.ts'
import { createConsentCount, type ImportConsent } from './silenced.ts'
import { forEachChunk, SOURCE, withStagedRows } from './stage-file.ts'
import { decimalOf } from './values.ts'

const FAILED_ROWS_MAX = 20

export interface ImportOptions {
  file: string
  /** The file for the result of every row; it is overwritten. */
  resultsFile: string
  /** How the file is written, where that should not be detected. */
  chosen?: ChosenShape & { encoding?: Encoding | undefined }
  onProgress: (message: string) => void
}

export interface ImportSummary extends Record<RecordResult['status'], number> {
  rows: number
  /** How the file was read. */
  encoding: Encoding
  delimiter: string
  header_line: number
  /** Contacts that get no more mail, with the properties that say so, and contacts that get mail again. */
  silenced: number
  silenced_by: string[]
  released: number
  /** What was left out of rows, and columns that did not go where their names say. */
  warnings: string[]
  results: string
  /** Numbers of the first failed rows; 1 is the row below the header. */
  failed_rows: number[]
}

/**
 * Imports the contacts of a CSV file, and writes the result of each row to a file. The whole file is read and staged
 * before anything is written, and all rows of a contact are written in one transaction, wherever they are. Only a few
 * thousand rows are in memory at a time. After an interruption, it can be run again: imported rows change nothing.
 * @throws ServiceError 400 `invalid_file`, before anything is written.
 */
export async function importContacts(
  tenant: Tenant,
  dependencies: WriteDependencies,
  { file, resultsFile, chosen = {}, onProgress }: ImportOptions,
): Promise<ImportSummary> {
  const encoding = chosen.encoding ?? (await encodingOf(file))
  const inspected = await inspectFile(file, file, encoding, chosen)
  requireUsable(file, inspected, chosen)
  const { format, mapping } = inspected
  const headers = inspected.columns.map(({ header }) => header)
  // Nobody has seen the types that the samples suggest.
  const asTexts = mapping.map((each) => (each.target === 'property' ? { ...each, type: 'text' as const } : each))
  const columns = mappedColumns(asTexts, headers, decimalOf(format.delimiter))
  const report = throttled(onProgress)
  const mapped = {
    records: readContactRows(file, format, file, headers),
    columns,
    size: sizeOf(headers),
    ignoredIds: await dependencies.findIgnoredIds(tenant),
    onRead: (rows: number) => report(`read ${separated(rows)} rows`),
  }
  return withStagedRows(tenant, mapped, async ({ rowCount, warnings }, chunks) => {
    const results = await openResults(file, resultsFile)
    const consent = createConsentCount(columns)
    const failed: number[] = []
    const counts = { rows: 0, created: 0, updated: 0, unchanged: 0, failed: 0 }
    try {
      await forEachChunk(chunks, async (rows) => {
        const sent = rows.map(({ record }) => record)
        let written: readonly WrittenContact[] = []
        const outcomes = await writeRecords(tenant, dependencies, SOURCE, sent, async (_, { contacts }) => {
          written = contacts
        })
        await results.write(outcomes.map((outcome, index) => [rows[index]?.row ?? 0, outcome] as const))
        consent.add(rows, outcomes, changesOf(written))
        counts.rows += outcomes.length
        for (const { status } of outcomes) counts[status]++
        failed.push(...rows.flatMap(({ row }, index) => (outcomes[index]?.status === 'failed' ? row : [])))
        failed.sort((a, b) => a - b).splice(FAILED_ROWS_MAX)
        report(`${separated(counts.rows)} of ${separated(rowCount)} rows`)
      })
    } finally {
      await results.close()
    }
    return {
      ...counts,
      encoding: format.encoding,
      delimiter: format.delimiter,
      header_line: format.headerLine,
      ...consentOfSummary(consent.counts),
      warnings: [...notesOf(inspected.columns), ...warnings.map(describe)],
      results: results.path,
      failed_rows: failed,
    }
  })
}

async function encodingOf(file: string): Promise<Encoding> {
  const detecting = detectEncoding()
  for await (const bytes of bytesOf(file, file)) detecting.see(bytes)
  return requireText(await detecting.end(), file)
}

/** @throws ServiceError 400 `invalid_file` for a file that a person has to look at first. */
function requireUsable(file: string, { format, columns, mapping }: Inspected, chosen: ChosenShape): void {
  if (format.headerLine === 0 && chosen.headerLine === undefined) {
    const problem = 'has no header: its first row already has an address. Add a first line that names the columns'
    throw unusableFile(file, problem)
  }
  if (problemsOf(mapping, columns.length).length === 0) return
  const names = columns.map(({ header }) => header).filter((header) => header !== '')
  const problem = `has neither an email nor an external_id column. Line ${format.headerLine} names ${names.join(', ')}`
  throw unusableFile(file, `${problem}. Choose another line with --header-line, or rename a column`)
}

function changesOf(written: readonly WrittenContact[]) {
  return new Map(
    written.map(({ before, after }) => {
      const changed = {
        before: (before?.row.properties ?? {}) as Properties,
        after: after.row.properties as Properties,
      }
      return [after.row.contact_id, changed] as const
    }),
  )
}

function consentOfSummary({ silenced, released, columns }: ImportConsent) {
  return { silenced, silenced_by: columns.map(({ property }) => property), released }
}

function notesOf(columns: readonly FileColumn[]): string[] {
  return columns.flatMap(({ header, note }) => {
    if (note?.code === 'same_target') {
      const other = columns[note.column ?? 0]?.header
      return `${header} was imported as a property of its own, because ${other} is the ${note.target}.`
    }
    return note?.code === 'found_by_values'
      ? `${header} was taken for the email, because its values are addresses.`
      : []
  })
}

function describe({ rows, first_rows, message }: RowWarning): string {
  const first = `${first_rows.join(', ')}${first_rows.length < rows ? ', …' : ''}`
  return `${separated(rows)} ${rows === 1 ? 'row' : 'rows'} (${first}): ${message}`
}

/** A summary of the failed rows and where the results file explains them; null if none failed. */
export function failedRowsOf({ rows, failed, failed_rows, results }: ImportSummary): string | null {
  if (failed === 0) return null
  const more = failed > failed_rows.length ? ` and ${separated(failed - failed_rows.length)} more` : ''
  // Below the header of the results file.
  const lines = failed_rows.map((row) => row + 1).join(', ')
  return `${separated(failed)} of ${separated(rows)} rows failed. ${results} says why: see line ${lines}${more}.`
}

/** What the import did to who gets mail; empty if it did nothing. */
export function consentSentences({ silenced, silenced_by, released }: ImportSummary): string[] {
  const contacts = (count: number) => `${separated(count)} ${count === 1 ? 'contact' : 'contacts'}`
  return [
    ...(silenced === 0 ? [] : [`${contacts(silenced)} will get no more mail, because of ${silenced_by.join(', ')}.`]),
    ...(released === 0
      ? []
      : [`${contacts(released)} had opted out, and will get mail again: the file says otherwise.`]),
  ]
}
