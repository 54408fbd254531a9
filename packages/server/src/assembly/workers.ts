import { AGENT_QUEUES, startAgentWorkers } from '../agents/workers.ts'
import { startDeletionWorkers } from '../closing/workers.ts'
import { people } from '../companies/people.ts'
import type { Config } from '../config.ts'
import { CONNECTOR_QUEUES, startConnectorWorkers } from '../connectors/workers.ts'
import { startConversationWorkers } from '../conversations/workers.ts'
import { ERASURE_QUEUES, startErasureWorkers } from '../erasure/workers.ts'
import { startHookWorkers } from '../hooks/workers.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import { IDENTITY_QUEUES, startIdentityWorkers } from '../identities/workers.ts'
import { IMPORT_QUEUES, startImportWorkers } from '../imports/workers.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { type Cleanup, type Repeated, undoAll } from '../platform/every.ts'
import type { JobQueue, Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Clock } from '../platform/time.ts'
import { EXPORT_QUEUES, startExportWorkers } from '../tenant-export/workers.ts'
import { startWarehouseWorkers, WAREHOUSE_QUEUES } from '../warehouse/workers.ts'
import { startWebhookWorkers } from '../webhooks/workers.ts'
import type { Connections } from './connections.ts'
import type { Engines } from './engines.ts'
import { COUNTERS, ERASERS } from './erasers.ts'
import type { Recording } from './recording.ts'
import { startRetention } from './retention.ts'

/** Every queue of jobs, so that the command line can send to each. */
export const QUEUES: readonly JobQueue<object>[] = [
  ...AGENT_QUEUES,
  ...CONNECTOR_QUEUES,
  ...ERASURE_QUEUES,
  ...EXPORT_QUEUES,
  ...IDENTITY_QUEUES,
  ...IMPORT_QUEUES,
  ...WAREHOUSE_QUEUES,
]

/** How often due work is looked for, in milliseconds, in place of what each feature chose. */
export interface SweepMs {
  connectors?: number
  warehouse?: number
}

/** What workers can use; each feature's workers take what they need. */
interface Context
  extends Omit<Engines, 'close'>,
    Omit<Connections, 'close'>,
    Pick<Recording, 'writing' | 'recordCalls' | 'recordHistory'> {
  config: Config
  invalidation: Invalidation
  jobs: Jobs
  secrets: SecretBox
  mail: MailDependencies
  clock: Clock
  log: Logger
  metrics: Metrics
  sweepMs: SweepMs
}

/** What each feature does in the background. */
const WORKERS: readonly ((context: Context) => Repeated | Promise<Repeated>)[] = [
  startRetention,
  startExportWorkers,
  startImportWorkers,
  (context) => startErasureWorkers({ ...context, erasers: ERASERS, counters: COUNTERS }),
  startIdentityWorkers,
  startAgentWorkers,
  startConversationWorkers,
  startConnectorWorkers,
  startHookWorkers,
  startWarehouseWorkers,
  startDeletionWorkers,
]

/** Starts everything that works in the background. */
export async function startWorkers(context: Context) {
  const cleanup: Cleanup = []
  const stop = () => undoAll(cleanup)
  try {
    // Started apart from the others, because tests wake it and stop it.
    const deliveryWorker = await startWebhookWorkers({ ...context, people })
    cleanup.push(deliveryWorker.stop)
    for (const start of WORKERS) cleanup.push((await start(context)).stop)
    return { deliveryWorker, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
