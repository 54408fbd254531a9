import { every, type Repeated } from '../platform/every.ts'
import type { Sweeping } from '../platform/jobs/jobs.ts'
import { sweepSchedules } from './runs/sweep.ts'

const SWEEP_MS = 10_000

/** Queues due exports. */
export function startWarehouseSchedules({
  stores,
  jobs,
  clock,
  log,
  sweepMs,
}: Sweeping & { sweepMs: { warehouse?: number } }): Repeated {
  return every(sweepMs.warehouse ?? SWEEP_MS, async () => {
    try {
      await sweepSchedules({ stores, jobs, clock, log })
    } catch (error) {
      log.warn({ err: error }, 'schedules of warehouse exports could not be checked; retrying shortly')
    }
  })
}
