import { sql } from 'kysely'
import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { type RunWork, runWork } from '../platform/runs/workers.ts'
import { expireImport, isExpired } from './expire.ts'
import { deleteAbandonedFiles, importDirectory } from './files.ts'
import { IMPORT_ROWS } from './import-object.ts'
import { importKind } from './run.ts'

/**
 * The number of concurrent imports, and of additional ones for small files, so that these do not wait for large ones. The same
 * numbers apply to previews, for which a person is waiting. Each uses its own connection.
 */
const AT_ONCE = { any: 2, small: 1 }
/** Files up to this size, about 50,000 rows, take seconds. */
const SMALL_BYTES_MAX = 5_000_000

/** Runs imports and their previews, and deletes expired files. */
export async function importRuns({
  writing,
  config,
}: {
  writing: WriteServices
  config: Pick<Config, 'dataDirectory'>
}): Promise<RunWork> {
  const directory = importDirectory(config.dataDirectory)
  await deleteAbandonedFiles(directory, writing.clock().getTime())
  const isLarge = sql<boolean>`size_bytes > ${sql.lit(SMALL_BYTES_MAX)}`
  const lanes = [sql<boolean>`task <> 'preview'`, sql<boolean>`task = 'preview'`].flatMap((ofTask) => [
    { atOnce: AT_ONCE.any, only: ofTask, first: isLarge },
    { atOnce: AT_ONCE.small, only: sql<boolean>`${ofTask} AND NOT ${isLarge}` },
  ])
  return runWork(importKind({ writing, directory }), lanes, {
    ...IMPORT_ROWS,
    isDue: isExpired,
    handle: (tenant, importId, now) => expireImport(tenant, directory, importId, now),
  })
}
