import type { Config } from '../config.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { type Repeated, STOPS_WITH_QUEUE } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { EXPIRE, EXPORT, expireExports, exportDirectory } from './exports.ts'
import { runExport } from './run.ts'

export const EXPORT_QUEUES = [EXPIRE, EXPORT]

/** Writes requested exports and deletes expired ones. */
export async function startExportWorkers({
  stores,
  jobs,
  clock,
  log,
  config,
}: {
  stores: Stores
  jobs: Jobs
  clock: Clock
  log: Logger
  config: Pick<Config, 'dataDirectory'>
}): Promise<Repeated> {
  const directory = exportDirectory(config.dataDirectory)
  await jobs.work(EXPORT, 1, ({ tenantId, exportId }, { signal }) =>
    runExport(openTenant(evenIfClosed(stores), tenantId), { jobs, clock, log, directory }, exportId, signal),
  )
  await jobs.work(EXPIRE, 1, async ({ tenantId, exportId }) => {
    await expireExports(openTenant(evenIfClosed(stores), tenantId), directory, exportId)
  })
  return STOPS_WITH_QUEUE
}
