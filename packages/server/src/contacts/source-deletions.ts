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

/** Moves the deletions of a contact to another one that lacks them. @param only of these sources. @returns the sources. */
export async function moveSourceDeletions(
  tx: Tenant,
  { from, to }: { from: string; to: string },
  only?: readonly string[],
): Promise<string[]> {
  const rows = await tx.db
    .updateTable('contact_source_deletions as moved')
    .set({ contact_id: to })
    .where('contact_id', '=', from)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('contact_source_deletions as known')
            .select('known.source')
            .where('known.contact_id', '=', to)
            .whereRef('known.source', '=', 'moved.source'),
        ),
      ),
    )
    .$if(only !== undefined, (query) => query.where('source', '=', sql<string>`any(${[...(only ?? [])]}::text[])`))
    .returning('source')
    .execute()
  return rows.map(({ source }) => source)
}
