import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { SocialConnector } from '../identities/social/connector.ts'
import { every, type Repeated } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { executeAction } from './actions/execute.ts'
import { ACTION_QUEUE } from './actions/queue.ts'
import { createSenders } from './actions/senders.ts'
import { RUN_QUEUE } from './runs/queue.ts'
import { sweepRuns, sweepSchedules } from './runs/sweep.ts'
import { workOnRun } from './runs/work.ts'

export const AGENT_QUEUES = [ACTION_QUEUE, RUN_QUEUE]

/** Concurrent executions in this process. Most of the time they wait for a mail server. */
const ACTIONS_AT_ONCE = 4
const RUNS_AT_ONCE = 2
const SWEEP_MS = 10_000

/** Executes approved actions, works on runs, queues scheduled ones, and restarts those of dead processes. */
export async function startAgentWorkers({
  stores,
  jobs,
  writing,
  mail,
  social,
  config,
  llmOutbound,
}: {
  stores: Stores
  jobs: Jobs
  writing: WriteDependencies
  mail: MailDependencies
  social: SocialConnector
  config: Pick<Config, 'llm'>
  llmOutbound: Pick<ApiFetch, 'fetch'>
}): Promise<Repeated> {
  const { clock, log } = writing
  const senders = createSenders(mail, { social, clock })
  await jobs.work(ACTION_QUEUE, ACTIONS_AT_ONCE, ({ tenantId, ...ref }) =>
    executeAction(openTenant(stores, tenantId), { ...writing, senders, jobs }, ref),
  )
  const stopping = new AbortController()
  const running = { ...writing, stores, jobs, llm: config.llm, llmOutbound }
  await jobs.work(RUN_QUEUE, RUNS_AT_ONCE, (job, { signal }) =>
    workOnRun(running, job, { signal: AbortSignal.any([signal, stopping.signal]) }),
  )
  const sweeping = every(SWEEP_MS, async () => {
    try {
      await sweepSchedules(running)
      await sweepRuns(running)
    } catch (error) {
      log.warn({ err: error }, 'scheduled or dead runs could not be checked; retrying shortly')
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
