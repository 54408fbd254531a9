import { deleteExpired } from '../access/delete-expired.ts'
import { deleteOldBodies } from '../hooks/workers.ts'
import { deleteUnseen } from '../identification/retention.ts'
import { deleteOldIdempotencyKeys } from '../operations/idempotency.ts'
import { eachAlone, every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Stores } from '../platform/tenant.ts'
import { type Clock, HOUR_MS } from '../platform/time.ts'
import { deleteExpiredAuthorizations } from '../providers/retention.ts'
import { deleteOldProblems } from '../sites/problems/record.ts'
import { deleteOldCounts } from '../sources/usage.ts'
import { deleteExpiredWriteKeys } from '../sources/write-keys.ts'

const EVERY_MS = HOUR_MS

/** Deletions by features. Those that depend on a setting, or run more often, are among their feature's workers. */
const DELETIONS: readonly ((database: Database, now: Date) => Promise<void>)[] = [
  deleteExpired,
  deleteUnseen,
  deleteOldProblems,
  deleteOldBodies,
  deleteOldIdempotencyKeys,
  deleteExpiredWriteKeys,
  deleteOldCounts,
  deleteExpiredAuthorizations,
]

/** Deletes expired and unused rows every hour. */
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
    const failures = await eachAlone(DELETIONS, (deleteRows) => deleteRows(database, clock()))
    for (const err of failures) log.warn({ err }, 'old rows could not be deleted; retrying in an hour')
  })
}
