import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'

/**
 * The canonical visitor of a device fingerprint. A fingerprint that is seen for the first time is registered, with the
 * visitor that sent it or else a new one.
 * @param fingerprint SHA-256 in hexadecimal.
 */
export async function recoverVisitor(
  tenant: Tenant,
  fingerprint: string,
  visitorId: string | undefined,
  now: Date,
): Promise<{ visitor_id: string; recovered: boolean }> {
  const bytes = Buffer.from(fingerprint, 'hex')
  const candidate = visitorId ?? newId()
  const added = await tenant.db
    .insertInto('fingerprints')
    .values({ fingerprint: bytes, visitor_id: candidate, created_at: now })
    .onConflict((known) => known.columns(['fingerprint']).doNothing())
    .returning('visitor_id')
    .executeTakeFirst()
  if (added) return { visitor_id: added.visitor_id, recovered: false }
  const known = await tenant.db
    .selectFrom('fingerprints')
    .select('visitor_id')
    .where('fingerprint', '=', bytes)
    .executeTakeFirstOrThrow()
  return { visitor_id: known.visitor_id, recovered: true }
}
