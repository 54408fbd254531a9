import type { Database } from '../platform/postgres/database.ts'
import { DAY_MS } from '../platform/time.ts'
import { NETWORK_DAYS } from './seen-networks.ts'

/** No browser keeps a cookie for longer, so any active device has used its fingerprint again by then. */
const FINGERPRINT_DAYS = 400

/** Deletes networks and fingerprints that are too old to recover a visitor. */
export async function deleteUnseen(database: Database, now: Date): Promise<void> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  await database.deleteFrom('visitor_networks').where('seen_at', '<', before(NETWORK_DAYS)).execute()
  await database.deleteFrom('fingerprints').where('seen_at', '<', before(FINGERPRINT_DAYS)).execute()
}
