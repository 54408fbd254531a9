import type { Config } from '../config.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { every, type Repeated } from '../platform/every.ts'
import type { JobContext, Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import type { Transfer } from '../platform/outbound/transfer.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { WAREHOUSE_QUEUE } from './runs/requests.ts'
import { sweepRuns, sweepSchedules } from './runs/sweep.ts'
import { workOnRun } from './runs/work.ts'

export const WAREHOUSE_QUEUES = [WAREHOUSE_QUEUE]

/** The number of concurrent runs in this process. Each keeps a file in memory. */
const RUNS_AT_ONCE = 2
const SWEEP_MS = 10_000

/** Starts due exports, and continues those of dead processes. */
export async function startWarehouseWorkers({
  stores,
  jobs,
  clock,
  log,
  secrets,
  storageTransfer,
  config,
  sweepMs,
}: {
  stores: Stores
  jobs: Jobs
  clock: Clock
  log: Logger
  secrets: SecretBox
  storageTransfer: Transfer
  config: Pick<Config, 'warehouseDirectory'>
  sweepMs: { warehouse?: number }
}): Promise<Repeated> {
  const { warehouseDirectory } = config
  const running = { jobs, clock, log, secrets, storageTransfer, warehouseDirectory }
  const stopping = new AbortController()
  const work = ({ tenantId, runId }: { tenantId: string; runId: string }, { signal }: JobContext) =>
    workOnRun(openTenant(stores, tenantId), running, runId, AbortSignal.any([signal, stopping.signal]))
  // The claim allows one run of a tenant at a time: a second job would only occupy a worker that other tenants need.
  await jobs.work(WAREHOUSE_QUEUE, RUNS_AT_ONCE, work, { groupConcurrency: 1 })
  const sweeping = every(sweepMs.warehouse ?? SWEEP_MS, async () => {
    try {
      await sweepSchedules({ stores, jobs, clock, log })
      await sweepRuns({ stores, jobs, clock, log })
    } catch (error) {
      log.warn({ err: error }, 'warehouse exports could not be checked; retrying shortly')
    }
  })
  return {
    // The queue waits for the jobs in progress, which release their runs.
    stop: async () => {
      stopping.abort()
      await sweeping.stop()
    },
  }
}
