import { emailOf } from './cells.ts'
import { isAddressColumn } from './column-names.ts'
import { createRowParser, type FileRow } from './contact-rows.ts'
import { type Encoding, isDelimiter } from './encoding.ts'
import { targetOf } from './known-exports.ts'

const DELIMITERS = [',', ';', '\t', '|']
/** Enough to see a file's shape. */
const ROWS_SEEN = 200
/** The header is not further down: exports of reports put a title and a few lines of filters above it. */
const HEADER_ROWS = 40

/** How the rows of a file are written, as far as its first rows show. */
export interface Shape {
  delimiter: string
  /** The line of the header; 0 if there is none. */
  headerLine: number
  headers: string[]
  /** Why the header cannot be divided into cells. */
  problem?: string
  /** The first rows, with what is above the header. */
  rows: FileRow[]
}

/** What a person has chosen. */
export interface ChosenShape {
  delimiter?: string | undefined
  headerLine?: number | undefined
}

/** What a person has chosen, with the encoding. */
export type ChosenFormat = ChosenShape & { encoding?: Encoding | undefined }

/**
 * Finds the delimiter and the header from the beginning of a file. Excel's first line `sep=;` names the delimiter.
 * Reports have a title and other lines above the header.
 * @param isWhole whether the text is the whole file. @returns null if it has no row, or none at the chosen line.
 */
export function shapeOf(text: string, isWhole: boolean, chosen: ChosenShape): Shape | null {
  const directive = separatorOf(text)
  const firstLine = directive === null ? 1 : 2
  const delimiter =
    chosen.delimiter ?? namedDelimiter(text, isWhole, directive) ?? delimiterOf(text, isWhole, firstLine)
  const rows = rowsOf(text, isWhole, { delimiter, firstLine })
  const headerLine = chosen.headerLine ?? headerLineOf(rows)
  if (headerLine === 0) {
    const width = Math.max(0, ...rows.map(({ cells }) => cells.length))
    if (width === 0) return null
    return { delimiter, headerLine, headers: Array.from({ length: width }, (_, index) => `Column ${index + 1}`), rows }
  }
  // Above the header, rows may be divided otherwise than below it.
  const header = rowsOf(text, isWhole, { delimiter, firstLine: headerLine })[0]
  if (!header) return null
  const { line, cells, problem } = header
  return { delimiter, headerLine: line, headers: cells, rows, ...(problem === undefined ? {} : { problem }) }
}

/**
 * The delimiter that Excel's first line names; null without such a line. It may be in quotes, with delimiters after it.
 */
function separatorOf(text: string): string | null {
  const [line = ''] = text.split(/[\r\n]/, 1)
  const named = /^\ufeff?"?sep=(.)/i.exec(line)
  if (!named) return null
  const [start, delimiter = ''] = named
  const rest = line.slice(start.length).replaceAll(delimiter, '').replace('"', '')
  return rest.trim() === '' && isDelimiter(delimiter) ? delimiter : null
}

/** The delimiter that Excel's first line names, unless no row is divided by it. */
function namedDelimiter(text: string, isWhole: boolean, directive: string | null): string | null {
  if (directive === null) return null
  const rows = rowsOf(text, isWhole, { delimiter: directive, firstLine: 2 })
  if (rows.some(({ cells }) => cells.length > 1)) return directive
  const other = delimiterOf(text, isWhole, 2)
  return rowsOf(text, isWhole, { delimiter: other, firstLine: 2 }).some(({ cells }) => cells.length > 1)
    ? other
    : directive
}

function rowsOf(text: string, isWhole: boolean, format: { delimiter: string; firstLine: number }): FileRow[] {
  const parser = createRowParser(format)
  const rows = parser.push(text)
  // The last row is cut where the text is.
  if (isWhole) rows.push(...parser.end())
  return rows.slice(0, ROWS_SEEN)
}

/** The delimiter with which the most rows have the same number of cells. */
function delimiterOf(text: string, isWhole: boolean, firstLine: number): string {
  const scored = DELIMITERS.map((delimiter) => {
    const rows = rowsOf(text, isWhole, { delimiter, firstLine })
    const width = usualWidth(rows)
    const same = width < 2 ? 0 : rows.filter(({ cells }) => cells.length === width).length
    const known = Math.max(0, ...rows.slice(0, HEADER_ROWS).map(({ cells }) => knownNames(cells)))
    return { delimiter, score: width < 2 ? 0 : same / rows.length + Math.min(known, 3) / 3, width }
  })
  scored.sort((a, b) => b.score - a.score || b.width - a.width)
  return scored[0]?.delimiter ?? ','
}

function usualWidth(rows: readonly FileRow[]): number {
  const widths = Map.groupBy(rows, ({ cells }) => cells.length)
  const [usual] = [...widths].sort(([a, some], [b, others]) => others.length - some.length || b - a)
  return usual?.[0] ?? 0
}

/** The number of targets that the names of a row have. */
function knownNames(cells: readonly string[]): number {
  return new Set(cells.flatMap((cell) => targetOf(cell, null)?.target ?? [])).size
}

/** The line of the row that names the columns; 0 if the first row already has somebody's address. */
function headerLineOf(rows: readonly FileRow[]): number {
  const width = usualWidth(rows)
  const first = rows.slice(0, HEADER_ROWS)
  const firstData = first.findIndex(({ cells }) => cells.some((cell) => emailOf(cell) !== null))
  const above = first.slice(0, firstData < 0 ? undefined : firstData)
  const isWide = ({ cells }: FileRow) => filled(cells) * 2 >= width && (width < 2 || filled(cells) > 1)
  // A report may name its owner, with an address, above the header.
  const candidates = first.filter((row) => (above.includes(row) ? isWide(row) : isHeader(row)))
  // Titles have words such as Contact and Account, but only a header names the email.
  const score = ({ cells }: FileRow) => knownNames(cells) + (cells.some(isAddressColumn) ? 0.5 : 0)
  const best = candidates.toSorted((a, b) => score(b) - score(a))[0]
  if (best) return best.line
  const broken = above.find(({ problem }) => problem !== undefined)
  if (broken) return broken.line
  return firstData >= 0 && knownNames(first[firstData]?.cells ?? []) === 0 ? 0 : (rows[0]?.line ?? 1)
}

/** Whether a row has more names of ours than somebody's data has by chance. */
function isHeader({ cells }: FileRow): boolean {
  const known = knownNames(cells)
  return known >= 2 && known * 2 >= filled(cells)
}

function filled(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== '').length
}
