import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import type { Properties } from './properties.ts'

/** Properties that tell whether two contacts are one person, as a regular expression for PostgreSQL and for JavaScript, without case. */
const TELLING =
  '^(first|last|full)?[_ -]?name$|^company([_ -]?domain)?$|phone|mobile|whatsapp|linkedin|xing|twitter|github|instagram|facebook|profile'
/** What somebody who compares them also looks at. */
const FURTHER = '^(jobtitle|lifecyclestage|city|country)$'
const IS_TELLING = new RegExp(TELLING, 'i')
const VALUE_BYTES_MAX = 500
const PROPERTIES_SHOWN_MAX = 40

/** Whether the change of a property or a column may change whom the contact is like. */
export function isTelling(key: string): boolean {
  return key === 'email' || key === 'company_id' || IS_TELLING.test(key)
}

/** What is compared of a contact. */
export interface ComparedContact {
  contact_id: string
  email: string | null
  company_id: string | null
  creation_source: string
  created_at: Date
  updated_at: Date
  /** The short ones alone. */
  properties: Properties
}

/** Contacts by id, with the properties that are compared; unknown ids are absent. */
export async function comparedContacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, ComparedContact>> {
  if (contactIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', 'email', 'company_id', 'creation_source', 'created_at', 'updated_at'])
    .select(
      sql<Properties>`short_values(contacts.properties, ${`${TELLING}|${FURTHER}`}, ${VALUE_BYTES_MAX}, ${PROPERTIES_SHOWN_MAX})`.as(
        'properties',
      ),
    )
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.contact_id, row]))
}
