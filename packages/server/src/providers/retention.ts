import type { Database } from '../platform/postgres/database.ts'

/** Deletes authorizations that have expired; until then a used one is recognized as such. */
export async function deleteExpiredAuthorizations(database: Database, now: Date): Promise<void> {
  await database.deleteFrom('authorizations').where('expires_at', '<', now).execute()
}
