import { deleteExpired } from '../access/delete-expired.ts'
import { deleteUnseen } from '../identification/retention.ts'
import { forgetIdempotencyKeys } from '../operations/idempotency.ts'
import { eachAlone, every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Clock } from '../platform/time.ts'

const EVERY_MS = 60 * 60 * 1000

/** Deletes expired and unused rows every hour. */
export function startRetention(database: Database, clock: Clock, log: Logger): Repeated {
  return every(EVERY_MS, async () => {
    const failures = await eachAlone([deleteExpired, deleteUnseen, forgetIdempotencyKeys], (forget) =>
      forget(database, clock()),
    )
    for (const err of failures) log.warn({ err }, 'old rows could not be deleted; retrying in an hour')
  })
}
