import type { Database } from '../platform/postgres/database.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { deleteExpiredGrants } from './oauth/grants.ts'

/** A network becomes unknown when a person has not signed in from it for this long. */
const NETWORK_DAYS = 90

const before = (now: Date, ms: number) => new Date(now.getTime() - ms)

/** Deletes expired sessions, invitations, codes, tokens and grants, and the counts that no limit uses any more. */
export async function deleteExpired(database: Database, now: Date): Promise<void> {
  await database.deleteFrom('user_sessions').where('expires_at', '<', now).execute()
  await database.deleteFrom('user_verifications').where('expires_at', '<', now).execute()
  await database.deleteFrom('invitations').where('expires_at', '<', now).execute()
  await database.deleteFrom('user_used_codes').where('expires_at', '<', now).execute()
  await database
    .deleteFrom('user_networks')
    .where('seen_at', '<', before(now, NETWORK_DAYS * DAY_MS))
    .execute()
  await deleteExpiredGrants(database, now)
  await database.deleteFrom('sent_mails').where('sent_at', '<', before(now, HOUR_MS)).execute()
}
