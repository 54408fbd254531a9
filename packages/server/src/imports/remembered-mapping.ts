import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Timestamp } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { plainHeader } from './column-names.ts'
import type { FileColumn, Inspected } from './inspect-file.ts'
import { type ColumnMapping, problemsOf } from './mapping.ts'

/** Older ones are forgotten. */
const REMEMBERED_MAX = 100

/** Where a mapping was used before. */
export const Remembered = Type.Object(
  { file_name: Type.String(TEXT), used_at: Timestamp },
  { title: 'RememberedMapping' },
)
export type Remembered = Type.Static<typeof Remembered>

/** A column of a remembered mapping, by its name: in the next file, the columns may be in another order. */
interface RememberedColumn extends Omit<ColumnMapping, 'column'> {
  key: string
}

/** The mapping of a file as it is proposed. */
export interface Proposal extends Pick<Inspected, 'mapping' | 'columns'> {
  /** null if it is not one that was used before. */
  remembered: Remembered | null
}

/** The keys of columns: their plain names, and which of several with that name they are. */
function keysOf(headers: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return headers.map((header) => {
    const name = plainHeader(header)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${name} ${count}`
  })
}

/** What files with the same columns have in common, in whatever order; null if the file does not name them. */
function shapeOf(headers: readonly string[], headerLine: number): string | null {
  if (headerLine === 0) return null
  return createHash('sha256')
    .update(JSON.stringify(keysOf(headers).sort()))
    .digest('base64url')
}

/** Remembers how the columns of an import go, for the next file with the same columns. */
export async function rememberMapping(
  tx: Tenant,
  row: { columns: unknown; mapping: unknown; header_line: number; file_name: string },
  now: Date,
): Promise<void> {
  const headers = (row.columns as FileColumn[]).map(({ header }) => header)
  const shape = shapeOf(headers, row.header_line)
  if (shape === null) return
  const keys = keysOf(headers)
  const columns = (row.mapping as ColumnMapping[]).map(({ column, ...rest }) => ({
    key: keys[column] ?? '',
    ...rest,
  }))
  const remembered = { file_name: row.file_name, columns: JSON.stringify(columns), used_at: now }
  await tx.db
    .insertInto('import_mappings')
    .values({ shape, ...remembered })
    .onConflict((known) => known.columns(['shape']).doUpdateSet(remembered))
    .execute()
  const newest = tx.db.selectFrom('import_mappings').select('shape').orderBy('used_at', 'desc').limit(REMEMBERED_MAX)
  await tx.db.deleteFrom('import_mappings').where('shape', 'not in', newest).execute()
}

/** The mapping that the last file with the same columns was imported with; else the one that the file itself suggests. */
export async function proposalFor(tx: Tenant, { mapping, columns, format }: Inspected): Promise<Proposal> {
  const suggested = { mapping, columns, remembered: null }
  const headers = columns.map(({ header }) => header)
  const shape = shapeOf(headers, format.headerLine)
  if (shape === null) return suggested
  const found = await tx.db
    .selectFrom('import_mappings')
    .select(['file_name', 'columns', 'used_at'])
    .where('shape', '=', shape)
    .executeTakeFirst()
  if (!found) return suggested
  const keys = keysOf(headers)
  const used = (found.columns as unknown as RememberedColumn[]).flatMap(({ key, ...rest }) => {
    const column = keys.indexOf(key)
    return column < 0 ? [] : { column, ...rest }
  })
  if (problemsOf(used, headers.length).length > 0) return suggested
  return {
    mapping: used.sort((one, other) => one.column - other.column),
    columns: columns.map((column) => ({
      ...column,
      // The other notes explain a suggestion.
      note: column.note?.code === 'consent' ? column.note : null,
      is_ambiguous: false,
    })),
    remembered: { file_name: found.file_name, used_at: found.used_at.toISOString() },
  }
}
