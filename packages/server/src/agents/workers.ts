import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { SocialConnector } from '../identities/social/connector.ts'
import type { Repeated } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { executeAction } from './actions/execute.ts'
import { ACTION_QUEUE } from './actions/queue.ts'
import { createSenders } from './actions/senders.ts'
import { startTriggerWorkers } from './triggers/look.ts'

export const AGENT_QUEUES = [ACTION_QUEUE]

/** Concurrent executions in this process. Most of the time they wait for a mail server. */
const ACTIONS_AT_ONCE = 4

/** Executes approved actions, and looks at the contacts that triggers have noticed. */
export async function startAgentWorkers({
  stores,
  jobs,
  writing,
  mail,
  social,
  log,
}: {
  stores: Stores
  jobs: Jobs
  writing: WriteDependencies
  mail: MailDependencies
  social: SocialConnector
  log: Logger
}): Promise<Repeated> {
  const senders = createSenders(mail, { social, clock: writing.clock })
  await jobs.work(ACTION_QUEUE, ACTIONS_AT_ONCE, ({ tenantId, ...ref }) =>
    executeAction(openTenant(stores, tenantId), { ...writing, senders, jobs }, ref),
  )
  return startTriggerWorkers({ stores, clock: writing.clock, log })
}
