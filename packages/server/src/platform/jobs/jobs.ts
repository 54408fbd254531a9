import { fromKysely, PgBoss, type QueueOptions, type SendOptions } from 'pg-boss'
import { every } from '../every.ts'
import type { Logger } from '../log.ts'
import type { PostgresAddress } from '../postgres/address.ts'
import type { Tenant } from '../tenant.ts'

const SCHEMA = 'pgboss'
const CONNECTIONS_MAX = 4
/** A job that can be done at once is announced with NOTIFY. Those that wait for their time are looked for, all together. */
const LOOK_EVERY_MS = 2_000
/** pg-boss lets each worker of each queue poll by itself: often only where NOTIFY does not get through. */
const POLL_SECONDS = { withoutNotify: 2, withNotify: 60 }
const STOP_TIMEOUT_MS = 20_000

/** Every job carries its tenant, which opens the handle that the work is done with. */
export interface TenantJob {
  tenantId: string
}

/** A queue, declared once by the feature that works on it. `Data` is what a job carries beside its tenant. */
export interface JobQueue<Data extends object> {
  name: string
  options: QueueOptions & { policy?: 'standard' | 'short' | 'singleton' | 'stately' | 'exclusive' }
  /** Never set: it carries the type. */
  readonly data?: Data
}

export interface JobContext {
  jobId: string
  /** Aborted when the process stops or the job has taken longer than its queue allows. */
  signal: AbortSignal
}

/** Work that outlives a request: kept in PostgreSQL, done by any process, done again when its process dies. */
export interface Jobs {
  /**
   * Queues a job in the tenant's transaction, when the handle is inside one: it exists only if that commits.
   * @returns its id, or null when the queue's policy or `singletonKey` says that there is one already.
   */
  send<Data extends object>(
    tenant: Tenant,
    queue: JobQueue<Data>,
    data: Data,
    options?: Omit<SendOptions, 'db'>,
  ): Promise<string | null>
  /** Takes away jobs that have not finished; a running one is told through its signal. */
  cancel(tenant: Tenant, queue: JobQueue<object>, jobId: string): Promise<void>
  /** Works on a queue here, `concurrency` jobs at a time. A handler that throws is tried again as the queue says. */
  work<Data extends object>(
    queue: JobQueue<Data>,
    concurrency: number,
    handler: (data: Data & TenantJob, context: JobContext) => Promise<void>,
  ): Promise<void>
  /**
   * When a cron expression of five fields comes due next, by the queue's own reading of it.
   * @returns null for what is no such expression, and for one that never comes due.
   */
  nextTime(cron: string, timeZone: string, after: Date): Date | null
  stop(): Promise<void>
}

/** Five fields. A hashed one (`H`) would mean another time at each reading. */
const CRON = /^(?!.*(^|[\s,])H)[0-9A-Za-z*?,/#-]+(\s+[0-9A-Za-z*?,/#-]+){4}$/

/** The queues, of some, that have a job whose time has come. */
const DUE = `SELECT queue.name FROM unnest($1::text[]) AS queue (name) WHERE EXISTS (
  SELECT FROM ${SCHEMA}.job WHERE job.name = queue.name AND job.state < 'active' AND job.start_after <= now())`

/** Declares a queue. */
export function jobQueue<Data extends object>(name: string, options: JobQueue<Data>['options']): JobQueue<Data> {
  return { name, options }
}

/**
 * Opens the queues, which pg-boss keeps in a schema of its own beside the service's tables.
 * @param queues every queue there is; a job can only be sent to one of them.
 * @param works false where jobs are only sent (the command line).
 */
export async function openJobs(
  address: PostgresAddress,
  queues: readonly JobQueue<object>[],
  log: Logger,
  works = true,
): Promise<Jobs> {
  const boss = new PgBoss({
    ...address,
    schema: SCHEMA,
    max: CONNECTIONS_MAX,
    application_name: 'customer-data-service jobs',
    supervise: works,
    useListenNotify: works,
    schedule: false,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'the job queue met an error; it goes on'))
  await boss.start()
  for (const { name, options } of queues) await boss.createQueue(name, { ...options, notify: true })
  const workers = new Map<string, string[]>()
  const wakeAll = (queue: string) => {
    for (const workerId of workers.get(queue) ?? []) boss.notifyWorker(workerId)
  }
  const looking = every(LOOK_EVERY_MS, async () => {
    try {
      const { rows } = await boss.getDb().executeSql(DUE, [[...workers.keys()]])
      for (const { name } of rows) wakeAll(name)
    } catch (error) {
      log.warn({ err: error }, 'jobs that are due could not be looked for; it is tried again')
    }
  })
  return {
    send: (tenant, { name }, data, options) =>
      boss.send(name, { ...data, tenantId: tenant.id }, { ...options, db: fromKysely(tenant.jobsDatabase) }),
    cancel: async (tenant, { name }, jobId) => {
      await boss.cancel(name, jobId, { db: fromKysely(tenant.jobsDatabase) })
    },
    work: async (queue, concurrency, handler) => {
      type Data = NonNullable<typeof queue.data> & TenantJob
      const options = {
        batchSize: 1,
        pollingIntervalSeconds: POLL_SECONDS.withoutNotify,
        notifyPollingIntervalSeconds: POLL_SECONDS.withNotify,
      }
      for (let worker = 0; worker < concurrency; worker++) {
        let workerId = ''
        workerId = await boss.work<Data>(queue.name, options, async ([job]) => {
          if (!job) return
          // Where there was one there may be more: by itself it would rest until the next poll, after every job.
          boss.notifyWorker(workerId)
          await handler(job.data, { jobId: job.id, signal: job.signal })
        })
        workers.set(queue.name, [...(workers.get(queue.name) ?? []), workerId])
      }
    },
    nextTime: (cron, timeZone, after) => {
      if (!CRON.test(cron)) return null
      try {
        return boss.previewSchedule(cron, { tz: timeZone, from: after, count: 1 })[0] ?? null
      } catch {
        return null
      }
    },
    stop: async () => {
      await looking.stop()
      await boss.stop({ graceful: true, timeout: STOP_TIMEOUT_MS, close: true })
    },
  }
}
