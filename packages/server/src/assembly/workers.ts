import { ACTION_QUEUE } from '../agents/actions/queue.ts'
import { createSenders } from '../agents/actions/senders.ts'
import { workOnActions } from '../agents/actions/worker.ts'
import { RUN_QUEUE } from '../agents/runs/queue.ts'
import { startAgents } from '../agents/runs/start.ts'
import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { PULL_QUEUE } from '../conversations/intercom/schedule.ts'
import { startReceiving } from '../conversations/receive.ts'
import { startErasures } from '../erasure/erase.ts'
import { createEventEraser } from '../erasure/erase-events.ts'
import { ERASE } from '../erasure/erasures.ts'
import { EVENTS_TABLE, OWNER_LINKS_TABLE } from '../events/table.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import { startSocialLogins } from '../identities/social/open.ts'
import { SOCIAL_LOGINS } from '../identities/social/sessions.ts'
import { onCluster, storageTable, type TableDefinition } from '../platform/clickhouse/tables.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import { forgetJobs } from '../platform/jobs/forget.ts'
import type { JobQueue, Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Clock } from '../platform/time.ts'
import { EXPIRE, EXPORT, expireExports, exportDirectory } from '../tenant-export/exports.ts'
import { startExports } from '../tenant-export/run.ts'
import { startDeliveryRetention } from '../webhooks/queue/retention.ts'
import { startDeliveryWorker } from '../webhooks/queue/worker.ts'
import type { Connections } from './connections.ts'
import type { Engines } from './engines.ts'
import { COUNTERS, ERASERS } from './erasers.ts'
import { startRetention } from './retention.ts'

/** Every queue of jobs, so that the command line can send to each. */
export const QUEUES: readonly JobQueue<object>[] = [
  ACTION_QUEUE,
  ERASE,
  EXPIRE,
  EXPORT,
  PULL_QUEUE,
  RUN_QUEUE,
  SOCIAL_LOGINS,
]

interface Dependencies {
  engines: Engines
  connections: Connections
  config: Config
  invalidation: Invalidation
  jobs: Jobs
  secrets: SecretBox
  writing: WriteDependencies
  mail: MailDependencies
  clock: Clock
  log: Logger
  metrics: Metrics
  /** Where Intercom is; for tests. */
  intercomUrl: string | undefined
}

/** Starts everything that works in the background. */
export async function startWorkers(dependencies: Dependencies) {
  const { engines, connections, config, invalidation, jobs, secrets, writing, mail, clock, log } = dependencies
  const { stores } = engines
  const { outbound, llmOutbound, social } = connections
  const cleanup: Cleanup = []
  const stop = () => undoAll(cleanup)
  try {
    const deliveryWorker = startDeliveryWorker({ stores, outbound, secrets, clock, log, metrics: dependencies.metrics })
    cleanup.push(deliveryWorker.stop)
    invalidation.onWork(deliveryWorker.wake)
    cleanup.push(startDeliveryRetention(stores.database, config.webhookRetentionDays, clock, log).stop)
    cleanup.push(startRetention(stores.database, clock, log).stop)

    await startTasks(dependencies)
    const socialLogins = await startSocialLogins({ stores, social, jobs, secrets, clock, log })
    cleanup.push(socialLogins.stop)
    await workOnActions(stores, jobs, { ...writing, senders: createSenders(mail, { social, clock }) })
    const agents = await startAgents({ ...writing, stores, jobs, llm: config.llm, llmOutbound })
    cleanup.push(agents.stop)
    const { intercomUrl } = dependencies
    const receiving = await startReceiving({ config, stores, mail, api: connections.messagingApi, jobs, intercomUrl })
    cleanup.push(receiving.stop)
    invalidation.onChange(receiving.checkMailboxes)
    return { deliveryWorker, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The long tasks that people start: erasures and exports. */
async function startTasks({ engines, config, jobs, writing, clock, log }: Dependencies): Promise<void> {
  const { stores, projector } = engines
  const directory = exportDirectory(config.dataDirectory)
  // Deletions in ClickHouse must name the tables that store the rows.
  const storageOf = (table: TableDefinition) =>
    `${storageTable(table, config.clickhouseCluster)}${onCluster(config.clickhouseCluster)}`
  const storage = { events: storageOf(EVENTS_TABLE), owner_links: storageOf(OWNER_LINKS_TABLE) }
  await startExports({ stores, jobs, clock, log, directory })
  await startErasures({
    stores,
    jobs,
    writing,
    erasers: ERASERS,
    counters: COUNTERS,
    events: createEventEraser({ ...stores, storage, projector }),
    forgetJobs: (tenantId, texts) => forgetJobs(stores.database, tenantId, texts),
    forgetExports: (tenant) => expireExports(tenant, directory),
  })
}
