import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Tenant } from '../tenant.ts'

/** Spreadsheets may drop these from the start of a cell: white space, control and invisible characters. */
const UNSEEN = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/u
/** Characters that start a formula; the last one is the typographic minus sign. */
const FORMULA = /^[=+\-@\u2212]/
/** Excel reads these alone as the start of a formula. */
const LINE = /^[\t\r\n]/
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/
/** Tells spreadsheets that the file is in UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/** A value as a cell. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  // A negative number starts like a formula, but is escaped.
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join('; ') : JSON.stringify(value)
  const escaped = isFormula(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}

function isFormula(text: string): boolean {
  if (LINE.test(text)) return true
  const [first = ''] = text.replace(UNSEEN, '')
  // Spreadsheets also accept full-width and small forms: `＝` is an equals sign.
  return FORMULA.test(first.normalize('NFKC'))
}

export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\r\n`
}

export interface CsvFile<Row> {
  name: string
  columns: readonly string[]
  pages: AsyncGenerator<readonly Row[]>
  cellsOf: (row: Row) => readonly unknown[]
  /** Runs before the first byte is sent. */
  beforeSending: () => Promise<void>
}

/** The text of a CSV file, a page at a time. @param first its first page. */
export async function* csvText<Row>(
  { columns, pages, cellsOf }: Pick<CsvFile<Row>, 'columns' | 'pages' | 'cellsOf'>,
  first: IteratorResult<readonly Row[]>,
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(columns)
  for (let page = first; !page.done; page = await pages.next()) {
    yield page.value.map((row) => csvLine(cellsOf(row))).join('')
    // Let other requests run.
    await nextTurn()
  }
}

/**
 * Streams rows as a CSV file. A page is read once the client has received the previous one. The first page is read
 * before the response starts, so that an error still has the usual form.
 */
export async function sendCsv<Row>(
  tenant: Tenant,
  reply: FastifyReply,
  { name, columns, pages, cellsOf, beforeSending }: CsvFile<Row>,
): Promise<FastifyReply> {
  const end = await tenant.beginExport()
  const close = async () => {
    end()
    await pages.return(undefined)
  }
  try {
    const first = await pages.next()
    await beforeSending()
    const body = Readable.from(csvText({ columns, pages, cellsOf }, first), { objectMode: true, highWaterMark: 1 })
    // Also emitted if the client disconnects before it has read anything.
    body.once('close', () => void close())
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}"`)
      .header('cache-control', 'no-store')
      .send(body)
  } catch (error) {
    await close()
    throw error
  }
}

/** The requested columns, or the default ones. */
export function columnsOf(text: string | undefined, usual: readonly string[]): string[] {
  const requested = (text ?? '').split(',').map((name) => name.trim())
  const columns = [...new Set(requested.filter((name) => name !== ''))]
  return columns.length > 0 ? columns : [...usual]
}
