import type { Tenant } from '../platform/tenant.ts'

/** A contact of a bulk load, as its source knows it. */
export interface LoadedContact {
  contactId: string
  email: string
  properties: Record<string, unknown>
  companyId: string | null
  /** When the contact was created. */
  at: Date
}

/**
 * Inserts contacts directly, without events or segments: for sample data. Contacts whose email is known are left out.
 * @returns the ids of the others.
 */
export async function loadContacts(
  tenant: Tenant,
  source: string,
  contacts: readonly LoadedContact[],
): Promise<Set<string>> {
  const inserted = await tenant.db
    .insertInto('contacts')
    .values(contacts.map((contact) => toContactRow(source, contact)))
    .onConflict((row) => row.columns(['email']).doNothing())
    .returning('contact_id')
    .execute()
  const fresh = new Set(inserted.map((row) => row.contact_id))
  const records = contacts.filter(({ contactId }) => fresh.has(contactId)).map((contact) => toRecord(source, contact))
  if (records.length > 0) await tenant.db.insertInto('contact_sources').values(records).execute()
  return fresh
}

function toContactRow(source: string, { contactId, email, properties, companyId, at }: LoadedContact) {
  const entry = { source, updated_at: at.toISOString() }
  return {
    contact_id: contactId,
    email,
    properties: JSON.stringify(properties),
    properties_provenance: Object.fromEntries(['email', ...Object.keys(properties)].map((key) => [key, entry])),
    company_id: companyId,
    creation_source: source,
    first_seen_at: at,
    created_at: at,
    updated_at: at,
  }
}

function toRecord(source: string, { contactId, email, properties, at }: LoadedContact) {
  const updated_at = at.toISOString()
  const values = Object.entries({ email, ...properties })
  return {
    contact_id: contactId,
    source,
    kind: source,
    fields: JSON.stringify(Object.fromEntries(values.map(([key, value]) => [key, { value, updated_at }]))),
    first_seen_at: at,
    updated_at: at,
  }
}

/** Moves the time when a contact was first seen, if it is later than this. */
export async function seenSince(tenant: Tenant, contactId: string, at: Date): Promise<void> {
  await tenant.db
    .updateTable('contacts')
    .set({ first_seen_at: at })
    .where('contact_id', '=', contactId)
    .where('first_seen_at', '>', at)
    .execute()
}
