import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Tenant } from '../platform/tenant.ts'

/** Spreadsheets may drop these from the start of a cell: white space, control and invisible characters. */
const UNSEEN = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]+/u
/** Characters that start a formula; the last one is the typographic minus sign. */
const FORMULA = /^[=+\-@\u2212]/
/** Excel reads these alone as the start of a formula. */
const LINE = /^[\t\r\n]/
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/
/** By it spreadsheets see that the file is in UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/** One cell. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  // A number or a boolean is none, whatever it begins with.
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join('; ') : JSON.stringify(value)
  const harmless = isFormula(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

function isFormula(text: string): boolean {
  if (LINE.test(text)) return true
  const [first = ''] = text.replace(UNSEEN, '')
  // A spreadsheet treats full-width and small forms alike: `＝` is an equals sign.
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
  /** Done before the first byte is sent. */
  beforeSending: () => Promise<void>
}

/**
 * Answers rows as a file, a page of them at a time: the next page is read when the caller has taken the one before. The
 * first is read before anything is answered, so that what is wrong is said in the usual way.
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
  const lines = async function* (first: IteratorResult<readonly Row[]>) {
    yield BYTE_ORDER_MARK + csvLine(columns)
    for (let page = first; !page.done; page = await pages.next()) {
      yield page.value.map((row) => csvLine(cellsOf(row))).join('')
      // Let other requests run.
      await nextTurn()
    }
  }
  try {
    const first = await pages.next()
    await beforeSending()
    const body = Readable.from(lines(first), { objectMode: true, highWaterMark: 1 })
    // Also when the client disconnects before it has read anything.
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

/** The columns that a caller asks for, or the usual ones. */
export function columnsOf(text: string | undefined, usual: readonly string[]): string[] {
  const asked = (text ?? '').split(',').map((name) => name.trim())
  const columns = [...new Set(asked.filter((name) => name !== ''))]
  return columns.length > 0 ? columns : [...usual]
}
