import { sql } from 'kysely'
import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { refuseWhileErasing } from '../erasure/erasures.ts'
import { countRows } from '../journal/batches.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { eachAlone, every, type Repeated } from '../platform/every.ts'
import { type Jobs, jobQueue } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { HOUR_SECONDS } from '../platform/time.ts'
import type { RecordCalls } from '../sites/ingestion/record-calls.ts'
import { startActivityWorkers } from './activities/run.ts'
import type { ConnectServices } from './connect.ts'
import { type PullServices, pullConnection } from './pull.ts'
import { writeBackConnection } from './write-back/run.ts'

/** How often due pulls are queued, including those that people start. */
const SWEEP_MS = 1_000
const DUE_AT_ONCE = 100
const CONCURRENCY = 2
/** A job whose process stopped sending heartbeats for this long ends, so that another process can continue its work. */
const HEARTBEAT_SECONDS = 30
/** A job that hangs ends after this time, which exceeds two slices of reading with a download in between. */
const EXPIRES_SECONDS = 1_200
/** After how many sweeps a job is sent again, in case the process of the first one died. While that one exists, this does nothing. */
const SENT_AGAIN_SWEEPS = 20

/** Pulls of connected systems, one at a time per connection. */
const PULL_QUEUE = jobQueue<{ connectionId: string }>('connection-pull', {
  policy: 'exclusive',
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: EXPIRES_SECONDS,
  // `next_pull_at` schedules the retry.
  retryLimit: 0,
  deleteAfterSeconds: HOUR_SECONDS,
})

/** Writes to connected systems, one at a time per connection. */
const WRITE_QUEUE = jobQueue<{ connectionId: string }>('connection-write-back', {
  policy: 'exclusive',
  heartbeatSeconds: HEARTBEAT_SECONDS,
  expireInSeconds: EXPIRES_SECONDS,
  // Unwritten contacts stay in the outbox.
  retryLimit: 0,
  deleteAfterSeconds: HOUR_SECONDS,
})

export const CONNECTOR_QUEUES = [PULL_QUEUE, WRITE_QUEUE]

/** Schedules and runs the pulls and the write-back of all connections. Several processes may do so at the same time. */
export async function startConnectorWorkers({
  stores,
  jobs,
  log,
  config,
  writing,
  connecting,
  recordCalls,
  recordHistory,
  sweepMs,
}: {
  stores: Stores
  jobs: Jobs
  log: Logger
  config: Pick<Config, 'pullMinutes'>
  writing: WriteServices
  connecting: ConnectServices
  recordCalls: RecordCalls
  recordHistory: RecordCalls
  sweepMs: { connectors?: number }
}): Promise<Repeated> {
  const pulling: PullServices = {
    ...connecting,
    ...writing,
    refuseWhileErasing,
    recordCalls,
    recordHistory,
    journalRows: async () => (await countRows(stores.database)).waiting,
    pullMinutes: config.pullMinutes,
  }
  const stopping = new AbortController()
  await jobs.work(PULL_QUEUE, CONCURRENCY, async ({ tenantId, connectionId }, { signal }) => {
    const either = AbortSignal.any([signal, stopping.signal])
    await pullConnection(openTenant(stores, tenantId), pulling, connectionId, either).catch((error: unknown) => {
      log.warn({ err: error, tenant: tenantId, connection: connectionId }, 'a pull failed; it will be retried')
      throw error
    })
  })
  await jobs.work(WRITE_QUEUE, CONCURRENCY, async ({ tenantId, connectionId }, { signal }) => {
    const either = AbortSignal.any([signal, stopping.signal])
    await writeBackConnection(openTenant(stores, tenantId), pulling, connectionId, either).catch((error: unknown) => {
      log.warn({ err: error, tenant: tenantId, connection: connectionId }, 'writing back failed; it will be retried')
      throw error
    })
  })
  const { connectors: everyMs = SWEEP_MS } = sweepMs
  const sentAgainAt = sql<Date>`now() + make_interval(secs => ${(SENT_AGAIN_SWEEPS * everyMs) / 1_000}::float8)`
  const sendPull = (tenant: Tenant, connectionId: string) =>
    tenant.transaction(async (tx) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('connections')
        .set({ next_pull_at: sentAgainAt })
        .where('connection_id', '=', connectionId)
        // Another process may have queued it.
        .where('next_pull_at', '<=', sql<Date>`now()`)
        .executeTakeFirst()
      const singletonKey = `${tx.id}/${connectionId}`
      if (numUpdatedRows > 0n) await jobs.send(tx, PULL_QUEUE, { connectionId }, { singletonKey })
    })
  const sendWrite = (tenant: Tenant, connectionId: string) =>
    tenant.transaction(async (tx) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('connections')
        .set({ write_back_at: sentAgainAt })
        .where('connection_id', '=', connectionId)
        .where('write_back_at', '<=', sql<Date>`now()`)
        .executeTakeFirst()
      const singletonKey = `${tx.id}/${connectionId}`
      if (numUpdatedRows > 0n) await jobs.send(tx, WRITE_QUEUE, { connectionId }, { singletonKey })
    })
  const sendDue = async (
    due: readonly { tenant_id: string; connection_id: string }[],
    send: (tenant: Tenant, connectionId: string) => Promise<void>,
  ) => {
    const failures = await eachAlone(due, ({ tenant_id, connection_id }) =>
      send(openTenant(stores, tenant_id), connection_id),
    )
    if (failures.length > 0) throw failures[0]
  }
  const sweeping = every(everyMs, async () => {
    try {
      const due = await stores.database
        .selectFrom('connections')
        .select(['tenant_id', 'connection_id'])
        .where('state', 'not in', ['paused', 'signed_out'])
        .where(isOfOpenTenant(stores))
        .where('next_pull_at', '<=', sql<Date>`now()`)
        .orderBy('next_pull_at')
        .limit(DUE_AT_ONCE)
        .execute()
      await sendDue(due, sendPull)
      const waiting = await stores.database
        .selectFrom('connections')
        .select(['tenant_id', 'connection_id'])
        .where('write_back', 'is not', null)
        .where('state', 'not in', ['paused', 'signed_out'])
        .where(isOfOpenTenant(stores))
        .where('write_back_at', '<=', sql<Date>`now()`)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('connection_outbox')
              .select('contact_id')
              .whereRef('connection_outbox.tenant_id', '=', 'connections.tenant_id')
              .whereRef('connection_outbox.connection_id', '=', 'connections.connection_id')
              .where('next_try_at', '<=', sql<Date>`now()`),
          ),
        )
        .orderBy('write_back_at')
        .limit(DUE_AT_ONCE)
        .execute()
      await sendDue(waiting, sendWrite)
    } catch (error) {
      log.warn({ err: error }, 'pulls could not be scheduled; retrying shortly')
    }
  })
  const storing = startActivityWorkers({ ...pulling, stores, log })
  return {
    stop: async () => {
      await storing.stop()
      // Pulls can be aborted at any time, because their position is stored.
      stopping.abort()
      await sweeping.stop()
    },
  }
}
