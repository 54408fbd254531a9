import { sql } from 'kysely'
import { type Marked, valueNamedBy, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACT_FACETS } from './facets.ts'
import { type ContactFilters, matchingContacts } from './list.ts'

/*
 * What records can be grouped by.
 */

/** A field to group records by. */
export interface RecordDimension {
  /** An expression in a query of the records. */
  sql: string
  kind: 'text' | 'id' | 'boolean' | 'day'
  description: string
  /** What its values say about people. */
  mark: Marked
}

/** A record's value of a dimension, null if it has none, and the properties that figures are computed from. */
export interface KeyedRecord {
  key: string | boolean | null
  properties: unknown
}

/** A dimension by a property. An empty text counts as missing. */
export function byProperty(table: 'contacts' | 'companies', property: string, more = ''): RecordDimension {
  return {
    sql: `nullif(${table}.properties ->> '${property}', '')`,
    kind: 'text',
    description: `Property ${property}${more}.`,
    // The tenant may hide any property.
    mark: valueNamedBy('group_by'),
  }
}

/** Dimensions by properties, which their names select. */
export function byProperties<Name extends string>(
  table: 'contacts' | 'companies',
  properties: Readonly<Record<Name, string>>,
) {
  const dimensions = Object.entries<string>(properties).map(([name, property]) => [name, byProperty(table, property)])
  return Object.fromEntries(dimensions) as Record<Name, RecordDimension>
}

const hasSocialProfile: RecordDimension = {
  sql: `contacts.facets @> ARRAY['has_social_profile']`,
  kind: 'boolean',
  description: 'Whether the contact has a social-network profile.',
  mark: WORD,
}

/** The dimensions of contacts. */
export const CONTACT_DIMENSIONS = {
  ...byProperties('contacts', CONTACT_FACETS),
  company: byProperty('contacts', 'company', ', a name'),
  job_title: byProperty('contacts', 'jobtitle'),
  company_id: {
    sql: 'contacts.company_id::text',
    kind: 'id',
    description: 'Associated company; contacts without one are in no bucket.',
    mark: WORD,
  },
  created_day: {
    sql: `to_char(contacts.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
    kind: 'day',
    description: 'Day of creation (UTC), `YYYY-MM-DD`: the most recent days, in chronological order.',
    mark: WORD,
  },
  has_linkedin: hasSocialProfile,
  has_social_profile: { ...hasSocialProfile, description: 'The same as has_linkedin.' },
} as const satisfies Readonly<Record<string, RecordDimension>>

/** A query of the matching contacts by a dimension. */
export function contactsBy(tenant: Tenant, filters: ContactFilters, dimension: keyof typeof CONTACT_DIMENSIONS) {
  const key = sql.raw<KeyedRecord['key']>(CONTACT_DIMENSIONS[dimension].sql)
  return matchingContacts(tenant, filters).select([key.as('key'), 'contacts.properties'])
}
