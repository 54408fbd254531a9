import { type AliasedExpression, sql } from 'kysely'
import { type SampledProperty, VALUE_LENGTH_MAX, VALUES_SAMPLED } from '../events/data-keys.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { PropertyType } from './property-catalogue.ts'

/** The number of newest records to collect properties from: few enough to be fast for any tenant. */
export const NEWEST_RECORDS = 2_000
const PROPERTIES_MAX = 500
const TOP_VALUES = 5
const TOP_VALUE_LENGTH_MAX = 100

export type PropertyKind = 'text' | 'number' | 'boolean' | 'time' | 'list'

export interface FoundProperty {
  name: string
  /** What most of its values are. A numeric text is a number. */
  type: PropertyType
  /** What its values are, without such readings. */
  kinds: PropertyKind[]
  /** How many of the newest records have it. */
  records: number
  /** The latest change of a record that has it. */
  lastSeenAt: Date
  /** Its most frequent values, most frequent first. */
  topValues: (string | number | boolean)[]
}

export interface FoundProperties {
  /** Most frequent first. */
  properties: FoundProperty[]
  /** How many there are, with those beyond the limit. */
  total: number
}

interface Row {
  key: string
  total: number
  last_seen_at: Date
  records: number
  texts: number
  numbers: number
  booleans: number
  lists: number
  dates: number
  numeric_texts: number
}

/** Records of which properties are collected. */
type Newest = AliasedExpression<{ properties: unknown; updated_at: Date }, 'newest'>

/** The properties of a tenant's newest contacts. */
export function findContactProperties(tenant: Tenant, limit: number): Promise<FoundProperties> {
  return findProperties(tenant, newestContacts(tenant), limit)
}

/** The properties of a tenant's newest contacts, most frequent first, with some of their values. */
export function sampleContactProperties(tenant: Tenant): Promise<SampledProperty[]> {
  return sampleProperties(tenant, newestContacts(tenant))
}

/** Whether any contact has a property. */
export async function hasContactProperty(tenant: Tenant, name: string): Promise<boolean> {
  const having = tenant.db.selectFrom('contacts').select('contact_id').where(sql<boolean>`properties ? ${name}`)
  return (await having.limit(1).execute()).length > 0
}

function newestContacts(tenant: Tenant) {
  const newest = tenant.db.selectFrom('contacts').select(['properties', 'updated_at']).orderBy('created_at', 'desc')
  return newest.limit(NEWEST_RECORDS).as('newest')
}

/** The properties of some records, most frequent first, with some of their values. Lists have none. */
export async function sampleProperties(tenant: Tenant, newest: Newest): Promise<SampledProperty[]> {
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

/** The properties of records, each with its value: `pair` in a query. */
const PAIRS = sql<{ key: string; value: unknown }>`jsonb_each(newest.properties)`.as<'pair'>(sql`pair(key, value)`)

/** The properties of some records. */
export async function findProperties(tenant: Tenant, newest: Newest, limit: number): Promise<FoundProperties> {
  const kind = sql`jsonb_typeof(pair.value)`
  const text = sql`pair.value #>> '{}'`
  const rows: Row[] = await tenant.db
    .selectFrom([newest, PAIRS])
    .select([
      'pair.key',
      sql<number>`count(*) OVER ()`.as('total'),
      sql<Date>`max(newest.updated_at)`.as('last_seen_at'),
      sql<number>`count(*)`.as('records'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'string')`.as('texts'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'number')`.as('numbers'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'boolean')`.as('booleans'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'array')`.as('lists'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'string' AND timestamp_of(${text}) IS NOT NULL)`.as('dates'),
      sql<number>`count(*) FILTER (WHERE ${kind} = 'string'
        AND numeric_property(jsonb_build_object('n', pair.value), 'n') IS NOT NULL)`.as('numeric_texts'),
    ])
    .groupBy('pair.key')
    .orderBy(sql`records DESC, key`)
    .limit(limit)
    .execute()
  const top = await topValues(tenant, newest)
  return {
    properties: rows.map((row) => ({
      name: row.key,
      type: typeOf(row),
      kinds: kindsOf(row),
      records: Number(row.records),
      lastSeenAt: row.last_seen_at,
      topValues: top.get(row.key) ?? [],
    })),
    total: Number(rows[0]?.total ?? 0),
  }
}

/** The most frequent values of each property that are neither lists nor long. */
async function topValues(tenant: Tenant, newest: Newest): Promise<Map<string, FoundProperty['topValues']>> {
  const counted = tenant.db
    .selectFrom([newest, PAIRS])
    .select(['pair.key', 'pair.value'])
    .select(sql<number>`row_number() OVER (PARTITION BY pair.key ORDER BY count(*) DESC, pair.value)`.as('place'))
    .where(sql<boolean>`jsonb_typeof(pair.value) IN ('string', 'number', 'boolean')`)
    .where(sql<boolean>`length(pair.value #>> '{}') BETWEEN 1 AND ${TOP_VALUE_LENGTH_MAX}`)
    .groupBy(['pair.key', 'pair.value'])
    .as('counted')
  const rows = await tenant.db
    .selectFrom(counted)
    .select('counted.key')
    .select(sql<FoundProperty['topValues']>`jsonb_agg(counted.value ORDER BY counted.place)`.as('values'))
    .where('counted.place', '<=', TOP_VALUES)
    .groupBy('counted.key')
    .execute()
  return new Map(rows.map(({ key, values }) => [key, values]))
}

function kindsOf({ texts, numbers, booleans, lists, dates }: Row): PropertyKind[] {
  const counts = { text: Number(texts) - Number(dates), number: numbers, boolean: booleans, time: dates, list: lists }
  const found = Object.entries(counts).filter(([, count]) => Number(count) > 0)
  return found.toSorted(([, a], [, b]) => Number(b) - Number(a)).map(([kind]) => kind as PropertyKind)
}

function typeOf({ records, numbers, booleans, lists, dates, numeric_texts }: Row): PropertyType {
  const most = (count: number) => count * 2 > records
  if (most(numbers + numeric_texts)) return 'number'
  if (most(booleans)) return 'boolean'
  if (most(lists)) return 'list'
  return most(dates) ? 'date' : 'text'
}
