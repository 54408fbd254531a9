import type { Jobs } from '../../platform/jobs/jobs.ts'
import { RUN_QUEUE } from './queue.ts'
import { type RunDependencies, workOnRun } from './work.ts'

const RUNS_AT_ONCE = 2

/** Lets this process work on runs. */
export async function workOnRuns(dependencies: RunDependencies & { jobs: Jobs }): Promise<void> {
  await dependencies.jobs.work(RUN_QUEUE, RUNS_AT_ONCE, (job, context) => workOnRun(dependencies, job, context))
}
