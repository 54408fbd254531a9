import { isObject } from '../platform/is-object.ts'

type Row = Record<string, unknown>

/** Characters per cell; ids and most addresses fit. */
const CELL_MAX = 40
const WIDTH_DEFAULT = 120
const GAP = '  '

/** The columns that tell people most, after the id. */
const FIRST = ['email', 'name', 'firstname', 'lastname', 'company', 'jobtitle']

/**
 * Formats a result for people: a list as a table, anything else with one line per field and tables of its lists.
 * @param width in characters; a table shows as many columns as fit.
 */
export function printed(result: Row, width = WIDTH_DEFAULT): string {
  const isListing = 'pagination' in result || 'total' in result || Object.keys(result).length === 1
  const [list, ...others] = Object.entries(result).filter(([, value]) => isRows(value, isListing))
  if (list && others.length === 0) return printedList(list as [string, Row[]], result, width)
  // Unwraps `{segment: {…}}`.
  const [only, ...more] = Object.values(result)
  if (more.length === 0 && Array.isArray(only)) return only.map(text).join('\n')
  return fields(more.length === 0 && isObject(only) ? only : result, width)
}

/** An empty array may be a list of rows, where the result has nothing else to list. */
function isRows(value: unknown, mayBeEmpty: boolean): value is Row[] {
  return Array.isArray(value) && (mayBeEmpty || value.length > 0) && value.every(isObject)
}

function printedList([name, rows]: [string, Row[]], result: Row, width: number): string {
  const { [name]: _, pagination, ...rest } = result
  const parts = [rows.length === 0 ? `No ${name.replaceAll('_', ' ')}.` : table(rows, width)]
  if (Object.keys(rest).length > 0) parts.push(fields(rest, width))
  if (isObject(pagination) && Number(pagination.total_pages) > 1) {
    parts.push(
      `Page ${pagination.page} of ${pagination.total_pages}, ${pagination.total_items} in total. Use --page to see more.`,
    )
  }
  return parts.join('\n\n')
}

function table(given: readonly Row[], width: number): string {
  const rows = given.map(withProperties)
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const filled = all.filter((name) => rows.some((row) => text(row[name]) !== ''))
  const [id = ''] = all
  const names = filled.toSorted((one, other) => rankOf(rows, one, id) - rankOf(rows, other, id))
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

/** A row with a column for each property, unless it has a column of that name. */
function withProperties({ _id, properties, ...row }: Row): Row {
  if (properties === undefined) return row
  return isObject(properties) ? { ...row, ...properties, ...row } : { ...row, properties }
}

/** The place of a column: the id, what tells most, what fits into a cell, objects. */
function rankOf(rows: readonly Row[], name: string, id: string): number {
  if (name === id) return -1
  if (FIRST.includes(name)) return FIRST.indexOf(name)
  return FIRST.length + Number(rows.some((row) => isObject(row[name]) || isRows(row[name], false)))
}

function fields(row: Row, width: number): string {
  const leaves = leavesOf(row)
  const lists = leaves.filter((leaf): leaf is [string, Row[]] => isRows(leaf[1], false))
  const others = leaves.filter(([, value]) => !isRows(value, false))
  const nameWidth = Math.max(...others.map(([name]) => name.length))
  const lines = others.map(([name, value]) => `${name.padEnd(nameWidth)}${GAP}${text(value)}`.trimEnd())
  const tables = lists.map(([name, rows]) => `${name}:\n\n${table(rows, width)}`)
  return [...(lines.length > 0 ? [lines.join('\n')] : []), ...tables].join('\n\n')
}

/** The fields of an object and, by names like `filter.match`, of the objects in it. */
function leavesOf(row: Row, prefix = ''): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (name === '_id') return []
    const isNested = isObject(value) && Object.keys(value).length > 0
    return isNested ? leavesOf(value, `${prefix}${name}.`) : [[prefix + name, value]]
  })
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
