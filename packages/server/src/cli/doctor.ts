import { sql } from 'kysely'
import { countRows } from '../journal/batches.ts'
import { latestRefused } from '../journal/refused.ts'
import { EventsMissing } from '../platform/clickhouse/installation.ts'
import { versionOf } from '../platform/clickhouse/version.ts'
import type { Session } from './session.ts'

const SET_ASIDE_SHOWN = 10
const PROXY_ADVICE =
  'CDS_PUBLIC_URL starts with https, so there is a proxy in front of this service, but CDS_TRUST_PROXY is 0: all clients share the limits of one address. Set CDS_TRUST_PROXY to the number of proxies.'

/** Queries both databases and reports their state. */
export async function diagnose({ stores, serviceRuns, config }: Session): Promise<Record<string, unknown>> {
  const version = await sql<{ version: string }>`SELECT version()`.execute(stores.database)
  const { waiting, setAside } = await countRows(stores.database)
  const clickhouse = serviceRuns ? 'in use by the running service' : await clickhouseVersion(stores)
  return {
    node: process.version,
    postgres: version.rows[0]?.version ?? 'unknown',
    clickhouse,
    journal_rows: Number(waiting),
    events_set_aside: setAside,
    latest_set_aside: await latestRefused(stores.database, SET_ASIDE_SHOWN),
    service_running: serviceRuns,
    // The service itself only speaks HTTP, so a public address with https implies a proxy.
    ...(config.trustedProxies === 0 && config.publicUrl.startsWith('https:') ? { proxy: PROXY_ADVICE } : {}),
  }
}

async function clickhouseVersion({ clickhouse }: Session['stores']): Promise<string> {
  try {
    return await versionOf(clickhouse)
  } catch (error) {
    if (error instanceof EventsMissing) return error.advice
    throw error
  }
}
