import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { type Repeated, STOPS_WITH_QUEUE } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { expireImport } from './expire.ts'
import { deleteAbandonedFiles, importDirectory } from './files.ts'
import { EXPIRE_IMPORT, IMPORT, PREVIEW } from './jobs.ts'
import { runImport } from './run.ts'

export const IMPORT_QUEUES = [EXPIRE_IMPORT, IMPORT, PREVIEW]

/** Imports at work at a time, and as many previews: each has a connection of its own. */
const AT_ONCE = 2

/** Runs imports and their previews, and deletes expired files. */
export async function startImportWorkers({
  stores,
  jobs,
  writing,
  config,
}: {
  stores: Stores
  jobs: Jobs
  writing: WriteDependencies
  config: Pick<Config, 'dataDirectory'>
}): Promise<Repeated> {
  const dependencies = { jobs, writing, directory: importDirectory(config.dataDirectory) }
  await deleteAbandonedFiles(dependencies.directory, writing.clock().getTime())
  for (const queue of [IMPORT, PREVIEW]) {
    await jobs.work(queue, AT_ONCE, ({ tenantId, importId }, { signal }) =>
      runImport(openTenant(stores, tenantId), dependencies, importId, signal),
    )
  }
  await jobs.work(EXPIRE_IMPORT, 1, ({ tenantId, importId }) =>
    expireImport(openTenant(stores, tenantId), dependencies, importId),
  )
  return STOPS_WITH_QUEUE
}
