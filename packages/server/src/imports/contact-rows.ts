import { breakLength, cellsOfLine, quotedRowAt, REACH, ROW_LENGTH_MAX } from './quoted-row.ts'

/** A row of a file of contacts. */
export interface FileRow {
  /** The line that it starts on; the first line of the file is 1. */
  line: number
  cells: string[]
  /** Why it cannot be divided into cells: then the only cell is its text. */
  problem?: string
}

/** How text is divided into rows and cells. */
export interface RowFormat {
  delimiter: string
  /** The line of the first row. What is above it is skipped, whatever it is. */
  firstLine: number
  /** Absent until the header is known. */
  columns?: RowSize
}

/** How many cells a row has: columns without a name at the end of the header may be missing. */
export interface RowSize {
  least: number
  most: number
}

/** Whether a row has as many cells as the header. Blank cells beyond it may be more, those of unnamed columns fewer. */
export function fits(cells: readonly string[], { least, most }: RowSize): boolean {
  return cells.length >= least && cells.slice(most).every((cell) => cell.trim() === '')
}

/**
 * Divides text into rows as people's spreadsheets write it: RFC 4180, but a quotation mark inside a cell is text. A row
 * whose quotation marks cannot be understood fails alone, and reading continues on the next line, so that a missing
 * quotation mark does not take the rest of the file with it. Blank rows are skipped.
 */
export function createRowParser(format: RowFormat): { push(text: string): FileRow[]; end(): FileRow[] } {
  let text = ''
  let line = 1
  // Within the rest of a row that is too long.
  let isSkipping = false
  let reach = REACH.most
  const parse = (isEnd: boolean): FileRow[] => {
    const rows: FileRow[] = []
    let at = 0
    while (at < text.length) {
      const step =
        line < format.firstLine || isSkipping ? lineAt(text, at, isEnd) : rowAt(text, at, format, { isEnd, reach })
      const isTooLong = step === null && text.length - at > ROW_LENGTH_MAX
      if (step === null && !isTooLong) break
      if (step === null || step.end - at > ROW_LENGTH_MAX) {
        if (line >= format.firstLine && !isSkipping) rows.push(tooLong(line))
        isSkipping = step === null
        at = step?.end ?? text.length
        line += step?.lines ?? 0
        continue
      }
      if (!isSkipping && line >= format.firstLine && !isBlank(step.cells)) {
        rows.push({
          line,
          cells: step.cells,
          ...(step.problem === undefined ? {} : { problem: `line ${line} ${step.problem}` }),
        })
      }
      isSkipping = false
      if (step.isRecovered) reach = Math.max(REACH.least, reach * REACH.afterFailure)
      else if (step.lines > 1) reach = Math.min(REACH.most, reach * REACH.afterSuccess)
      at = step.end
      line += step.lines
    }
    text = text.slice(at)
    return rows
  }
  return {
    push: (more) => {
      text += more
      return parse(false)
    },
    end: () => parse(true),
  }
}

function tooLong(line: number): FileRow {
  return { line, cells: [''], problem: `line ${line} is longer than ${ROW_LENGTH_MAX / 1024 / 1024} MiB. Shorten it` }
}

/** Old programs end a file with control characters. */
const BLANK = /^[\s\p{Cc}]*$/u

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => BLANK.test(cell))
}

/** A row, or a line, and where it ends. */
interface Step {
  cells: string[]
  problem?: string
  /** Whether it is one line of a row whose end was not found, or not believed. */
  isRecovered?: boolean
  /** Where the next line starts. */
  end: number
  lines: number
}

/** The line that starts at a position; null if its end has not been read. */
function lineAt(text: string, start: number, isEnd: boolean): Step | null {
  const end = lineEnd(text, start)
  if (end < text.length) {
    const length = breakLength(text, end, isEnd)
    return length === 0 ? null : { cells: [text.slice(start, end)], end: end + length, lines: 1 }
  }
  return isEnd ? { cells: [text.slice(start)], end, lines: 1 } : null
}

const BREAK = /[\r\n]/g

function lineEnd(text: string, start: number): number {
  BREAK.lastIndex = start
  return BREAK.exec(text)?.index ?? text.length
}

function rowAt(
  text: string,
  start: number,
  format: RowFormat,
  { isEnd, reach }: { isEnd: boolean; reach: number },
): Step | null {
  const { delimiter, columns } = format
  const line = lineAt(text, start, isEnd)
  if (line !== null) {
    const [content = ''] = line.cells
    if (!content.includes('"')) return { ...line, cells: content.split(delimiter) }
  }
  const row = quotedRowAt(text, start, { delimiter, isEnd, limit: start + reach })
  if (row === 'unread' && text.length - start <= reach) return null
  if (line === null) return null
  const isWhole = typeof row === 'object' && row.end - start <= reach
  if (isWhole && !row.isLenient && (row.lines === 1 || !columns || fits(row.cells, columns))) return row
  const [content = ''] = line.cells
  const alone = cellsOfLine(content, delimiter)
  const isRecovered = !isWhole || row.lines > 1
  if (alone !== null && (!columns || fits(alone, columns))) return { ...line, cells: alone, isRecovered }
  // A cell of several lines with quotation marks in it.
  if (isWhole && row.isLenient && columns && fits(row.cells, columns)) return row
  // A row with too many cells, none of whose further lines looks like a row.
  if (isWhole && !row.isLenient && !hidesRows(text.slice(line.end, row.end), format)) return row
  if (alone !== null) return { ...line, cells: alone, isRecovered }
  const problem = 'has a quotation mark that is not closed. Close it, or double the quotation marks inside cells'
  return { ...line, problem, isRecovered }
}

/** Whether lines that a quoted cell took in are rows themselves. */
function hidesRows(text: string, { delimiter, columns }: RowFormat): boolean {
  const lines = text.split(/\r\n?|\n/)
  return lines.some((line) => line !== '' && columns && columns.most > 1 && fits(line.split(delimiter), columns))
}
