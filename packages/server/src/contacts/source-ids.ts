import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

/**
 * Further ids by which a source knows a contact, besides the one that the source's record shows: a lead and a contact with
 * the same email, or duplicates. Each keeps leading to the contact, so that an opt-out in any of them reaches it.
 */

/** A source's id. */
export interface SourceId {
  source: string
  external_id: string
}

/** Those of the contacts that have further ids at a source. */
export async function contactsWithFurtherIds(
  tenant: Tenant,
  source: string,
  contactIds: readonly string[],
): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const rows = await tenant.db
    .selectFrom('contact_source_ids')
    .select('contact_id')
    .distinct()
    .where('source', '=', source)
    .where('contact_id', '=', sql<string>`any(${[...contactIds]}::uuid[])`)
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}

/** The further ids of contacts at a source, by contact. */
export async function furtherIdsOf(
  tenant: Tenant,
  source: string,
  contactIds: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await tenant.db
    .selectFrom('contact_source_ids')
    .select(['contact_id', 'external_id'])
    .where('source', '=', source)
    .where('contact_id', '=', sql<string>`any(${[...contactIds]}::uuid[])`)
    .orderBy('external_id')
    .execute()
  const byContact = Map.groupBy(rows, ({ contact_id }) => contact_id)
  return new Map([...byContact].map(([id, found]) => [id, found.map(({ external_id }) => external_id)]))
}

/** All further ids of a contact. */
export async function furtherIdsOfContact(tenant: Tenant, contactId: string): Promise<SourceId[]> {
  return tenant.db
    .selectFrom('contact_source_ids')
    .select(['source', 'external_id'])
    .where('contact_id', '=', contactId)
    .execute()
}

/** Adds further ids of contacts whose rows the caller has locked. @param contacts contact ids by the source's ids. */
export async function addFurtherIds(tx: Tenant, source: string, contacts: ReadonlyMap<string, string>): Promise<void> {
  if (contacts.size === 0) return
  const rows = [...contacts].map(([external_id, contact_id]) => ({ source, external_id, contact_id }))
  await tx.db
    .insertInto('contact_source_ids')
    .values(rows)
    .onConflict((row) =>
      row.columns(['source', 'external_id']).doUpdateSet(({ ref }) => ({ contact_id: ref('excluded.contact_id') })),
    )
    .execute()
}

export async function removeFurtherIds(tx: Tenant, source: string, externalIds: readonly string[]): Promise<void> {
  if (externalIds.length === 0) return
  await tx.db
    .deleteFrom('contact_source_ids')
    .where('source', '=', source)
    .where('external_id', '=', sql<string>`any(${[...externalIds]}::text[])`)
    .execute()
}

/** Shows another id of a contact in the source's record, in place of one that the system has deleted. */
export async function showSourceId(tx: Tenant, contactId: string, { source, external_id }: SourceId): Promise<void> {
  await removeFurtherIds(tx, source, [external_id])
  await tx.db
    .updateTable('contact_sources')
    .set({ external_id })
    .where('source', '=', source)
    .where('contact_id', '=', contactId)
    .execute()
}
