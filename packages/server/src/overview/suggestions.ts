import { searchCompanies } from '../companies/list.ts'
import { frequentValues, VALUE_LENGTH_MAX } from '../contacts/property-values.ts'
import { eventConditions } from '../events/conditions.ts'
import { containsFolded } from '../platform/clickhouse/folded-text.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import type { Entity } from '../properties/catalogue.ts'
import { CONTACTS } from '../segments/contact-filters.ts'

const EVENT_DAYS_READ = 90
const EVENT_SECONDS_MAX = 5

export interface Suggestion {
  /** The value for the filter. */
  value: string | number | boolean
  /** The label, if it differs from the value. */
  label: string | null
  /** How many of the searched records have it. */
  count: number
}

/** The event columns of filters, by their names in the filter. */
const COLUMN_OF_PROPERTY: Readonly<Record<string, string>> = {
  'event.type': 'event',
  'event.text': 'text',
  'event.text_contains': 'text',
  'event.url_contains': 'url_path',
  'event.class_contains': 'class',
  'event.element_id': 'element_id',
}

/** The kind of record whose values are suggested for a property. */
export function entityOf(property: string): Entity {
  if (Object.hasOwn(COLUMN_OF_PROPERTY, property)) return 'events'
  return property === 'company_id' ? 'companies' : 'contacts'
}

/**
 * Values of a property among the newest contacts, most frequent first; for `event.type` and similar names, among
 * events.
 */
export async function suggestValues(
  tenant: Tenant,
  property: string,
  typed: string,
  limit: number,
  now: Date,
): Promise<Suggestion[]> {
  const entity = entityOf(property)
  if (entity === 'events') return suggestOfEvents(tenant, COLUMN_OF_PROPERTY[property] ?? '', typed, limit, now)
  if (CONTACTS.timeColumns.includes(property)) return []
  if (entity === 'companies') return suggestCompanies(tenant, typed, limit)
  const values = await frequentValues(tenant, property, typed, limit)
  return values.map((each) => ({ ...each, label: null }))
}

async function suggestCompanies(tenant: Tenant, typed: string, limit: number): Promise<Suggestion[]> {
  const companies = await searchCompanies(tenant, typed, limit)
  return companies.map(({ company_id, name, domain }) => ({ value: company_id, label: name ?? domain, count: 1 }))
}

async function suggestOfEvents(tenant: Tenant, column: string, typed: string, limit: number, now: Date) {
  const since = new Date(now.getTime() - EVENT_DAYS_READ * DAY_MS)
  // System events can be used in filters too.
  const { where, parameters } = eventConditions({ date_after: since, includeSystem: column === 'event' })
  const rows = await tenant.events.select<{ value: string; count: number }>({
    name: 'segments.suggestions',
    lane: 'heavy',
    columns: `${column} AS value, count() AS count`,
    where: [
      ...(column === 'event' ? ['is_system IN (0, 1)'] : []),
      ...where,
      `${column} != '' AND lengthUTF8(${column}) <= ${VALUE_LENGTH_MAX} AND ${containsFolded(column, 'typed')}`,
    ],
    parameters: { ...parameters, typed },
    groupBy: 'value',
    orderBy: 'count DESC, value',
    limit,
    secondsMax: EVENT_SECONDS_MAX,
  })
  return rows.map(({ value, count }) => ({ value, label: null, count: Number(count) }))
}
