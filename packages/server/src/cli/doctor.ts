import { sql } from 'kysely'
import type { Session } from './session.ts'

/** Asks both engines and says how they are. */
export async function diagnose({ stores, serviceRuns }: Session): Promise<Record<string, unknown>> {
  const version = await sql<{ version: string }>`SELECT version()`.execute(stores.database)
  const waiting = await stores.database
    .selectFrom('journal')
    .select(({ fn }) => fn.countAll().as('rows'))
    .executeTakeFirstOrThrow()
  const clickhouse = serviceRuns ? 'in use by the running service' : await clickhouseVersion(stores)
  return {
    node: process.version,
    postgres: version.rows[0]?.version ?? 'unknown',
    clickhouse,
    journal_rows: Number(waiting.rows),
    service_running: serviceRuns,
  }
}

async function clickhouseVersion({ clickhouse }: Session['stores']): Promise<string> {
  const [row] = await clickhouse.query<{ version: string }>('SELECT version() AS version')
  return row?.version ?? 'unknown'
}
