import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { fromKysely, getConstructionPlans, PgBoss, type QueueOptions, type SendOptions } from 'pg-boss'
import { every } from '../every.ts'
import type { Logger } from '../log.ts'
import type { PostgresAddress } from '../postgres/address.ts'
import type { Database } from '../postgres/database.ts'
import { objectsOf } from '../postgres/schema.ts'
import type { Stores, Tenant } from '../tenant.ts'
import type { Clock } from '../time.ts'

const SCHEMA = 'pgboss'
/** The tables and functions of the queues, which pg-boss creates when they are opened. */
export const JOB_OBJECTS = objectsOf(getConstructionPlans(SCHEMA))
const CONNECTIONS_MAX = 4
/** How often due jobs of all queues are polled; NOTIFY announces jobs that can start at once. */
const POLL_EVERY_MS = 2_000
/**
 * In pg-boss each worker of each queue polls separately; frequent polling is needed only if NOTIFY is not available.
 */
const POLL_SECONDS = { withoutNotify: 2, withNotify: 60 }
/** How long a stop waits for the jobs under way, which then fail and are repeated. */
const STOP_TIMEOUT_MS = 20_000

/** Every job has its tenant, whose handle is passed to the handler. */
export interface TenantJob {
  tenantId: string
}

/** A queue, declared once by its feature. `Data` is the job's data besides its tenant. */
export interface JobQueue<Data extends object> {
  name: string
  options: QueueOptions & { policy?: 'exclusive' }
  /** Whether its jobs also run while their tenant is closed. The others wait until it is reopened. */
  evenIfClosed?: true
  /** Never set; only for the type. */
  readonly data?: Data
}

export interface JobContext {
  /** Aborted when the process stops or the job has taken longer than its queue allows. */
  signal: AbortSignal
}

/** Work that outlives a request: stored in PostgreSQL, run by any process, repeated if its process dies. */
export interface Jobs {
  /**
   * Queues a job in the tenant's transaction, when the handle is inside one: it exists only if that commits.
   * @returns its id, or null if one already exists under the queue's policy or `singletonKey`.
   */
  send<Data extends object>(
    tenant: Tenant,
    queue: JobQueue<Data>,
    data: Data,
    options?: Omit<SendOptions, 'db'>,
  ): Promise<string | null>
  /**
   * Processes a queue, `concurrency` jobs at a time. If the handler throws, the job is retried under the queue's
   * policy.
   */
  work<Data extends object>(
    queue: JobQueue<Data>,
    concurrency: number,
    handler: (data: Data & TenantJob, context: JobContext) => Promise<void>,
  ): Promise<void>
  /**
   * The next time of a five-field cron expression, as the queue parses it.
   * @returns null for an invalid expression, and for one that is never due.
   */
  nextTime(cron: string, timeZone: string, after: Date): Date | null
  stop(): Promise<void>
}

/** What sends jobs that other processes work on. */
export type JobSender = Pick<Jobs, 'send' | 'nextTime'>

/** What a sweep needs: it queues jobs for the rows of all tenants that are due, or whose job was lost. */
export interface Sweeping {
  stores: Stores
  jobs: Pick<Jobs, 'send' | 'nextTime'>
  clock: Clock
  log: Logger
}

/** Five fields, without hashed ones (`H`), whose time would differ at each parse. */
const CRON = /^(?!.*(^|[\s,])H)[0-9A-Za-z*?,/#-]+(\s+[0-9A-Za-z*?,/#-]+){4}$/

/** The queues that have a due job. */
const DUE = `SELECT queue.name FROM unnest($1::text[]) AS queue (name) WHERE EXISTS (
  SELECT FROM ${SCHEMA}.job WHERE job.name = queue.name AND job.state < 'active' AND job.start_after <= now())`

/**
 * Lets a running job wait for its tenant to be reopened. It counts as not started, so that the interruption costs it none
 * of its retries.
 */
const PARK = `UPDATE ${SCHEMA}.job SET state = 'created', started_on = NULL, heartbeat_on = NULL,
  start_after = 'infinity', keep_until = 'infinity' WHERE name = $1 AND id = $2 AND state = 'active'`
/** How long a job of a reopened tenant may wait to be started; pg-boss deletes it then. */
const KEPT_DAYS = 14

/** Lets the jobs start that wait since their tenant was closed. */
export async function resumeJobs(database: Database, tenantId: string): Promise<void> {
  await sql`UPDATE pgboss.job SET start_after = now(), keep_until = now() + make_interval(days => ${KEPT_DAYS})
    WHERE data ->> 'tenantId' = ${tenantId} AND state < 'active' AND start_after = 'infinity'`.execute(database)
}

/** Deletes all jobs of a tenant, running ones too: they end without a trace. @returns how many. */
export async function deleteJobsOfTenant(database: Database, tenantId: string): Promise<number> {
  const jobs = sql`DELETE FROM pgboss.job WHERE data ->> 'tenantId' = ${tenantId}`
  return Number((await jobs.execute(database)).numAffectedRows ?? 0)
}

/** Declares a queue. */
export function jobQueue<Data extends object>(
  name: string,
  options: JobQueue<Data>['options'],
  further: Pick<JobQueue<Data>, 'evenIfClosed'> = {},
): JobQueue<Data> {
  return { name, options, ...further }
}

/**
 * Opens the queues, which pg-boss stores in a separate schema.
 * @param queues all queues; jobs can be sent only to these. @param closed the closed tenants.
 */
export async function openJobs(
  address: PostgresAddress,
  queues: readonly JobQueue<object>[],
  log: Logger,
  closed: Stores['closed'] = new Set(),
): Promise<Jobs> {
  const boss = createBoss(address, log, true)
  await start(boss, queues)
  const workers = new Map<string, string[]>()
  const wakeAll = (queue: string) => {
    for (const workerId of workers.get(queue) ?? []) boss.notifyWorker(workerId)
  }
  const polling = every(POLL_EVERY_MS, async () => {
    try {
      const { rows } = await boss.getDb().executeSql(DUE, [[...workers.keys()]])
      for (const { name } of rows) wakeAll(name)
    } catch (error) {
      log.warn({ err: error }, 'due jobs could not be polled; retrying')
    }
  })
  return {
    ...senderOf(boss),
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
          // There may be more jobs; otherwise the worker would wait for the next poll after every job.
          boss.notifyWorker(workerId)
          const isClosed = () => !queue.evenIfClosed && closed.has(job.data.tenantId)
          if (!isClosed()) {
            await handler(job.data, { signal: job.signal }).catch((error: unknown) => {
              if (!isClosed()) throw error
            })
          }
          // Closed before or meanwhile, which stopped the handler: even if it returned, it may not have finished.
          if (isClosed()) await boss.getDb().executeSql(PARK, [queue.name, job.id])
        })
        workers.set(queue.name, [...(workers.get(queue.name) ?? []), workerId])
      }
    },
    stop: async () => {
      await polling.stop()
      // pg-boss would look only every half second whether they have finished.
      const finished = Promise.all([...workers.keys()].map((queue) => boss.offWork(queue)))
      await Promise.race([finished, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
      await boss.stop({ graceful: false })
    },
  }
}

/** For a process that does no work, such as a command: it connects when the first job is sent. */
export function createJobSender(
  address: PostgresAddress,
  queues: readonly JobQueue<object>[],
  log: Logger,
): JobSender & Pick<Jobs, 'stop'> {
  const boss = createBoss(address, log, false)
  const sender = senderOf(boss)
  let starting: Promise<void> | undefined
  const started = () => {
    starting ??= start(boss, queues)
    return starting
  }
  return {
    ...sender,
    send: async (...job) => {
      await started()
      return sender.send(...job)
    },
    stop: async () => {
      if (starting) await boss.stop({ graceful: false })
    },
  }
}

function createBoss(address: PostgresAddress, log: Logger, works: boolean): PgBoss {
  const boss = new PgBoss({
    ...address,
    schema: SCHEMA,
    max: CONNECTIONS_MAX,
    application_name: 'customer-data-service jobs',
    supervise: works,
    useListenNotify: works,
    schedule: false,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'the job queue had an error; it continues'))
  return boss
}

async function start(boss: PgBoss, queues: readonly JobQueue<object>[]): Promise<void> {
  await boss.start()
  for (const { name, options } of queues) await boss.createQueue(name, { ...options, notify: true })
}

function senderOf(boss: PgBoss): JobSender {
  return {
    send: (tenant, { name }, data, options) =>
      boss.send(name, { ...data, tenantId: tenant.id }, { ...options, db: fromKysely(tenant.jobsDatabase) }),
    nextTime: (cron, timeZone, after) => {
      if (!CRON.test(cron)) return null
      try {
        return boss.previewSchedule(cron, { tz: timeZone, from: after, count: 1 })[0] ?? null
      } catch {
        return null
      }
    },
  }
}

/**
 * Deletes a tenant's waiting and finished jobs whose data or result contains one of some strings. A running job stays:
 * its worker finds its data gone, and the next call deletes it.
 * @returns how many.
 */
export async function deleteJobs(database: Database, tenantId: string, texts: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM pgboss.job
    WHERE data ->> 'tenantId' = ${tenantId} AND state <> 'active' AND EXISTS (
      SELECT FROM unnest(${texts}::text[]) AS text
      WHERE strpos(lower(coalesce(data::text, '') || coalesce(output::text, '')), lower(text)) > 0)`.execute(database)
  return Number(numAffectedRows ?? 0)
}
