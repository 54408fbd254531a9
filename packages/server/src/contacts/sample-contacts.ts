import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Properties } from './properties.ts'

/*
 * Loads sample data, many rows per statement. Unlike a write, records no events and updates no segments.
 */

export interface LoadedContact {
  contactId: string
  email: string
  properties: Properties
  companyId: string | null
  at: Date
}

/** Creates contacts with their source's records. @returns the ids of those whose email no contact had. */
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
  const created = new Set(inserted.map(({ contact_id }) => contact_id))
  const records = contacts.filter(({ contactId }) => created.has(contactId)).map((each) => toRecord(source, each))
  if (records.length > 0) await tenant.db.insertInto('contact_sources').values(records).execute()
  return created
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

/** Creates visitors, some of them linked to contacts. */
export async function loadVisitors(
  tenant: Tenant,
  source: string,
  visitors: readonly { visitorId: string; contactId: string | null }[],
  now: Date,
): Promise<void> {
  const rows = visitors.map(({ visitorId, contactId }) => ({ visitor_id: visitorId, contact_id: contactId }))
  await tenant.db
    .insertInto('visitors')
    .values(rows.map((row) => ({ ...row, created_at: now })))
    .execute()
  const linked = rows.filter(({ contact_id }) => contact_id !== null)
  if (linked.length === 0) return
  await tenant.db
    .insertInto('visitor_links')
    .values(linked.map((row) => ({ ...row, link_id: newId(), source, linked_at: now })))
    .execute()
}

/** Moves the time at which a sample contact was first seen back. */
export async function setSeenBefore(tenant: Tenant, contactId: string, at: Date): Promise<void> {
  await tenant.db
    .updateTable('contacts')
    .set({ first_seen_at: at })
    .where('contact_id', '=', contactId)
    .where('first_seen_at', '>', at)
    .execute()
}
