import type { Line } from '../event-formats/lines.ts'
import { type CsvFormat, parseCsv, unusableFile } from '../imports/csv.ts'
import { ServiceError } from '../platform/errors.ts'
import { parseJsonBody } from '../platform/http/body-parts.ts'

const ROWS_AT_A_TIME = 500
const COLUMNS_MAX = 500
const DELIMITERS = [',', ';', '\t']
/** Columns such as `properties.amount` are fields of these objects. */
const OBJECTS = ['context', 'data', 'properties', 'traits']

/** The format of a CSV file: UTF-8, with the delimiter that is most frequent in its header. */
export function csvFormatOf(header: string): CsvFormat {
  const [delimiter = ','] = DELIMITERS.toSorted((a, b) => header.split(b).length - header.split(a).length)
  return { encoding: 'utf-8', delimiter }
}

/**
 * Reads a file to its end, without keeping anything. @throws ServiceError 400 `invalid_file` if it is not valid CSV.
 */
export async function requireCsv(name: string, bytes: AsyncIterable<Buffer>, format: CsvFormat): Promise<void> {
  const records = parseCsv(bytes, format, name)
  const header = await records.next()
  const names = header.done ? [] : header.value.map((each) => each.trim())
  const repeated = names.find((each, index) => each !== '' && names.indexOf(each) !== index)
  if (repeated !== undefined) {
    await records.return(undefined)
    throw unusableFile(name, `has two columns named ${repeated}. Rename one`)
  }
  if (names.length > COLUMNS_MAX) {
    await records.return(undefined)
    throw unusableFile(name, `has ${names.length} columns, but at most ${COLUMNS_MAX} are allowed`)
  }
  for await (const _record of records);
}

/**
 * Reads the rows of a CSV file as objects, some at a time. Blank cells are left out.
 * @param done the number of lines to skip: the header is the first.
 */
export async function* readCsvRows(
  name: string,
  bytes: AsyncIterable<Buffer>,
  format: CsvFormat,
  done = 0,
): AsyncGenerator<Line[]> {
  let columns: readonly string[] | null = null
  let number = 0
  let lines: Line[] = []
  for await (const cells of parseCsv(bytes, format, name)) {
    number++
    if (columns === null) {
      columns = cells.map((cell) => cell.trim())
      continue
    }
    if (number <= done) continue
    lines.push(lineOf(number, columns, cells))
    if (lines.length < ROWS_AT_A_TIME) continue
    yield lines
    lines = []
  }
  if (lines.length > 0) yield lines
}

function lineOf(number: number, columns: readonly string[], cells: readonly string[]): Line {
  const text = JSON.stringify(cells)
  if (cells.length !== columns.length) {
    const problem = `The row has ${cells.length} cells, but the header has ${columns.length}.`
    return { number, text, value: new ServiceError(400, 'invalid_line', problem) }
  }
  const warnings: string[] = []
  try {
    return { number, text, value: objectOf(columns, cells, warnings), warnings }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { number, text, value: error }
  }
}

/** @throws ServiceError 400 if a cell contains JSON that cannot be stored. */
function objectOf(columns: readonly string[], cells: readonly string[], warnings: string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  columns.forEach((column, index) => {
    const value = cellValue(cells[index] ?? '', (warning) => void warnings.push(`${column}.${warning}`))
    if (column === '' || value === undefined) return
    const [object = '', ...path] = column.split('.')
    if (path.length === 0 || !OBJECTS.includes(object)) set(row, column, value)
    else set(objectIn(row, [object, ...path.slice(0, -1)]), path.at(-1) ?? '', value)
  })
  return row
}

function objectIn(row: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  let object = row
  for (const key of path) {
    const inner = Object.hasOwn(object, key) ? object[key] : undefined
    const next = inner !== null && typeof inner === 'object' ? (inner as Record<string, unknown>) : {}
    set(object, key, next)
    object = next
  }
  return object
}

/** Sets a field, even for a column named `__proto__`. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** A cell may contain a JSON object. */
function cellValue(cell: string, warn: (text: string) => void): unknown {
  const text = cell.trim()
  if (text === '') return undefined
  if (!text.startsWith('{')) return text
  try {
    return parseJsonBody(text, {}, warn)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid_json') return text
    throw error
  }
}
