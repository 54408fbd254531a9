import type { Repeated } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { SOCIAL_LOGINS } from './social/sessions.ts'
import { runStep, type StepDependencies } from './social/steps.ts'
import { startSweeping } from './social/sweep.ts'

export const IDENTITY_QUEUES = [SOCIAL_LOGINS]

/** Concurrent steps of logins in this process. Each is one short call. */
const STEPS_AT_ONCE = 4

/** Processes logins to the social network. Several processes may do this at the same time. */
export async function startIdentityWorkers(dependencies: StepDependencies & { jobs: Jobs }): Promise<Repeated> {
  const stopping = new AbortController()
  const sweeping = startSweeping(dependencies)
  await dependencies.jobs.work(SOCIAL_LOGINS, STEPS_AT_ONCE, (job, { signal }) =>
    runStep(dependencies, job, AbortSignal.any([signal, stopping.signal])),
  )
  return {
    // Aborts calls in progress. The next worker repeats them.
    stop: async () => {
      stopping.abort()
      await sweeping.stop()
    },
  }
}
