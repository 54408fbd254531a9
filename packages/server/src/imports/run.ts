import type { WriteServices } from '../contacts/writing/writer.ts'
import { ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { RELEASED, whileClaimed } from '../platform/postgres/lease.ts'
import type { Tenant } from '../platform/tenant.ts'
import { fileOf } from './files.ts'
import { type ImportState, READING_SHARE } from './import-object.ts'
import { importRows } from './import-rows.ts'
import type { FileColumn } from './inspect-file.ts'
import { type ColumnMapping, mappedColumns } from './mapping.ts'
import { previewRows } from './preview.ts'
import { formatOf, readContactRows, sizeOf } from './read-rows.ts'
import { claimImport, Ended, endTask, openTask, type Task, whereClaimed } from './task.ts'
import { undoImport } from './undo.ts'
import { decimalOf } from './values.ts'

/** An import that fails this many times without writing a row is given up. */
const ATTEMPTS_MAX = 10

interface Dependencies {
  writing: WriteServices
  directory: string
}

/**
 * Works on an import until it ends or the process stops; then the next job, or command, continues.
 * @param claim this process's, if it has claimed the import before.
 * @throws ClaimedByAnother
 */
export async function runImport(
  tenant: Tenant,
  { claim = newId(), ...dependencies }: Dependencies & { claim?: string },
  importId: string,
  signal: AbortSignal,
): Promise<void> {
  const row = await claimImport(tenant, importId, claim)
  if (!row) return
  const task = { tenant, importId, claim, state: row.state as ImportState }
  try {
    await whileClaimed('import', whereClaimed(task), (lost) =>
      work(openTask(tenant, task, AbortSignal.any([signal, lost])), row, dependencies),
    )
  } catch (error) {
    if (error instanceof Ended) return
    if (signal.aborted || !isFinal(error)) throw error
    const { code, message } = error
    const finished_at = dependencies.writing.clock()
    await endTask(task, { state: 'failed', error_code: code, error_message: message, finished_at })
  } finally {
    // If this fails, the claim ends with its lease.
    await whereClaimed(task)
      .set(RELEASED)
      .execute()
      .catch(() => {})
  }
}

async function work(
  task: Task,
  row: NonNullable<Awaited<ReturnType<typeof claimImport>>>,
  { writing, directory }: Dependencies,
): Promise<void> {
  const { tenant, importId, state } = task
  if (row.attempts > ATTEMPTS_MAX) throw givenUp(state)
  if (state === 'undoing') return undoImport(task, writing)
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
