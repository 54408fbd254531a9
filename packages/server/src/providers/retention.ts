import type { Database } from '../platform/postgres/database.ts'

/** Deletes authorizations after they expire. Until then, a used one is reported as used. */
export async function deleteExpiredAuthorizations(database: Database, now: Date): Promise<void> {
  await database.deleteFrom('authorizations').where('expires_at', '<', now).execute()
}
