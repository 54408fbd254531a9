import { namesIn } from '../operations/audit.ts'
import type { Context } from '../operations/declare.ts'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'
import { exampleOf } from './column-examples.ts'
import {
  type Import,
  type ImportRow,
  type ImportState,
  type ListedImport,
  selectImports,
  toListed,
} from './import-object.ts'
import type { FileColumn } from './inspect-file.ts'
import { type ColumnMapping, mappedColumns } from './mapping.ts'
import { type ImportConsent, sumOfConsent } from './silenced.ts'

const ERRORS_SHOWN = 20

/** One page of the imports, newest first, and the total. */
export async function listImports(
  tenant: Tenant,
  page: Page,
  state: ImportState | undefined,
  now: Date,
): Promise<{ imports: ListedImport[]; total: number }> {
  let rows = selectImports(tenant)
  let counted = tenant.db.selectFrom('imports').select(({ fn }) => fn.countAll<number>().as('count'))
  if (state !== undefined) {
    rows = rows.where('imports.state', '=', state)
    counted = counted.where('state', '=', state)
  }
  const [found, { count }] = await Promise.all([
    rows
      .orderBy('imports.created_at', 'desc')
      .orderBy('imports.import_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    counted.executeTakeFirstOrThrow(),
  ])
  return { imports: found.map((row) => toListed(row, now)), total: count }
}

export async function importExists(tenant: Tenant, importId: string): Promise<boolean> {
  const row = await tenant.db
    .selectFrom('imports')
    .select('import_id')
    .where('import_id', '=', importId)
    .executeTakeFirst()
  return row !== undefined
}

/** An import as far as the caller may see it: its texts are of contacts. @throws ServiceError 404. */
export async function showImport(
  { tenant, now, scopes }: Pick<Context, 'tenant' | 'now' | 'scopes'>,
  importId: string,
): Promise<Import> {
  const found = await readImport(tenant, importId, now)
  if (scopes.has('contacts:read')) return found
  const columns = found.columns.map((column) => ({ ...column, samples: [], example: null }))
  return { ...found, encodings: [], first_lines: [], columns, warnings: [], errors: [] }
}

/** @throws ServiceError 404. */
export async function readImport(tenant: Tenant, importId: string, now: Date): Promise<Import> {
  const row = await requireImport(tenant, importId)
  const errors = await tenant.db
    .selectFrom('import_failed_rows')
    .select(['row', 'code', 'message'])
    .where('import_id', '=', importId)
    .orderBy('row')
    .limit(ERRORS_SHOWN)
    .execute()
  const planned = (row.preview as Pick<Import, 'consent'> | null)?.consent ?? null
  return {
    ...toListed(row, now),
    encodings: row.readings as unknown as Import['encodings'],
    first_lines: row.first_lines as unknown as Import['first_lines'],
    columns: withExamples(row),
    mapping: row.mapping as unknown as ColumnMapping[],
    remembered: row.remembered as Import['remembered'],
    warnings: row.warnings as unknown as Import['warnings'],
    consent: row.imported_at === null ? planned : await consentOfRows(tenant, importId),
    errors,
  }
}

function withExamples(row: ImportRow): Import['columns'] {
  const columns = row.columns as unknown as FileColumn[]
  const headers = columns.map(({ header }) => header)
  const mapped = mappedColumns(row.mapping as unknown as ColumnMapping[], headers, row.delimiter)
  return columns.map((column, index) => {
    const meaning = mapped[index]
    return { ...column, example: meaning ? exampleOf(meaning, column.samples) : null }
  })
}

/** What the rows imported so far did to who gets mail. */
async function consentOfRows(tenant: Tenant, importId: string): Promise<ImportConsent> {
  const chunks = tenant.db.selectFrom('import_chunks').select('consent').where('import_id', '=', importId)
  return sumOfConsent((await chunks.execute()).map(({ consent }) => consent as unknown as ImportConsent))
}

/** @throws ServiceError 404. */
export async function requireImport(tenant: Tenant, importId: string): Promise<ImportRow> {
  const row = await selectImports(tenant).where('imports.import_id', '=', importId).executeTakeFirst()
  if (!row) throw notFound('import')
  return row
}

/** The names of imports: their files, for the audit log. */
export function namesOfImports({ db }: Tenant, ids: readonly string[]) {
  return namesIn(
    db.selectFrom('imports').select(['import_id as id', 'file_name as name']).where('import_id', 'in', ids),
  )
}

/** Locks an import's row. @throws ServiceError 404. */
export async function lockImport(tx: Tenant, importId: string) {
  const row = await tx.db
    .selectFrom('imports')
    .selectAll()
    .where('import_id', '=', importId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('import')
  return { ...row, state: row.state as ImportState }
}
export type LockedImport = Awaited<ReturnType<typeof lockImport>>
