import type { Updateable } from 'kysely'
import { ruleBrokenBy } from '../contacts/consent.ts'
import { TAGS } from '../contacts/tags.ts'
import { conflict, validationError } from '../platform/errors.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { cancelRun, queued, wakeWorkers } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Encoding } from './encoding.ts'
import type { ChosenFormat } from './file-format.ts'
import { fileOf } from './files.ts'
import { canUndo, IMPORT_ROWS, type ImportState, OPEN_STATES } from './import-object.ts'
import { type LockedImport, lockImport, requireImport } from './imports.ts'
import { type FileColumn, type Inspected, inspectFile } from './inspect-file.ts'
import { type ColumnMapping, requireMapping } from './mapping.ts'
import { proposalFor } from './remembered-mapping.ts'

/** Not while a preview is computed, which belongs to one mapping. */
const MAPPABLE: readonly ImportState[] = ['uploaded', 'mapped', 'previewed']
/** A failed import continues where it stopped. */
const STARTABLE: readonly ImportState[] = ['mapped', 'previewed', 'uploaded', 'failed']

/** Sets where the columns go. An earlier preview is dropped. @throws ServiceError 400, 404, 409 `invalid_import_state`. */
export async function setMapping(tx: Tenant, importId: string, mapping: readonly ColumnMapping[]): Promise<void> {
  const row = await lockImport(tx, importId)
  requireState(row.state, MAPPABLE, 'Its columns can be mapped only before it is started, and not during a preview.')
  requireMapping(mapping, (row.columns as unknown as FileColumn[]).length)
  await tx.db
    .updateTable('imports')
    .set({
      mapping: JSON.stringify(mapping),
      waiting_for: 'mapped',
      preview: null,
      warnings: '[]',
      progress: 0,
      ...NO_ERROR,
    })
    .where('import_id', '=', importId)
    .execute()
}

/**
 * Reads the first rows of an import's file with another format. What is not chosen is detected, except the encoding.
 * @throws ServiceError 400 `invalid_file`, 404, 409 `invalid_import_state`, `import_file_deleted`.
 */
export async function rereadFile(
  tenant: Tenant,
  directory: string,
  importId: string,
  { encoding, ...shape }: ChosenFormat,
): Promise<Inspected> {
  const row = await requireImport(tenant, importId)
  requireState(row.state as ImportState, MAPPABLE, READ_BEFORE)
  requireFile(row)
  return inspectFile(fileOf(directory, importId), row.file_name, encoding ?? (row.encoding as Encoding), shape)
}

/**
 * Stores how a file is read, with a new mapping, because the columns may be others.
 * @param usesRemembered whether to propose the mapping of an earlier file with the same columns. @throws ServiceError 404, 409.
 */
export async function setFormat(
  tx: Tenant,
  importId: string,
  inspected: Inspected,
  usesRemembered: boolean,
): Promise<void> {
  const row = await lockImport(tx, importId)
  requireState(row.state, MAPPABLE, READ_BEFORE)
  requireFile(row)
  const { format, firstLines, recognizedAs } = inspected
  const { columns, mapping, remembered } = usesRemembered
    ? await proposalFor(tx, inspected)
    : { ...inspected, remembered: null }
  await tx.db
    .updateTable('imports')
    .set({
      encoding: format.encoding,
      delimiter: format.delimiter,
      header_line: format.headerLine,
      columns: JSON.stringify(columns),
      first_lines: JSON.stringify(firstLines),
      recognized_as: recognizedAs,
      mapping: JSON.stringify(mapping),
      remembered: remembered === null ? null : JSON.stringify(remembered),
      waiting_for: 'uploaded',
      preview: null,
      warnings: '[]',
      row_count: null,
      progress: 0,
      ...NO_ERROR,
    })
    .where('import_id', '=', importId)
    .execute()
}

const READ_BEFORE = 'Change how its file is read before you start it, and not during a preview.'

/** Requests a preview. @throws ServiceError 400, 404, 409 `invalid_import_state`, `import_file_deleted`. */
export async function requestPreview(tx: Tenant, importId: string): Promise<void> {
  const row = await lockImport(tx, importId)
  requireState(row.state, ['uploaded', 'mapped', 'previewed'], 'It can be previewed only before it is started.')
  requireUsable(row)
  await queueTask(tx, importId, { task: 'preview', preview: null })
}

/**
 * Starts an import, or continues one that failed, with the tag that it was started with.
 * @throws ServiceError 400, 404, 409 `invalid_import_state`, `import_file_deleted`, `another_import_running`.
 */
export async function startImport(tx: Tenant, importId: string, now: Date, tag?: string): Promise<LockedImport> {
  const row = await lockImport(tx, importId)
  requireState(row.state, STARTABLE, 'Only a mapped or previewed import can be started.')
  requireUsable(row)
  await requireNoOther(tx, importId)
  await queueTask(tx, importId, {
    task: 'import',
    imported_at: row.imported_at ?? now,
    finished_at: null,
    tag: row.imported_at === null ? usableTag(tag) : row.tag,
  })
  return row
}

/** @throws ServiceError 400 for a tag of white space, and for one that would stop mail to whoever has it. */
function usableTag(sent: string | undefined): string | null {
  if (sent === undefined) return null
  const tag = sent.trim()
  if (tag === '') throw validationError([{ path: 'tag', message: 'must have a character other than white space' }])
  if (ruleBrokenBy(TAGS, [tag]) !== null) {
    const message = 'means that contacts get no mail. Choose another one, or import a column that says who opted out'
    throw validationError([{ path: 'tag', message }])
  }
  return tag
}

/**
 * Ends an import. Rows that were imported stay until it is undone; the transaction of the next rows sees the new state
 * and writes nothing. @returns whether it was cancelled, false if it was already.
 * @throws ServiceError 404, 409 `invalid_import_state`.
 */
export async function cancelImport(tx: Tenant, importId: string, now: Date): Promise<boolean> {
  const row = await lockImport(tx, importId)
  if (row.state === 'cancelled') return false
  requireState(row.state, OPEN_STATES, 'It has already ended.')
  await cancelRun(IMPORT_ROWS, tx, importId, now)
  // If nothing was written, the file is no longer needed.
  if (row.imported_at === null)
    await tx.db.updateTable('imports').set({ expires_at: now }).where('import_id', '=', importId).execute()
  return true
}

/** Requests that an import is undone. @throws ServiceError 404, 409 `invalid_import_state`, `another_import_running`. */
export async function requestUndo(tx: Tenant, importId: string, now: Date): Promise<void> {
  const row = await lockImport(tx, importId)
  if (!canUndo(row, now)) {
    const message = 'Only an import that has ended, and has changed something within seven days, can be undone.'
    throw invalidState(row.state, message)
  }
  await requireNoOther(tx, importId)
  await queueTask(tx, importId, { task: 'undo' })
}

/** Has a process do something to an import. */
async function queueTask(
  tx: Tenant,
  importId: string,
  task: Updateable<TenantTables['imports']> & { task: 'preview' | 'import' | 'undo' },
): Promise<void> {
  await tx.db
    .updateTable('imports')
    .set({ ...queued(), progress: 0, failures: 0, started_at: null, ...NO_ERROR, ...task })
    .where('import_id', '=', importId)
    .execute()
  await wakeWorkers(tx)
}

const NO_ERROR = { error_code: null, error: null }

function requireState(state: ImportState, allowed: readonly ImportState[], rule: string): void {
  if (!allowed.includes(state)) throw invalidState(state, rule)
}

function invalidState(state: ImportState, rule: string) {
  return conflict('invalid_import_state', `The import is ${state}. ${rule}`)
}

function requireFile({ has_file }: { has_file: boolean }): void {
  if (!has_file) throw conflict('import_file_deleted', 'The file of this import was deleted. Upload it again.')
}

function requireUsable({
  columns,
  mapping,
  has_file,
}: {
  columns: unknown
  mapping: unknown
  has_file: boolean
}): void {
  requireFile({ has_file })
  requireMapping(mapping as ColumnMapping[], (columns as FileColumn[]).length)
}

/** A tenant's imports run one after another, so that they cannot overwrite each other's values. */
async function requireNoOther(tx: Tenant, importId: string): Promise<void> {
  const other = await tx.db
    .selectFrom('imports')
    .select('import_id')
    .where('state', 'in', ['running', 'undoing'])
    .where('import_id', '<>', importId)
    .executeTakeFirst()
  if (!other) return
  const message = `The import ${other.import_id} is in progress. Start this one when it has ended.`
  throw conflict('another_import_running', message, [{ path: 'import_id', message: other.import_id }])
}
