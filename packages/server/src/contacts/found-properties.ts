import { type AliasedExpression, sql } from 'kysely'
import { type SampledProperty, VALUE_LENGTH_MAX, VALUES_SAMPLED } from '../events/data-keys.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { PropertyType } from './property-catalogue.ts'

/** The number of newest records to collect properties from: few enough to be fast for any tenant. */
export const NEWEST_RECORDS = 1_000
const PROPERTIES_MAX = 500

export interface FoundProperty {
  name: string
  type: PropertyType
  /** How many of the newest records have it. */
  records: number
}

interface Row {
  key: string
  records: number
  numbers: number
  booleans: number
  lists: number
  dates: number
  numeric_texts: number
}

/** The properties of a tenant's newest contacts, most frequent first, with their most common type. */
export function findContactProperties(tenant: Tenant): Promise<FoundProperty[]> {
  return findProperties(tenant, newestContacts(tenant))
}

/** The properties of a tenant's newest contacts, most frequent first, with some of their values. */
export function sampleContactProperties(tenant: Tenant): Promise<SampledProperty[]> {
  return sampleProperties(tenant, newestContacts(tenant))
}

function newestContacts(tenant: Tenant) {
  const newest = tenant.db.selectFrom('contacts').select('properties').orderBy('created_at', 'desc')
  return newest.limit(NEWEST_RECORDS).as('newest')
}

/** The properties of some records, most frequent first, with some of their values. Lists have none. */
export async function sampleProperties(
  tenant: Tenant,
  newest: AliasedExpression<{ properties: unknown }, 'newest'>,
): Promise<SampledProperty[]> {
  const pairs = tenant.db.selectFrom(newest).select(sql`jsonb_each(newest.properties)`.as('pair')).as('pairs')
  const text = sql<string>`left((pairs.pair).value #>> '{}', ${VALUE_LENGTH_MAX})`
  const numbered = tenant.db
    .selectFrom(pairs)
    .select([sql<string>`(pairs.pair).key`.as('key'), text.as('value')])
    .select(sql<number>`row_number() OVER (PARTITION BY (pairs.pair).key)`.as('place'))
    .where(sql<boolean>`jsonb_typeof((pairs.pair).value) IN ('string', 'number', 'boolean')`)
    .as('numbered')
  const rows = await tenant.db
    .selectFrom(numbered)
    .select([
      'numbered.key as name',
      sql<number>`count(*)`.as('records'),
      sql<number>`count(DISTINCT numbered.value)`.as('differentValues'),
      sql<string[]>`array_agg(numbered.value) FILTER (WHERE numbered.place <= ${VALUES_SAMPLED})`.as('values'),
    ])
    .groupBy('numbered.key')
    .orderBy(sql`2 DESC, 1`)
    .limit(PROPERTIES_MAX)
    .execute()
  return rows.map(({ name, values, ...counts }) => ({
    name,
    records: Number(counts.records),
    differentValues: Number(counts.differentValues),
    values,
  }))
}

/** The properties of some records, most frequent first, with their most common type. */
export async function findProperties(
  tenant: Tenant,
  newest: AliasedExpression<{ properties: unknown }, 'newest'>,
): Promise<FoundProperty[]> {
  const pairs = tenant.db.selectFrom(newest).select(sql`jsonb_each(newest.properties)`.as('pair')).as('pairs')
  const kind = sql`jsonb_typeof((pairs.pair).value)`
  const text = sql`(pairs.pair).value #>> '{}'`
  const rows: Row[] = await tenant.db
    .selectFrom(pairs)
    .select([
      sql<string>`(pairs.pair).key`.as('key'),
      sql<number>`count(*)`.as('records'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'number')`.as('numbers'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'boolean')`.as('booleans'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'array')`.as('lists'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'string' AND timestamp_of(${text}) IS NOT NULL)`.as('dates'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'string'
        AND numeric_property(jsonb_build_object('n', (pairs.pair).value), 'n') IS NOT NULL)`.as('numeric_texts'),
    ])
    .groupBy(sql`1`)
    .orderBy(sql`2 DESC, 1`)
    .limit(PROPERTIES_MAX)
    .execute()
  return rows.map((row) => ({ name: row.key, type: typeOf(row), records: Number(row.records) }))
}

function typeOf({ records, numbers, booleans, lists, dates, numeric_texts }: Row): PropertyType {
  const most = (count: number) => count * 2 > records
  if (most(numbers + numeric_texts)) return 'number'
  if (most(booleans)) return 'boolean'
  if (most(lists)) return 'list'
  return most(dates) ? 'date' : 'text'
}
