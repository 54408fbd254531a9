import { type RawBuilder, sql } from 'kysely'
import type { FilteredRecords } from '../conditions/language.ts'
import { type Marked, valueNamedBy, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACT_FILTER_FIELDS } from './columns.ts'
import { CONTACT_FACETS } from './facets.ts'
import { type ContactFilters, matchingContacts } from './list.ts'

/*
 * What records can be grouped by, and which of their properties have numbers.
 */

/** A value of a record, in a query of the records: a field of a JSON object. */
export interface RecordValue {
  object: RawBuilder<unknown>
  key: string
  /** Groups by `id` leave out records without one; those by `day` are sorted by time. */
  kind: 'property' | 'id' | 'day'
  /** Whether the service knows its name, so that records without it are no surprise. */
  isKnown?: boolean
}

/** A value with a name of its own, by which records can be grouped. */
export interface RecordDimension {
  /** @param timeZone of its days */
  value(timeZone: string): RecordValue
  description: string
  /** What its values say about people. */
  mark: Marked
}

/** A property of a record. An empty text and an empty list count as missing. */
export function propertyOf(fields: Pick<FilteredRecords, 'properties'>, key: string): RecordValue {
  return { object: fields.properties, key, kind: 'property' }
}

/** A value that is no property. */
export function computed(expression: RawBuilder<unknown>, kind: RecordValue['kind'] = 'property'): RecordValue {
  return { object: sql`jsonb_build_object('value', ${expression})`, key: 'value', kind, isKnown: true }
}

/** A dimension by a property. */
export function byProperty(fields: Pick<FilteredRecords, 'properties'>, property: string, more = ''): RecordDimension {
  return {
    value: () => propertyOf(fields, property),
    description: `Property ${property}${more}.`,
    // The tenant may hide any property.
    mark: valueNamedBy('group_by'),
  }
}

/** Dimensions by properties, which their names select. */
export function byProperties<Name extends string>(
  fields: Pick<FilteredRecords, 'properties'>,
  properties: Readonly<Record<Name, string>>,
) {
  const dimensions = Object.entries<string>(properties).map(([name, property]) => [name, byProperty(fields, property)])
  return Object.fromEntries(dimensions) as Record<Name, RecordDimension>
}

const hasSocialProfile: RecordDimension = {
  value: () => computed(sql`contacts.facets @> ARRAY['has_social_profile']`),
  description: 'Whether the contact has a social-network profile.',
  mark: WORD,
}

/** The dimensions of contacts. */
export const CONTACT_DIMENSIONS = {
  ...byProperties(CONTACT_FILTER_FIELDS, CONTACT_FACETS),
  company: byProperty(CONTACT_FILTER_FIELDS, 'company', ', a name'),
  job_title: byProperty(CONTACT_FILTER_FIELDS, 'jobtitle'),
  company_id: {
    value: () => computed(sql`contacts.company_id`, 'id'),
    description: 'Associated company; contacts without one are in no bucket.',
    mark: WORD,
  },
  created_day: {
    value: (timeZone) =>
      computed(sql`to_char(contacts.created_at AT TIME ZONE ${timeZone}::text, 'YYYY-MM-DD')`, 'day'),
    description: 'Day of creation in `time_zone`, `YYYY-MM-DD`: the most recent days, in chronological order.',
    mark: WORD,
  },
  has_linkedin: hasSocialProfile,
  has_social_profile: { ...hasSocialProfile, description: 'The same as has_linkedin.' },
} as const satisfies Readonly<Record<string, RecordDimension>>

/** The value of contacts with a name: a dimension, a column or a property. */
export function contactValue(name: string, timeZone: string): RecordValue {
  return valueNamed(name, timeZone, CONTACT_DIMENSIONS, CONTACT_FILTER_FIELDS)
}

const PROPERTIES = 'properties.'

/** The value with a name; a property that is called like a dimension or a column is `properties.<key>`. */
export function valueNamed(
  name: string,
  timeZone: string,
  dimensions: Readonly<Record<string, RecordDimension>>,
  fields: FilteredRecords,
): RecordValue {
  if (name.startsWith(PROPERTIES)) return propertyOf(fields, name.slice(PROPERTIES.length))
  const dimension = Object.hasOwn(dimensions, name) ? dimensions[name] : undefined
  if (dimension) return { ...dimension.value(timeZone), isKnown: true }
  if (fields.textColumns.includes(name)) return computed(fields.column(name))
  if (fields.timeColumns.includes(name)) {
    const time = sql`to_char(${fields.column(name)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    return computed(time)
  }
  return propertyOf(fields, name)
}

/** A query of the matching contacts with values of each. */
export function contactsWith<Value extends string>(
  tenant: Tenant,
  filters: ContactFilters,
  values: Readonly<Record<Value, RawBuilder<unknown>>>,
) {
  const selected = Object.entries<RawBuilder<unknown>>(values).map(([name, value]) => value.as(name as Value))
  // Without the offset, PostgreSQL would compute a value as often as the query around this one uses it.
  return matchingContacts(tenant, filters).select(selected).offset(0)
}
