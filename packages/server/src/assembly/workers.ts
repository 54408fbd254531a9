import type { ModelDoor } from '../agents/reasoning/model-view.ts'
import { agentRuns } from '../agents/runs/work.ts'
import { AGENT_QUEUES, startAgentWorkers } from '../agents/workers.ts'
import { startAlertWorkers } from '../alerts/workers.ts'
import { startDeletionWorkers } from '../closing/workers.ts'
import { people } from '../companies/people.ts'
import { startComputedWorkers } from '../computed/work.ts'
import type { Config } from '../config.ts'
import { CONNECTOR_QUEUES, startConnectorWorkers } from '../connectors/workers.ts'
import { startConversationWorkers } from '../conversations/workers.ts'
import { startDuplicateWorkers } from '../duplicates/checks.ts'
import { startProviderWorkers } from '../enrichment/providers/queue.ts'
import { enrichmentRuns } from '../enrichment/runs/work.ts'
import { erasureRuns } from '../erasure/workers.ts'
import { startHookWorkers } from '../hooks/workers.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import { IDENTITY_QUEUES, startIdentityWorkers } from '../identities/workers.ts'
import { importRuns } from '../imports/workers.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { type Cleanup, eachAlone, every, type Repeated, undoAll } from '../platform/every.ts'
import type { JobQueue, Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { deleteOldRows } from '../platform/postgres/retention.ts'
import { type RunWork, startRunWorkers } from '../platform/runs/workers.ts'
import { type Clock, HOUR_MS } from '../platform/time.ts'
import { startMondayMails } from '../reports/workers.ts'
import { INSIGHT_SERVICES } from '../segments/events.ts'
import { exportRuns } from '../tenant-export/run.ts'
import { warehouseRuns } from '../warehouse/runs/work.ts'
import { startWebhookWorkers } from '../webhooks/workers.ts'
import type { Connections } from './connections.ts'
import type { Engines } from './engines.ts'
import { LIST_FILTERS } from './list-filters.ts'
import type { Recording } from './recording.ts'
import { TABLES } from './tables.ts'

/** Every queue of jobs, so that the command line can send to each. */
export const QUEUES: readonly JobQueue<object>[] = [...AGENT_QUEUES, ...CONNECTOR_QUEUES, ...IDENTITY_QUEUES]

/** How often due work is looked for, in milliseconds, in place of what each feature chose. */
export interface SweepMs {
  connectors?: number
}

/** What workers can use; each feature's workers take what they need. */
interface Context
  extends Omit<Engines, 'close'>,
    Omit<Connections, 'close'>,
    Pick<Recording, 'writing' | 'recordCalls' | 'recordHistory'> {
  config: Config
  invalidation: Invalidation
  jobs: Jobs
  modelDoor: ModelDoor
  secrets: SecretBox
  mail: MailDependencies
  clock: Clock
  log: Logger
  metrics: Metrics
  sweepMs: SweepMs
}

const RETENTION_MS = HOUR_MS

/** Deletes expired and unused rows every hour. Deletions that depend on a setting, or run more often, are among their feature's workers. */
function startRetention({ stores: { database }, clock, log }: Context): Repeated {
  return every(RETENTION_MS, async () => {
    const failures = await eachAlone(TABLES, (table) => deleteOldRows(database, table, clock()))
    for (const err of failures) log.warn({ err }, 'old rows could not be deleted; retrying in an hour')
  })
}

/** What each feature does in the background. */
const WORKERS: readonly ((context: Context) => Repeated | Promise<Repeated>)[] = [
  startRetention,
  startIdentityWorkers,
  startAgentWorkers,
  startConversationWorkers,
  startConnectorWorkers,
  startHookWorkers,
  startDeletionWorkers,
  startDuplicateWorkers,
  startComputedWorkers,
  (context) => startProviderWorkers({ ...context, ...context.writing }),
  (context) => startAlertWorkers({ ...context, ...INSIGHT_SERVICES }),
  (context) => startMondayMails({ ...context, ...INSIGHT_SERVICES }),
]

/** The kinds of runs. */
const RUNS: readonly ((context: Context) => RunWork | Promise<RunWork>)[] = [
  exportRuns,
  importRuns,
  erasureRuns,
  warehouseRuns,
  (context) => enrichmentRuns({ ...context, listFilters: LIST_FILTERS }),
  (context) => agentRuns({ ...context, ...context.writing, ...context.config }),
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
    const runs = await Promise.all(RUNS.map((kindOf) => kindOf(context)))
    cleanup.push((await startRunWorkers(context, runs)).stop)
    return { deliveryWorker, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
