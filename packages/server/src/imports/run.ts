import type { WriteServices } from '../contacts/writing/writer.ts'
import { ServiceError } from '../platform/errors.ts'
import { doubling, NoProgress, type RunKind } from '../platform/runs/kind.ts'
import type { Run } from '../platform/runs/run.ts'
import { fileOf } from './files.ts'
import { IMPORT_ROWS, READING_SHARE } from './import-object.ts'
import { importRows } from './import-rows.ts'
import type { FileColumn } from './inspect-file.ts'
import { type ColumnMapping, mappedColumns } from './mapping.ts'
import { previewRows } from './preview.ts'
import { formatOf, readContactRows, sizeOf } from './read-rows.ts'
import { openTask, type Task } from './task.ts'
import { undoImport } from './undo.ts'

/** An import that fails this many times without writing a row is given up. */
const ATTEMPTS_MAX = 10

interface Dependencies {
  writing: WriteServices
  directory: string
}

/** Imports, their previews and their undoing. */
export function importKind(dependencies: Dependencies): RunKind<'imports'> {
  return {
    rows: IMPORT_ROWS,
    step: (run, signal) => work(openTask(run, signal), dependencies),
    failure: (error, run) => {
      const cause = error instanceof NoProgress ? givenUp(run) : error
      const isFinal = cause instanceof ServiceError && ['invalid_file', 'import_given_up'].includes(cause.code)
      const shown = { error: (cause as Error).message, error_code: isFinal ? cause.code : null }
      return { isFinal, shown }
    },
    failuresMax: ATTEMPTS_MAX - 1,
    pauseSeconds: doubling(2, 60),
  }
}

async function work(task: Task, { writing, directory }: Dependencies): Promise<void> {
  const { run, tenant, importId } = task
  const { row } = run
  if (row.task === 'undo') return undoImport(task, writing)
  const headers = (row.columns as unknown as FileColumn[]).map(({ header }) => header)
  const records = readContactRows(fileOf(directory, importId), formatOf(row), row.file_name, headers)
  const mapping = row.mapping as unknown as ColumnMapping[]
  const columns = mappedColumns(mapping, headers, row.delimiter)
  const ignoredIds = await writing.findIgnoredIds(tenant)
  const sizeBytes = Number(row.size_bytes)
  const onRead = (_: number, characters: number) =>
    task.setProgress(Math.min(READING_SHARE, (READING_SHARE * characters) / sizeBytes))
  const file = { records, columns, size: sizeOf(headers), ignoredIds, onRead }
  await (row.task === 'preview' ? previewRows(task, file, writing) : importRows(task, file, writing))
}

function givenUp({ row }: Run<'imports'>): ServiceError {
  const verb = row.task === 'undo' ? 'undone' : 'completed'
  const message = `The import could not be ${verb} after ${ATTEMPTS_MAX} attempts. The service's log says why; start it again.`
  return new ServiceError(500, 'import_given_up', message)
}
