import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

/** What lists of other records show of a contact. */
export interface ContactName {
  contact_id: string
  email: string | null
  firstname: string | null
  lastname: string | null
  company: string | null
  jobtitle: string | null
}

/** Contacts by id; unknown ids are absent. */
export async function namesOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, ContactName>> {
  const named = await namesAndStagesOfContacts(tenant, contactIds)
  return new Map([...named].map(([id, { lifecyclestage: _, ...name }]) => [id, name]))
}

/** The same with the lifecycle stage, for lists of what to do about the contacts. */
export async function namesAndStagesOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, ContactName & { lifecyclestage: string | null }>> {
  if (contactIds.length === 0) return new Map()
  const rows = await selectNames(tenant, contactIds).execute()
  return new Map(rows.map(({ company_id: _, ...name }) => [name.contact_id, name]))
}

/** A query of the same contacts with the ids of their companies, to be joined with these. */
export function selectNames(tenant: Tenant, contactIds: readonly string[]) {
  // Only these properties, because a contact may have many; a number as text, and null for a list or an object.
  const property = (key: string) =>
    sql<string | null>`CASE WHEN jsonb_typeof(contacts.properties -> ${sql.lit(key)}) NOT IN ('array', 'object')
      THEN contacts.properties ->> ${sql.lit(key)} END`
  return tenant.db
    .selectFrom('contacts')
    .select(['contacts.contact_id', 'contacts.email', 'contacts.company_id'])
    .select([property('firstname').as('firstname'), property('lastname').as('lastname')])
    .select([property('company').as('company'), property('jobtitle').as('jobtitle')])
    .select(property('lifecyclestage').as('lifecyclestage'))
    .where('contacts.contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
}

/** The full names of contacts, for the audit log; of a contact without a name, the email. */
export async function fullNamesOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, string | null>> {
  const contacts = await namesOfContacts(tenant, contactIds)
  const fullName = ({ firstname, lastname, email }: ContactName) =>
    [firstname, lastname].filter(Boolean).join(' ') || email
  return new Map([...contacts].map(([id, contact]) => [id, fullName(contact)]))
}
