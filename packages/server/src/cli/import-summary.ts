import type { Encoding } from '../imports/encoding.ts'
import { type Counts, type Import, READING_SHARE } from '../imports/import-object.ts'
import type { RowWarning } from '../imports/row-warnings.ts'
import { separated } from '../platform/progress.ts'

/** What a command prints about an import that has ended. */
export interface ImportSummary extends Counts {
  import_id: string
  state: Import['state']
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
  /** The file with the failed rows; null without any, or if the uploaded file was deleted. */
  errors: string | null
  /** The first failed rows. */
  failed_rows: Omit<Import['errors'][number], 'code'>[]
}

export function summaryOf(found: Import, errors: string | null): ImportSummary {
  const { import_id, state, preview, counts, encoding, delimiter, header_line, consent } = found
  return {
    import_id,
    state,
    rows: found.row_count ?? 0,
    ...(state === 'previewed' && preview !== null ? preview : counts),
    encoding,
    delimiter,
    header_line,
    silenced: consent?.silenced ?? 0,
    silenced_by: (consent?.columns ?? []).map(({ property }) => property),
    released: consent?.released ?? 0,
    warnings: [...notesOf(found.columns), ...found.warnings.map(describe)],
    errors,
    failed_rows: found.errors.map(({ row, message }) => ({ row, message })),
  }
}

/** How far the work on an import is. */
export function progressOf({ state, row_count, progress, counts }: Import): string {
  const percent = (share: number) => `${Math.floor(100 * Math.min(1, share))} %`
  if (state !== 'running') return `${state}: ${percent(progress)}`
  if (row_count === null) return `read ${percent(progress / READING_SHARE)} of the file`
  const done = counts.created + counts.updated + counts.unchanged + counts.failed
  return `${separated(done)} of ${separated(row_count)} rows`
}

function notesOf(columns: Import['columns']): string[] {
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

/** How many rows failed, and where to find them; null if none did. */
export function failedRowsOf({ state, rows, failed, errors }: ImportSummary): string | null {
  if (failed === 0 || state === 'previewed') return null
  const where = errors === null ? 'The file that was imported was deleted' : `${errors} lists them with the reasons`
  return `${separated(failed)} of ${separated(rows)} rows failed. ${where}.`
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
