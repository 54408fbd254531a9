import { sql } from 'kysely'
import { eventConditions } from '../events/filters.ts'
import { containsFolded } from '../platform/clickhouse/folded-text.ts'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { CONTACTS } from './filter.ts'

/** The number of newest contacts to search for values, so that every keystroke is answered at once. */
const CONTACTS_READ = 10_000
const EVENT_DAYS_READ = 90
/** Longer values are texts that nobody compares with. */
const CHARACTERS_MAX = 1_000
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
  const column = COLUMN_OF_PROPERTY[property]
  if (column !== undefined) return suggestOfEvents(tenant, column, typed, limit, now)
  if (CONTACTS.timeColumns.includes(property)) return []
  if (property === 'company_id') return suggestCompanies(tenant, typed, limit)
  return suggestOfContacts(tenant, property, typed, limit)
}

async function suggestOfContacts(tenant: Tenant, property: string, typed: string, limit: number) {
  const value =
    property === 'email' || property === 'creation_source'
      ? sql`to_jsonb(${sql.ref(`contacts.${property}`)})`
      : sql`contacts.properties -> ${property}::text`
  const newest = tenant.db
    .selectFrom('contacts')
    .select(value.as('value'))
    .orderBy('created_at', 'desc')
    .limit(CONTACTS_READ)
    .as('newest')
  // A list counts as each of its elements.
  const values = tenant.db
    .selectFrom(newest)
    .select(
      sql`jsonb_array_elements(CASE WHEN jsonb_typeof(newest.value) = 'array' THEN newest.value
        ELSE jsonb_build_array(newest.value) END)`.as('value'),
    )
    .where(sql<boolean>`newest.value IS NOT NULL`)
    .as('every')
  const text = sql`every.value #>> '{}'`
  const rows = await tenant.heavyRead(() =>
    tenant.db
      .selectFrom(values)
      .select([sql<string | number | boolean>`every.value`.as('value'), sql<number>`count(*)`.as('count')])
      .where(
        sql<boolean>`${text} <> '' AND length(${text}) <= ${CHARACTERS_MAX} AND ${contains(sql`fold_text(${text})`, typed)}`,
      )
      .groupBy(sql`every.value`)
      .orderBy(sql`count(*) DESC, ${text}`)
      .limit(limit)
      .execute(),
  )
  return rows.map((row) => ({ value: row.value, label: null, count: row.count }))
}

async function suggestCompanies(tenant: Tenant, typed: string, limit: number): Promise<Suggestion[]> {
  const rows = await tenant.heavyRead(() =>
    tenant.db
      .selectFrom('companies')
      .select(['company_id', 'name', 'domain'])
      .where(contains(sql`companies.search_text`, typed))
      .orderBy('created_at', 'desc')
      .limit(limit)
      .execute(),
  )
  return rows.map(({ company_id, name, domain }) => ({ value: company_id, label: name ?? domain, count: 1 }))
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
      `${column} != '' AND lengthUTF8(${column}) <= ${CHARACTERS_MAX} AND ${containsFolded(column, 'typed')}`,
    ],
    parameters: { ...parameters, typed },
    groupBy: 'value',
    orderBy: 'count DESC, value',
    limit,
    secondsMax: EVENT_SECONDS_MAX,
  })
  return rows.map(({ value, count }) => ({ value, label: null, count: Number(count) }))
}
