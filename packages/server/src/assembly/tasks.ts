import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { startErasures } from '../erasure/erase.ts'
import { createEventEraser } from '../erasure/erase-events.ts'
import { ERASE } from '../erasure/erasures.ts'
import type { JournalTable } from '../journal/append.ts'
import type { Projector } from '../journal/projector.ts'
import { forgetJobs } from '../platform/jobs/forget.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import type { Stores } from '../platform/tenant.ts'
import { EXPIRE, EXPORT, expireExports, exportDirectory } from '../tenant-export/exports.ts'
import { startExports } from '../tenant-export/run.ts'
import { COUNTERS, ERASERS } from './erasers.ts'

/** The queues of long tasks that people start in the dashboard. */
export const TASK_QUEUES = [ERASE, EXPORT, EXPIRE]

interface Dependencies {
  stores: Stores
  jobs: Jobs
  writing: WriteDependencies
  projector: Projector
  /** The ClickHouse tables that deletions must name. */
  storage: Record<JournalTable, string>
  config: Config
  log: Logger
}

/** Starts the workers for erasures and exports. */
export async function startTasks({
  stores,
  jobs,
  writing,
  projector,
  storage,
  config,
  log,
}: Dependencies): Promise<void> {
  const directory = exportDirectory(config.dataDirectory)
  await startExports({ stores, jobs, clock: writing.clock, log, directory })
  await startErasures({
    erasers: ERASERS,
    counters: COUNTERS,
    stores,
    jobs,
    writing,
    events: createEventEraser({ ...stores, storage, projector }),
    forgetJobs: (tenantId, texts) => forgetJobs(stores.database, tenantId, texts),
    forgetExports: (tenant) => expireExports(tenant, directory),
  })
}
