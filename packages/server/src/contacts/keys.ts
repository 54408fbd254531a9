import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'

/** Sets a contact's external id. @param isProvisional whether only a page has sent it. */
export async function setExternalId(
  tx: Tenant,
  contactId: string,
  externalId: string,
  isProvisional: boolean,
): Promise<ContactRow> {
  return tx.db
    .updateTable('contacts')
    .set({ external_id: externalId, external_id_provisional: isProvisional })
    .where('contact_id', '=', contactId)
    .returning(CONTACT_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Removes a contact's external id, also from its records of some sources. */
export async function removeExternalId(
  tx: Tenant,
  { contact_id, external_id }: Pick<ContactRow, 'contact_id' | 'external_id'>,
  sources: readonly string[],
): Promise<void> {
  await tx.db
    .updateTable('contacts')
    .set({ external_id: null, external_id_provisional: false })
    .where('contact_id', '=', contact_id)
    .execute()
  await tx.db
    .updateTable('contact_sources')
    .set({ external_id: null })
    .where('contact_id', '=', contact_id)
    .where('source', 'in', sources)
    .where('external_id', '=', external_id)
    .execute()
}

/** Removes a contact's email, also from its records of sources of some kinds. */
export async function removeEmail(
  tx: Tenant,
  contactId: string,
  kinds: readonly string[],
  now: Date,
): Promise<ContactRow> {
  const row = await tx.db
    .updateTable('contacts')
    .set({ email: null, properties_provenance: sql`properties_provenance - 'email'`, updated_at: now })
    .where('contact_id', '=', contactId)
    .returning(CONTACT_COLUMNS)
    .executeTakeFirstOrThrow()
  await tx.db
    .updateTable('contact_sources')
    .set({ fields: sql`fields - 'email'` })
    .where('contact_id', '=', contactId)
    .where('kind', 'in', kinds)
    .execute()
  return row
}

/** Moves the time at which a contact was first seen back. @returns whether it changed. */
export async function setSeenBefore(tx: Tenant, contactId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('contacts')
    .set({ first_seen_at: at })
    .where('contact_id', '=', contactId)
    .where('first_seen_at', '>', at)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
