import { saveFile } from './save-file.ts'
import { text } from './text.ts'

type Cell = string | number | null

const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/
/** What a spreadsheet may take for a formula, behind characters that it does not show. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\u2212]|^[\t\r\n]/u
/** Tells spreadsheets that the file is in UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/** Rows as CSV. A text that a spreadsheet would evaluate gets a leading apostrophe. */
export function csvText(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
}

/**
 * Saves rows as a file. Each line of an estimate says from which part of the people it is.
 * @param name without its ending
 */
export function saveCsv(name: string, rows: readonly (readonly Cell[])[], sample: number | undefined): void {
  const [head = [], ...lines] = rows
  const marked =
    sample === undefined ? rows : [[...head, text.sample.column], ...lines.map((line) => [...line, sample])]
  saveFile(`${name}.csv`, new Blob([BYTE_ORDER_MARK, csvText(marked)], { type: 'text/csv' }))
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  // A spreadsheet takes full-width forms for the same.
  const escaped = FORMULA.test(cell.normalize('NFKC')) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
