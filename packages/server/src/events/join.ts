import type Type from 'typebox'
import type { Tenant } from '../platform/tenant.ts'
import type { EnrichedEvent, EventObject } from './event-object.ts'

/** Adds to each event its contact and that contact's company; null if they no longer exist. */
export async function joinContacts(
  tenant: Tenant,
  events: readonly EventObject[],
): Promise<Type.Static<typeof EnrichedEvent>[]> {
  const ids = [...new Set(events.flatMap(({ internal_contact_id }) => internal_contact_id ?? []))]
  const contacts = await findContacts(tenant, ids)
  return events.map((event) => {
    const row = event.internal_contact_id === null ? undefined : contacts.get(event.internal_contact_id)
    return {
      ...event,
      contact: row ? toJoinedContact(row) : null,
      company: row?.company_id ? { _id: row.company_id, name: row.company_name, domain: row.company_domain } : null,
    }
  })
}

function toJoinedContact(row: { contact_id: string; email: string | null; properties: unknown }) {
  const properties = row.properties as Record<string, unknown>
  const text = (key: string) => (properties[key] === undefined ? null : String(properties[key]))
  return { _id: row.contact_id, email: row.email, firstname: text('firstname'), lastname: text('lastname') }
}

async function findContacts(tenant: Tenant, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>()
  const rows = await tenant.db
    .selectFrom('contacts')
    .leftJoin('companies', 'companies.company_id', 'contacts.company_id')
    .select([
      'contacts.contact_id',
      'contacts.email',
      'contacts.properties',
      'contacts.company_id',
      'companies.name as company_name',
      'companies.domain as company_domain',
    ])
    .where('contacts.contact_id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.contact_id, row]))
}
