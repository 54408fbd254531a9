import { eachAlone, every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { deleteOldRows } from '../platform/postgres/retention.ts'
import type { Stores } from '../platform/tenant.ts'
import { type Clock, HOUR_MS } from '../platform/time.ts'
import { TABLES } from './tables.ts'

const EVERY_MS = HOUR_MS

/** Deletes expired and unused rows every hour. Deletions that depend on a setting, or run more often, are among their feature's workers. */
export function startRetention({
  stores: { database },
  clock,
  log,
}: {
  stores: Pick<Stores, 'database'>
  clock: Clock
  log: Logger
}): Repeated {
  return every(EVERY_MS, async () => {
    const failures = await eachAlone(TABLES, (table) => deleteOldRows(database, table, clock()))
    for (const err of failures) log.warn({ err }, 'old rows could not be deleted; retrying in an hour')
  })
}
