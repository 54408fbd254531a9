import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { FilteredRecords } from '../conditions/language.ts'
import { segmentIdsOf } from '../memberships/memberships.ts'
import { normalizeEmail } from '../platform/email.ts'
import { CONTACT_PROPERTIES, type KnownProperty, namesOf } from './property-catalogue.ts'
import type { ContactSet } from './ranges.ts'

/*
 * SQL for a record's values, for other features' conditions.
 */

/** The id of a contact, in a query of contacts. */
export const CONTACT_ID: RawBuilder<string> = sql.ref('contacts.contact_id')

/** The id of a contact's company, in a query of contacts. */
export const COMPANY_ID: RawBuilder<string> = sql.ref('contacts.company_id')

/** A column `segment_ids` for a query of contacts: the segments of each, sorted by id. */
export const SEGMENT_IDS = segmentIdsOf(CONTACT_ID)

/** The condition that a contact has one of these ids. An array is one parameter, however long. */
export function isContact(contactIds: readonly string[]): RawBuilder<SqlBool> {
  return sql`${CONTACT_ID} = ANY(${contactIds}::uuid[])`
}

/** The condition that a contact is one of a range or a list. */
export function isOneOf(contacts: ContactSet): RawBuilder<SqlBool> {
  if ('contactIds' in contacts) return isContact(contacts.contactIds)
  return sql`(${CONTACT_ID} > ${contacts.after}::uuid AND ${CONTACT_ID} <= ${contacts.upTo}::uuid)`
}

/** The condition that a contact is among those whose ids a query finds. */
export function isContactIn(ids: Expression<{ contact_id: string | null }>): RawBuilder<SqlBool> {
  return sql`${CONTACT_ID} IN ${ids}`
}

export const CONTACT_FILTER_FIELDS = filterFields('contacts', CONTACT_PROPERTIES, {
  email: normalizeEmail,
  company_id: (text) => text.trim().toLowerCase(),
})

export function filterFields(
  table: 'contacts' | 'companies',
  properties: Readonly<Record<string, KnownProperty>>,
  spelled: FilteredRecords['spelled'],
): FilteredRecords {
  return {
    textColumns: namesOf(properties, ({ isColumn, type }) => isColumn && type === 'text'),
    timeColumns: namesOf(properties, ({ isColumn, type }) => isColumn && type === 'date'),
    numberColumns: namesOf(properties, ({ isColumn, type }) => isColumn && type === 'number'),
    spelled,
    column: (name) => sql.ref(`${table}.${name}`),
    properties: sql.ref(`${table}.properties`),
    table,
  }
}
