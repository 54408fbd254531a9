/** The longest row that is read, in characters. A longer one fails, and is not kept in memory. */
export const ROW_LENGTH_MAX = 1024 * 1024

/**
 * How far ahead the end of a quoted cell is searched, in characters. Each search in vain shortens the next one:
 * otherwise a file with a missing quotation mark on every line would be read to its end once for each line, and a line
 * of such cells once for each cell.
 */
export const REACH = { most: ROW_LENGTH_MAX, least: 512, afterFailure: 1 / 8, afterSuccess: 2 }

/** How the text of a quoted row is read. */
interface Reading {
  delimiter: string
  /** Whether the text ends the file. */
  isEnd: boolean
  /** Where the search for the end of a cell stops. */
  limit: number
}

interface QuotedRow {
  cells: string[]
  /** Where the next line starts. */
  end: number
  lines: number
  /** Whether quotation marks inside its quoted cells were taken as text. */
  isLenient: boolean
}

/**
 * The row at a position, whose cells may have several lines. @returns 'unread' if its end has not been read, and
 * 'unclosed' if a quoted cell has no end, or what looks like the start of another quoted cell.
 */
export function quotedRowAt(text: string, start: number, reading: Reading): QuotedRow | 'unread' | 'unclosed' {
  const { delimiter, isEnd } = reading
  const cells: string[] = []
  let isLenient = false
  let at = start
  for (;;) {
    const open = afterBlanks(text, at, delimiter)
    if (text[open] === '"') {
      const cell = quotedCell(text, open, reading)
      if (typeof cell === 'string') return cell
      cells.push(cell.value)
      isLenient ||= cell.isLenient
      at = cell.end
    } else {
      if (open === text.length && !isEnd) return 'unread'
      const end = cellEnd(text, at, delimiter)
      cells.push(text.slice(at, end))
      at = end
    }
    if (at >= text.length) {
      if (!isEnd) return 'unread'
      return { cells, isLenient, end: at, lines: linesIn(text, start, at) + 1 }
    }
    if (text[at] === delimiter) {
      at++
      continue
    }
    const length = breakLength(text, at, isEnd)
    if (length === 0) return 'unread'
    return { cells, isLenient, end: at + length, lines: linesIn(text, start, at) + 1 }
  }
}

/** The quoted cell whose opening quotation mark is at a position. */
function quotedCell(text: string, open: number, { delimiter, isEnd, limit }: Reading) {
  let value = ''
  let isLenient = false
  let from = open + 1
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote > limit) return 'unclosed'
    if (quote < 0 || quote + 1 === text.length) {
      if (!isEnd) return 'unread'
      return quote < 0 ? 'unclosed' : { value: value + text.slice(from, quote), end: quote + 1, isLenient }
    }
    if (text[quote + 1] === '"') {
      value += text.slice(from, quote + 1)
      from = quote + 2
      continue
    }
    const after = afterBlanks(text, quote + 1, delimiter)
    if (after === text.length && !isEnd) return 'unread'
    if (endsCell(text, after, delimiter)) return { value: value + text.slice(from, quote), end: after, isLenient }
    if (quote > open + 1 && startsCell(text, quote, delimiter)) return 'unclosed'
    isLenient = true
    value += text.slice(from, quote + 1)
    from = quote + 1
  }
}

function endsCell(text: string, at: number, delimiter: string): boolean {
  const character = text[at]
  return character === undefined || character === delimiter || character === '\n' || character === '\r'
}

/** Whether a quotation mark is where another cell would start. */
function startsCell(text: string, quote: number, delimiter: string): boolean {
  let at = quote - 1
  while (text[at] === ' ' && delimiter !== ' ') at--
  const before = text[at]
  return before === delimiter || before === '\n' || before === '\r'
}

function afterBlanks(text: string, from: number, delimiter: string): number {
  let at = from
  while ((text[at] === ' ' || text[at] === '\ufeff') && text[at] !== delimiter) at++
  return at
}

/**
 * Stops at whichever comes first, the delimiter or the line break. A search for each would read the rest of the line or
 * of the text again for every cell.
 */
function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from
  while (!endsCell(text, at, delimiter)) at++
  return at
}

function linesIn(text: string, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) {
    if (text[at] === '\n' || (text[at] === '\r' && text[at + 1] !== '\n')) count++
  }
  return count
}

/**
 * The cells of one line in which quotation marks are not doubled as they should be; null if a cell has no end in it.
 */
export function cellsOfLine(line: string, delimiter: string): string[] | null {
  const cells: string[] = []
  // A success does not lengthen it again: an empty quoted cell would do that with two characters.
  let reach = REACH.most
  for (let at = 0; ; at++) {
    const open = afterBlanks(line, at, delimiter)
    const cell =
      line[open] === '"' ? quotedCell(line, open, { delimiter, isEnd: true, limit: open + reach }) : 'unquoted'
    if (cell === 'unclosed') reach = Math.max(REACH.least, reach * REACH.afterFailure)
    if (typeof cell === 'object') {
      cells.push(cell.value)
      at = cell.end
    } else {
      const end = cellEnd(line, at, delimiter)
      const content = line.slice(at, end)
      if (cell !== 'unquoted' && content.split('"').length % 2 === 0) return null
      cells.push(content)
      at = end
    }
    if (at >= line.length) return cells
  }
}

/** The length of a line break; 0 if it may continue in text that has not been read. */
export function breakLength(text: string, at: number, isEnd: boolean): number {
  if (text[at] === '\n') return 1
  if (at + 1 === text.length) return isEnd ? 1 : 0
  return text[at + 1] === '\n' ? 2 : 1
}
