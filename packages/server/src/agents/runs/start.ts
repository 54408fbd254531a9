import { every } from '../../platform/every.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { RUN_QUEUE } from './queue.ts'
import { sweepRuns, sweepSchedules } from './sweep.ts'
import { type RunDependencies, workOnRun } from './work.ts'

const RUNS_AT_ONCE = 2
const SWEEP_MS = 10_000

/** Works on runs in this process, queues scheduled ones, and restarts those of dead processes. */
export async function startAgents(dependencies: RunDependencies & { jobs: Jobs }): Promise<{ stop(): Promise<void> }> {
  const { jobs, log } = dependencies
  const stopping = new AbortController()
  await jobs.work(RUN_QUEUE, RUNS_AT_ONCE, (job, { signal }) =>
    workOnRun(dependencies, job, { signal: AbortSignal.any([signal, stopping.signal]) }),
  )
  const sweeping = every(SWEEP_MS, async () => {
    try {
      await sweepSchedules(dependencies)
      await sweepRuns(dependencies)
    } catch (error) {
      log.warn({ err: error }, 'scheduled or dead runs could not be checked; retrying shortly')
    }
  })
  return {
    // The queue waits for the jobs under way, which release their runs.
    stop: async () => {
      stopping.abort()
      await sweeping.stop()
    },
  }
}
