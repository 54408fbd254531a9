type Row = Record<string, unknown>

/** Characters per cell; ids and most addresses fit. */
const CELL_MAX = 40
const WIDTH_DEFAULT = 120
const GAP = '  '

/**
 * Formats a result for people: a list as a table, anything else with one line per field.
 * @param width in characters; a table shows as many columns as fit.
 */
export function printed(answer: Row, width = WIDTH_DEFAULT): string {
  const isListing = 'pagination' in answer || 'total' in answer || Object.keys(answer).length === 1
  const [list, ...others] = Object.entries(answer).filter(([, value]) => isRows(value, isListing))
  if (list && others.length === 0) return printedList(list as [string, Row[]], answer, width)
  // Unwraps `{segment: {…}}`.
  const [only, ...more] = Object.values(answer)
  return fields(more.length === 0 && isObject(only) ? only : answer)
}

/** An empty array may be a list of rows, where the answer has nothing else to list. */
function isRows(value: unknown, mayBeEmpty: boolean): value is Row[] {
  return Array.isArray(value) && (mayBeEmpty || value.length > 0) && value.every(isObject)
}

function isObject(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function printedList([name, rows]: [string, Row[]], answer: Row, width: number): string {
  const { [name]: _, pagination, ...rest } = answer
  const parts = [rows.length === 0 ? `No ${name.replaceAll('_', ' ')}.` : table(rows, width)]
  if (Object.keys(rest).length > 0) parts.push(fields(rest))
  if (isObject(pagination) && Number(pagination.total_pages) > 1) {
    parts.push(
      `Page ${pagination.page} of ${pagination.total_pages}, ${pagination.total_items} in total. Use --page to see more.`,
    )
  }
  return parts.join('\n\n')
}

function table(rows: readonly Row[], width: number): string {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== '_id')
  // Objects are long, so they come last.
  const names = all.toSorted((one, other) => Number(hasObject(rows, one)) - Number(hasObject(rows, other)))
  const columns = names.map((name) => {
    const cells = [name, ...rows.map((row) => cut(text(row[name])))]
    return { cells, width: Math.max(...cells.map((cell) => cell.length)) }
  })
  let used = 0
  const shown = columns.filter((column, index) => {
    used += column.width + (index === 0 ? 0 : GAP.length)
    return index === 0 || used <= width
  })
  const lines = ['', ...rows].map((_, line) =>
    shown
      .map(({ cells, width }) => (cells[line] ?? '').padEnd(width))
      .join(GAP)
      .trimEnd(),
  )
  const hidden = names.slice(shown.length)
  if (hidden.length > 0) lines.push('', `Not shown: ${hidden.join(', ')}. Use --json to see everything.`)
  return lines.join('\n')
}

function hasObject(rows: readonly Row[], name: string): boolean {
  return rows.some((row) => isObject(row[name]))
}

function fields(row: Row): string {
  const entries = Object.entries(row).filter(([name]) => name !== '_id')
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries
    .map(([name, value]) => {
      const isFlat = !Array.isArray(value) || !value.some((each) => typeof each === 'object')
      const shown = isFlat && !isObject(value) ? text(value) : JSON.stringify(value, null, 2)
      return `${name.padEnd(width)}${GAP}${shown}`.trimEnd()
    })
    .join('\n')
}

function text(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(', ')
  return JSON.stringify(value)
}

function cut(cell: string): string {
  const line = cell.replace(/\s+/g, ' ')
  return line.length > CELL_MAX ? `${line.slice(0, CELL_MAX - 1)}…` : line
}
