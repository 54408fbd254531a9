import { every, type Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Clock } from '../platform/time.ts'

const EVERY_MS = 60 * 60 * 1000

/** Deletes the sessions, the waiting steps of sign-ins and the invitations that have ended. */
export async function forgetEnded(database: Database, now: Date): Promise<void> {
  await database.deleteFrom('user_sessions').where('expires_at', '<', now).execute()
  await database.deleteFrom('user_verifications').where('expires_at', '<', now).execute()
  await database.deleteFrom('invitations').where('expires_at', '<', now).execute()
}

/** Forgets every hour. */
export function keepSignInTables(database: Database, clock: Clock, log: Logger): Repeated {
  return every(EVERY_MS, async () => {
    try {
      await forgetEnded(database, clock())
    } catch (error) {
      log.warn({ err: error }, 'ended sessions could not be deleted; the next round tries again')
    }
  })
}
