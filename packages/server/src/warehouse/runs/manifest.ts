import type { Tenant } from '../../platform/tenant.ts'
import type { DestinationRow } from '../destination.ts'
import { schemaOf, TABLES, type TableName } from './columns.ts'
import type { Cursor, Range } from './parts.ts'

/** Readers should reject manifests with a higher format number. */
const FORMAT = 1

/** The facts about a run that its manifest contains. */
export interface ManifestOf {
  runId: string
  startedAt: Date
  isFull: boolean
  range: Range
  erased: readonly string[]
  /** The manifest of the previous run; null for the first run. */
  previous: string | null
}

interface FileRow {
  table_name: string
  path: string
  rows: number | string
  bytes: number | string
  sha256: string
  cursor: unknown
}

/** The name of a run in paths. Sorting by name sorts runs by their start. */
export function nameOfRun(runId: string, startedAt: Date): string {
  return `${startedAt.toISOString().replace(/[-:.]/g, '')}-${runId.slice(-12)}`
}

export function manifestPath(runId: string, startedAt: Date): string {
  return `manifests/${nameOfRun(runId, startedAt)}.json`
}

/** The manifest of a run. All its files have been written. */
export async function manifestOf(
  tenant: Tenant,
  destination: Pick<DestinationRow, 'destination_id'>,
  { runId, startedAt, isFull, range, erased, previous }: ManifestOf,
): Promise<Buffer> {
  const files: FileRow[] = await tenant.db
    .selectFrom('warehouse_files')
    .select(['table_name', 'path', 'rows', 'bytes', 'sha256', 'cursor'])
    .where('run_id', '=', runId)
    .orderBy('number')
    .execute()
  const modeOf = (table: TableName) => (isFull && TABLES[table] === 'append' ? 'replace' : TABLES[table])
  const tables = (Object.keys(TABLES) as TableName[]).map((table) => {
    const own = files.filter(({ table_name }) => table_name === table)
    const rows = own.reduce((sum, file) => sum + Number(file.rows), 0)
    return [table, { mode: modeOf(table), files: own.length, rows, schema: schemaOf(table) }] as const
  })
  const manifest = {
    format: FORMAT,
    tenant_id: tenant.id,
    destination_id: destination.destination_id,
    run_id: runId,
    started_at: startedAt.toISOString(),
    previous,
    range: { after: range.after, up_to: range.upTo },
    tables: Object.fromEntries(tables),
    files: files.map((file) => ({
      table: file.table_name,
      path: file.path,
      rows: Number(file.rows),
      bytes: Number(file.bytes),
      sha256: file.sha256,
      ...rangeOf(file.cursor as Cursor),
    })),
    erased_contact_ids: erased,
  }
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
}

function rangeOf(cursor: Cursor) {
  return 'up_to' in cursor ? { range: { after: cursor.after, up_to: cursor.up_to } } : {}
}
