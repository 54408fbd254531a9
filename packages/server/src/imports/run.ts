import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { fileOf } from './files.ts'
import { type ImportState, READING_SHARE } from './import-object.ts'
import { importRows } from './import-rows.ts'
import type { FileColumn } from './inspect-file.ts'
import { type ColumnMapping, mappedColumns } from './mapping.ts'
import { previewRows } from './preview.ts'
import { formatOf, readContactRows, sizeOf } from './read-rows.ts'
import { Ended, openTask } from './task.ts'
import { undoImport } from './undo.ts'
import { decimalOf } from './values.ts'

/** An import that fails this many times without writing a row is given up. */
const ATTEMPTS_MAX = 10

/** Works on an import until it ends or the process stops; then the next job continues. */
export async function runImport(
  tenant: Tenant,
  { writing, directory }: { writing: WriteDependencies; directory: string },
  importId: string,
  signal: AbortSignal,
): Promise<void> {
  const row = await tenant.db
    .updateTable('imports')
    .set(({ eb }) => ({ attempts: eb('attempts', '+', 1) }))
    .where('import_id', '=', importId)
    .where('state', 'in', ['previewing', 'running', 'undoing'])
    .returningAll()
    .executeTakeFirst()
  if (!row) return
  const state = row.state as ImportState
  const task = openTask(tenant, importId, state, signal)
  try {
    if (row.attempts > ATTEMPTS_MAX) throw givenUp(state)
    if (state === 'undoing') return await undoImport(task, writing)
    const headers = (row.columns as unknown as FileColumn[]).map(({ header }) => header)
    const records = readContactRows(fileOf(directory, importId), formatOf(row), row.file_name, headers)
    const mapping = row.mapping as unknown as ColumnMapping[]
    const columns = mappedColumns(mapping, headers, decimalOf(row.delimiter))
    const ignoredIds = await writing.findIgnoredIds(tenant)
    const sizeBytes = Number(row.size_bytes)
    const onRead = (_: number, characters: number) =>
      task.setProgress(Math.min(READING_SHARE, (READING_SHARE * characters) / sizeBytes))
    const file = { records, columns, size: sizeOf(headers), ignoredIds, onRead }
    await (state === 'previewing' ? previewRows(task, file, writing.clock) : importRows(task, file, writing))
  } catch (error) {
    if (error instanceof Ended) return
    if (signal.aborted || !isFinal(error)) throw error
    await endWithError(tenant, importId, state, error, writing.clock())
  }
}

function givenUp(state: ImportState): ServiceError {
  const verb = state === 'undoing' ? 'undone' : 'completed'
  const message = `The import could not be ${verb} after ${ATTEMPTS_MAX} attempts. The service's log says why; start it again.`
  return new ServiceError(500, 'import_given_up', message)
}

/** Whether another attempt would fail in the same way. */
function isFinal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && ['invalid_file', 'import_given_up'].includes(error.code)
}

async function endWithError(tenant: Tenant, importId: string, state: ImportState, error: ServiceError, now: Date) {
  const { code, message } = error
  await tenant.db
    .updateTable('imports')
    .set({ state: 'failed', error_code: code, error_message: message, finished_at: now })
    .where('import_id', '=', importId)
    .where('state', '=', state)
    .execute()
}
