import { selectNames } from '../contacts/names.ts'
import { newestOfCompany } from '../contacts/of-companies.ts'
import { propertiesOfContacts } from '../contacts/read.ts'
import type { People } from '../events/people.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Contacts with their companies, for events. */
export const people: People = { withCompanies, propertiesOf: propertiesOfContacts, newestOfCompany }

async function withCompanies(tenant: Tenant, contactIds: readonly string[]): ReturnType<People['withCompanies']> {
  if (contactIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom(selectNames(tenant, contactIds).as('contact'))
    .leftJoin('companies', 'companies.company_id', 'contact.company_id')
    .select(['contact.contact_id', 'contact.email', 'contact.firstname', 'contact.lastname', 'contact.company_id'])
    .select(['companies.name', 'companies.domain'])
    .execute()
  return new Map(
    rows.map(({ contact_id, email, firstname, lastname, company_id, name, domain }) => {
      const contact = { _id: contact_id, email, firstname, lastname }
      return [contact_id, { contact, company: company_id === null ? null : { _id: company_id, name, domain } }]
    }),
  )
}
