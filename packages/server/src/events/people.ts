import type { Tenant } from '../platform/tenant.ts'
import type { JoinedCompany, JoinedContact } from './event-object.ts'

/** What readers of events need of contacts and companies, which know events, not the other way round. */
export interface People {
  /** Contacts with their companies, by id; those that no longer exist are absent. */
  withCompanies(
    tenant: Tenant,
    contactIds: readonly string[],
  ): Promise<Map<string, { contact: JoinedContact; company: JoinedCompany | null }>>
  /** The properties of contacts, by id. */
  propertiesOf(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, Record<string, unknown>>>
  /** The ids of the newest contacts of a company. */
  newestOfCompany(tenant: Tenant, companyId: string, limit: number): Promise<string[]>
}

/** Adds to each event or visit its contact and that contact's company; null if they no longer exist. */
export async function joinContacts<Item extends { internal_contact_id: string | null }>(
  tenant: Tenant,
  people: Pick<People, 'withCompanies'>,
  items: readonly Item[],
) {
  const ids = [...new Set(items.flatMap(({ internal_contact_id }) => internal_contact_id ?? []))]
  const found = await people.withCompanies(tenant, ids)
  return items.map((item) => {
    const { contact = null, company = null } = found.get(item.internal_contact_id ?? '') ?? {}
    return { ...item, contact, company }
  })
}
