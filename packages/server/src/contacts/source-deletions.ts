import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

/** Notes that contacts, whose rows the caller has locked, were deleted in a source. */
export async function noteSourceDeletions(tx: Tenant, source: string, contactIds: readonly string[]): Promise<void> {
  if (contactIds.length === 0) return
  await tx.db
    .insertInto('contact_source_deletions')
    .values(contactIds.map((contact_id) => ({ contact_id, source })))
    .onConflict((row) => row.doNothing())
    .execute()
}

/** Of these contacts, those that were deleted in a source. */
export async function deletedInSource(
  tenant: Tenant,
  source: string,
  contactIds: readonly string[],
): Promise<Set<string>> {
  const rows = await tenant.db
    .selectFrom('contact_source_deletions')
    .select('contact_id')
    .where('source', '=', source)
    .where('contact_id', '=', sql<string>`any(${[...contactIds]}::uuid[])`)
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}
