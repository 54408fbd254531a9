import { rowsOfParquet } from '../../platform/clickhouse/parquet.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { selectOf, structureOf, TABLES, type TableName } from './columns.ts'
import { companyRows, contactRows } from './records.ts'

/** A file is written and sent as a whole, so its size limits a run's memory use. The bytes are its rows' size as text. */
const ROWS_MAX = 250_000
const BYTES_MAX = 64 * 1024 * 1024
/** While the embedded engine reads the texts of a statement, its other statements are blocked. */
const SENT_BYTES_MAX = 8 * 1024 * 1024
/** Numbers of the journal whose sizes are read at a time. */
const SIZES_READ = 5_000
/** If a window has fewer numbers with rows of the tenant than this, the next window is twice as wide. */
const SIZES_FEW = 500

/** Where a table continues: after a part of a number range, or after an id. */
export type Cursor = { after: number; up_to: number; index: number; of: number } | { last_id: string }

/** The rows of a file. */
export interface Part {
  table: TableName
  cursor: Cursor
  file: Buffer
  rows: number
}

/** The journal numbers that a run exports. */
export interface Range {
  after: number
  upTo: number
}

/**
 * Yields the files of a run. The event rows in a file depend only on the range, so an interrupted run can continue.
 * @param last the last file that was already written.
 */
export async function* partsOf(
  tenant: Tenant,
  range: Range,
  last: { table: TableName; cursor: Cursor } | null,
): AsyncGenerator<Part> {
  const names = Object.keys(TABLES) as TableName[]
  for (const table of names.slice(last ? names.indexOf(last.table) : 0)) {
    const cursor = last?.table === table ? last.cursor : null
    if (table === 'events' || table === 'owner_links') yield* appended(tenant, table, range, cursor)
    else yield* snapshot(tenant, table, cursor)
  }
}

async function* appended(
  tenant: Tenant,
  table: 'events' | 'owner_links',
  range: Range,
  cursor: Cursor | null,
): AsyncGenerator<Part> {
  const make = async (part: Exclude<Cursor, { last_id: string }>): Promise<Part> => {
    const { after, up_to: upTo, index, of } = part
    const wanted = {
      name: `warehouse.${table}`,
      columns: selectOf(table),
      from: table,
      after,
      upTo,
      share: { index, of },
    } as const
    const file = await tenant.events.parquet(wanted)
    return { table, cursor: part, file, rows: rowsOfParquet(file) }
  }
  let { after } = range
  if (cursor && 'up_to' in cursor) {
    for (let index = cursor.index + 1; index < cursor.of; index++) yield make({ ...cursor, index })
    after = cursor.up_to
  }
  for await (const { upTo, rows, bytes } of groups(tenant, table, { after, upTo: range.upTo })) {
    const of = Math.max(1, Math.ceil(rows / ROWS_MAX), Math.ceil(bytes / BYTES_MAX))
    for (let index = 0; index < of; index++) yield make({ after, up_to: upTo, index, of })
    after = upTo
  }
}

/** Combines consecutive numbers while their rows fit into one file. */
async function* groups(
  tenant: Tenant,
  from: 'events' | 'owner_links',
  { after, upTo }: Range,
): AsyncGenerator<{ upTo: number; rows: number; bytes: number }> {
  let group: { upTo: number; rows: number; bytes: number } | null = null
  // All tenants share the numbers, and most may have no rows of this tenant, so windows widen while they find few.
  let width = SIZES_READ
  for (let read = after; read < upTo; ) {
    // The index of the events skips rows outside a window of numbers. The links have no such index: each query reads all
    // links of the tenant, so fewer queries are better.
    const end = from === 'events' ? Math.min(read + width, upTo) : upTo
    const sizes = await tenant.events.sizes({ from, after: read, upTo: end, limit: SIZES_READ })
    for (const { sequence, rows, bytes } of sizes) {
      if (group && group.rows + rows <= ROWS_MAX && group.bytes + bytes <= BYTES_MAX) {
        group = { upTo: sequence, rows: group.rows + rows, bytes: group.bytes + bytes }
      } else {
        if (group) yield group
        group = { upTo: sequence, rows, bytes }
      }
    }
    const isFull = sizes.length >= SIZES_READ
    read = isFull ? (sizes.at(-1)?.sequence ?? end) : end
    if (isFull) width = SIZES_READ
    else if (sizes.length < SIZES_FEW) width *= 2
  }
  if (group) yield group
}

async function* snapshot(tenant: Tenant, table: 'contacts' | 'companies', cursor: Cursor | null): AsyncGenerator<Part> {
  const after = cursor && 'last_id' in cursor ? cursor.last_id : null
  const pages = table === 'contacts' ? contactRows(tenant, after) : companyRows(tenant, after)
  let lines: string[] = []
  let bytes = 0
  let lastId = ''
  const make = async (): Promise<Part> => {
    const sent = { from: 'rows', structure: structureOf(table), rows: lines.join('\n') } as const
    const file = await tenant.events.parquet({ name: `warehouse.${table}`, columns: selectOf(table), ...sent })
    return { table, cursor: { last_id: lastId }, file, rows: lines.length }
  }
  for await (const page of pages) {
    for (const { id, row } of page) {
      const line = JSON.stringify(row)
      if (lines.length > 0 && (bytes + line.length > SENT_BYTES_MAX || lines.length >= ROWS_MAX)) {
        yield await make()
        lines = []
        bytes = 0
      }
      lines.push(line)
      bytes += Buffer.byteLength(line)
      lastId = id
    }
  }
  if (lines.length > 0) yield await make()
}
