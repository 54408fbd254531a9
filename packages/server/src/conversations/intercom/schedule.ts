import { sql } from 'kysely'
import { eachAlone, every } from '../../platform/every.ts'
import { type Jobs, jobQueue } from '../../platform/jobs/jobs.ts'
import type { Logger } from '../../platform/log.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { SOURCE } from './map.ts'
import { type PullDependencies, pullIntercom } from './pull.ts'

const EVERY_MS = 5_000
const DUE_AT_ONCE = 100
const CONCURRENCY = 2
/** A job whose process died is restarted after this time, which is three times a slice of reading. */
const EXPIRES_SECONDS = 900

/** Pulls of messaging tools, one at a time per connection. */
export const PULL_QUEUE = jobQueue<{ source: string }>('messaging-pull', {
  policy: 'exclusive',
  expireInSeconds: EXPIRES_SECONDS,
  retryLimit: 3,
  retryDelay: 10,
  retryBackoff: true,
  deleteAfterSeconds: 3_600,
})

/** Schedules and runs the pulls of all connected tools. Several processes may run it at the same time. */
export async function schedulePulls(
  dependencies: PullDependencies & {
    stores: Stores
    jobs: Jobs
    log: Logger
  },
): Promise<{ stop(): Promise<void> }> {
  const { stores, jobs, log, pullMinutes } = dependencies
  const stopping = new AbortController()
  await jobs.work(PULL_QUEUE, CONCURRENCY, async ({ tenantId, source }, { signal }) => {
    const either = AbortSignal.any([signal, stopping.signal])
    if (source !== SOURCE) return
    await pullIntercom(openTenant(stores, tenantId), dependencies, either).catch((error: unknown) => {
      log.warn({ err: error, tenant: tenantId }, 'a pull of Intercom failed; retrying shortly')
      throw error
    })
  })
  const sendPull = (tenant: Tenant, source: string) =>
    tenant.transaction(async (tx) => {
      const { numUpdatedRows } = await tx.db
        .updateTable('messaging_connections')
        .set({ next_pull_at: sql<Date>`now() + make_interval(mins => ${pullMinutes})` })
        .where('source', '=', source)
        // Another process may have sent it in the meantime.
        .where('next_pull_at', '<=', sql<Date>`now()`)
        .executeTakeFirst()
      const singletonKey = `${tx.id}/${source}`
      if (numUpdatedRows > 0n) await jobs.send(tx, PULL_QUEUE, { source }, { singletonKey })
    })
  const sweeping = every(EVERY_MS, async () => {
    try {
      const due = await stores.database
        .selectFrom('messaging_connections')
        .select(['tenant_id', 'source'])
        .where('next_pull_at', '<=', sql<Date>`now()`)
        .orderBy('next_pull_at')
        .limit(DUE_AT_ONCE)
        .execute()
      const failures = await eachAlone(due, ({ tenant_id, source }) => sendPull(openTenant(stores, tenant_id), source))
      if (failures.length > 0) throw failures[0]
    } catch (error) {
      log.warn({ err: error }, 'pulls of messaging tools could not be scheduled; retrying shortly')
    }
  })
  return {
    stop: async () => {
      // Pulls in progress can be aborted at any time: their position is stored.
      stopping.abort()
      await sweeping.stop()
    },
  }
}
