import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { SocialConnector } from '../identities/social/connector.ts'
import { every, type Repeated } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { executeAction } from './actions/execute.ts'
import { ACTION_QUEUE } from './actions/queue.ts'
import { createSenders } from './actions/senders.ts'
import { failStuckRuns, sweepSchedules } from './runs/sweep.ts'

export const AGENT_QUEUES = [ACTION_QUEUE]

/** Concurrent executions in this process. Most of the time they wait for a mail server. */
const ACTIONS_AT_ONCE = 4
const SWEEP_MS = 10_000

/** Executes approved actions, queues scheduled runs, and ends those that are stuck. */
export async function startAgentWorkers({
  stores,
  jobs,
  writing,
  mail,
  social,
}: {
  stores: Stores
  jobs: Jobs
  writing: WriteDependencies
  mail: MailDependencies
  social: SocialConnector
}): Promise<Repeated> {
  const { clock, log } = writing
  const senders = createSenders(mail, { social, clock })
  await jobs.work(ACTION_QUEUE, ACTIONS_AT_ONCE, ({ tenantId, ...ref }) =>
    executeAction(openTenant(stores, tenantId), { ...writing, senders, jobs }, ref),
  )
  return every(SWEEP_MS, async () => {
    try {
      await sweepSchedules({ stores, jobs, clock, log })
      await failStuckRuns({ stores, clock, log })
    } catch (error) {
      log.warn({ err: error }, 'scheduled or stuck runs could not be checked; retrying shortly')
    }
  })
}
