import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { deleteImportFiles } from '../imports/expire.ts'
import { importDirectory } from '../imports/files.ts'
import type { Projector } from '../journal/projector.ts'
import { type Repeated, STOPS_WITH_QUEUE } from '../platform/every.ts'
import { deleteJobs, type Jobs } from '../platform/jobs/jobs.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { expireExports, exportDirectory } from '../tenant-export/exports.ts'
import { runErasure } from './erase.ts'
import { createEventEraser } from './erase-events.ts'
import { ERASE } from './erasures.ts'

export const ERASURE_QUEUES = [ERASE]

/** ClickHouse deletes the events of several people in one mutation, which costs hardly more than for one person. */
const ERASURES_AT_ONCE = 8

/** Processes requested erasures, with the erasers of all features. */
export async function startErasureWorkers({
  stores,
  projector,
  jobs,
  writing,
  config,
}: {
  stores: Stores
  projector: Projector
  jobs: Jobs
  writing: WriteDependencies
  config: Pick<Config, 'clickhouseCluster' | 'dataDirectory'>
}): Promise<Repeated> {
  const { clickhouseCluster, dataDirectory } = config
  const dependencies = {
    jobs,
    writing,
    events: createEventEraser({ ...stores, cluster: clickhouseCluster, projector }),
    deleteJobs: (tenantId: string, texts: readonly string[]) => deleteJobs(stores.database, tenantId, texts),
    deleteExportFiles: (tenant: Tenant) => expireExports(tenant, exportDirectory(dataDirectory)),
    deleteImportFiles: (tenant: Tenant, uploadedBefore: Date) =>
      deleteImportFiles(tenant, importDirectory(dataDirectory), uploadedBefore, writing.clock()),
  }
  await jobs.work(ERASE, ERASURES_AT_ONCE, ({ tenantId, erasureId }) =>
    runErasure(openTenant(stores, tenantId), dependencies, erasureId),
  )
  return STOPS_WITH_QUEUE
}
