import { sql } from 'kysely'
import { every } from '../../platform/every.ts'
import { type Jobs, jobQueue } from '../../platform/jobs/jobs.ts'
import type { Logger } from '../../platform/log.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { SOURCE } from './map.ts'
import { type PullDependencies, pullIntercom } from './pull.ts'

const EVERY_MS = 5_000
const CONCURRENCY = 2
/** A job that dies without a word is begun again after so long; one slice of reading is a third of it. */
const EXPIRES_SECONDS = 900

/** Pulls of messaging tools: one at a time for each connection. */
export const PULL_QUEUE = jobQueue<{ source: string }>('messaging-pull', {
  policy: 'exclusive',
  expireInSeconds: EXPIRES_SECONDS,
  retryLimit: 3,
  retryDelay: 10,
  retryBackoff: true,
  deleteAfterSeconds: 3_600,
})

interface Dependencies extends PullDependencies {
  stores: Stores
  jobs: Jobs
  log: Logger
}

/** Has every connected tool pulled when its time has come, by whichever process is free. */
export async function schedulePulls(dependencies: Dependencies): Promise<{ stop(): Promise<void> }> {
  const { stores, jobs, log, pullMinutes } = dependencies
  const stopping = new AbortController()
  await jobs.work(PULL_QUEUE, CONCURRENCY, async ({ tenantId, source }, { signal }) => {
    const either = AbortSignal.any([signal, stopping.signal])
    if (source === SOURCE) await pullIntercom(openTenant(stores, tenantId), dependencies, either)
  })
  const sweeping = every(EVERY_MS, async () => {
    try {
      const { rows } = await sql<{ tenant_id: string; source: string }>`
        UPDATE messaging_connections SET next_pull_at = now() + make_interval(mins => ${pullMinutes})
        WHERE (tenant_id, source) IN (
          SELECT tenant_id, source FROM messaging_connections WHERE next_pull_at <= now()
          ORDER BY next_pull_at LIMIT 100 FOR UPDATE SKIP LOCKED)
        RETURNING tenant_id, source`.execute(stores.database)
      for (const { tenant_id, source } of rows) {
        const singletonKey = `${tenant_id}/${source}`
        await jobs.send(openTenant(stores, tenant_id), PULL_QUEUE, { source }, { singletonKey })
      }
    } catch (error) {
      log.warn({ err: error }, 'pulls of messaging tools could not be scheduled; it is tried again shortly')
    }
  })
  return {
    stop: async () => {
      // What is being pulled is let go at once: where it stands is written down.
      stopping.abort()
      await sweeping.stop()
    },
  }
}
