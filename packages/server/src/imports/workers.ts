import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { type Repeated, STOPS_WITH_QUEUE } from '../platform/every.ts'
import type { JobContext, Jobs, TenantJob } from '../platform/jobs/jobs.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { expireImport } from './expire.ts'
import { deleteAbandonedFiles, importDirectory } from './files.ts'
import { EXPIRE_IMPORT, IMPORT, PREVIEW, SMALL } from './jobs.ts'
import { runImport } from './run.ts'

export const IMPORT_QUEUES = [EXPIRE_IMPORT, IMPORT, PREVIEW]

/**
 * The number of concurrent imports, and of additional ones for small files, so that these do not wait for large ones. The same
 * numbers apply to previews. Each uses its own connection.
 */
const AT_ONCE = { any: 2, small: 1 }

/** Runs imports and their previews, and deletes expired files. */
export async function startImportWorkers({
  stores,
  jobs,
  writing,
  config,
}: {
  stores: Stores
  jobs: Jobs
  writing: WriteServices
  config: Pick<Config, 'dataDirectory'>
}): Promise<Repeated> {
  const { clock } = writing
  const directory = importDirectory(config.dataDirectory)
  await deleteAbandonedFiles(directory, clock().getTime())
  for (const queue of [IMPORT, PREVIEW]) {
    const run = ({ tenantId, importId }: TenantJob & { importId: string }, { signal }: JobContext) =>
      runImport(openTenant(stores, tenantId), { writing, directory }, importId, signal)
    await jobs.work(queue, AT_ONCE.any, run)
    await jobs.work(queue, AT_ONCE.small, run, { minPriority: SMALL })
  }
  await jobs.work(EXPIRE_IMPORT, 1, ({ tenantId, importId }) =>
    expireImport(openTenant(stores, tenantId), { jobs, clock, directory }, importId),
  )
  return STOPS_WITH_QUEUE
}
