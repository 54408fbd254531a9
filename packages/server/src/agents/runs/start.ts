import { every } from '../../platform/every.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { RUN_QUEUE } from './queue.ts'
import { sweepRuns, sweepSchedules } from './sweep.ts'
import { type RunDependencies, workOnRun } from './work.ts'

const RUNS_AT_ONCE = 2
const SWEEP_MS = 10_000

/** Lets this process work on runs, and look after schedules and after runs that others left behind. */
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
      log.warn({ err: error }, 'schedules and runs could not be looked after; it is tried again shortly')
    }
  })
  return {
    // The queue waits for the work under way, which is given back with what is left of it.
    stop: async () => {
      stopping.abort()
      await sweeping.stop()
    },
  }
}
