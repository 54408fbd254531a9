import type { Database } from '../platform/postgres/database.ts'

/** Deletes the sessions, the waiting steps of sign-ins and the invitations that have ended. */
export async function forgetEnded(database: Database, now: Date): Promise<void> {
  await database.deleteFrom('user_sessions').where('expires_at', '<', now).execute()
  await database.deleteFrom('user_verifications').where('expires_at', '<', now).execute()
  await database.deleteFrom('invitations').where('expires_at', '<', now).execute()
}
