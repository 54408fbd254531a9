import type { WriteDependencies } from '../../contacts/change-log.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Senders } from './senders.ts'

/** What carries actions out. */
export interface ExecutionDependencies extends WriteDependencies {
  jobs: Pick<Jobs, 'send'>
  senders: Senders
}
