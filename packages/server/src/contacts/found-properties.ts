import { type AliasedExpression, sql } from 'kysely'
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
  const newest = tenant.db.selectFrom('contacts').select('properties').orderBy('created_at', 'desc')
  return findProperties(tenant, newest.limit(NEWEST_RECORDS).as('newest'))
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
