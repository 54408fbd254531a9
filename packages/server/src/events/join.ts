import type { Tenant } from '../platform/tenant.ts'
import type { JoinedCompany, JoinedContact } from './event-object.ts'

interface Joined {
  contact: JoinedContact | null
  company: JoinedCompany | null
}

/** Adds to each event or visit its contact and that contact's company; null if they no longer exist. */
export async function joinContacts<Item extends { internal_contact_id: string | null }>(
  tenant: Tenant,
  items: readonly Item[],
): Promise<(Item & Joined)[]> {
  const ids = [...new Set(items.flatMap(({ internal_contact_id }) => internal_contact_id ?? []))]
  const contacts = await joinedContacts(tenant, ids)
  return items.map((item) => {
    const joined = item.internal_contact_id === null ? undefined : contacts.get(item.internal_contact_id)
    return { ...item, contact: joined?.contact ?? null, company: joined?.company ?? null }
  })
}

/** A contact as it is joined to an event; null if there is none. */
export async function findJoinedContact(tenant: Tenant, contactId: string | null) {
  const joined = contactId === null ? undefined : (await joinedContacts(tenant, [contactId])).get(contactId)
  return joined?.contact ?? null
}

/** Contacts with their companies, by id. */
export async function joinedContacts(tenant: Tenant, ids: readonly string[]): Promise<Map<string, Joined>> {
  const rows = await findContacts(tenant, ids)
  return new Map(
    rows.map((row) => {
      const { company_id, company_name: name, company_domain: domain } = row
      const company = company_id === null ? null : { _id: company_id, name, domain }
      return [row.contact_id, { contact: toJoinedContact(row), company }]
    }),
  )
}

/** The properties of contacts, by id. */
export async function propertiesOfContacts(tenant: Tenant, ids: readonly string[]) {
  const rows = await findContacts(tenant, ids)
  return new Map(rows.map(({ contact_id, properties }) => [contact_id, properties as Record<string, unknown>]))
}

/** Companies by id. */
export async function joinedCompanies(tenant: Tenant, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>()
  const rows = await tenant.db
    .selectFrom('companies')
    .select(['company_id as _id', 'name', 'domain'])
    .where('company_id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row._id, row]))
}

function toJoinedContact(row: { contact_id: string; email: string | null; properties: unknown }) {
  const properties = row.properties as Record<string, unknown>
  const text = (key: string) => (properties[key] === undefined ? null : String(properties[key]))
  return { _id: row.contact_id, email: row.email, firstname: text('firstname'), lastname: text('lastname') }
}

async function findContacts(tenant: Tenant, ids: readonly string[]) {
  if (ids.length === 0) return []
  return tenant.db
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
}
