import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { type CompanyFilters, matchingCompanies } from '../companies/list.ts'
import { type ContactFilters, matchingContacts } from '../contacts/list.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { membersCounted } from '../segments/list-filter.ts'
import { type Bucket, type BucketKey, type Dimension, isTime, type Measure, type Metric } from './dimension.ts'

export interface Summary {
  buckets: Bucket[]
  /** The number of matching records, including those in no returned bucket. */
  total: number
}

/** @throws ServiceError 400 `unknown_segment`, 409 `segment_counting`. */
export async function aggregateContacts(
  tenant: Tenant,
  { segment_id: segmentId, ...own }: ContactFilters & { segment_id?: string },
  dimension: Dimension,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const filters = segmentId === undefined ? own : { ...own, conditions: [await membersCounted(tenant, segmentId)] }
  const value = measureOf(sql.ref('contacts.properties'), measure)
  return summarize(tenant, groups(matchingContacts(tenant, filters), dimension, value), dimension, limit)
}

export async function aggregateCompanies(
  tenant: Tenant,
  filters: CompanyFilters,
  dimension: Dimension,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const value = measureOf(sql.ref('companies.properties'), measure)
  return summarize(tenant, groups(matchingCompanies(tenant, filters), dimension, value), dimension, limit)
}

/** Listed explicitly, so that no input can become SQL. */
const METRIC_SQL: Record<Exclude<Metric, 'count'>, (number: RawBuilder<unknown>) => RawBuilder<string | null>> = {
  avg: (number) => sql`avg(${number})`,
  sum: (number) => sql`sum(${number})`,
  min: (number) => sql`min(${number})`,
  max: (number) => sql`max(${number})`,
}

function measureOf(properties: Expression<unknown>, { metric, field }: Measure): RawBuilder<string | null> {
  if (metric === 'count') return sql`count(*)`
  const value = sql`(${properties} -> ${field}::text)`
  return METRIC_SQL[metric](sql`CASE WHEN jsonb_typeof(${value}) = 'number' THEN ${value}::numeric END`)
}

interface Group {
  key: BucketKey
  value: string | number | null
  records: number
}

/** A row per group, with the number of its records. */
function groups<Table extends 'contacts' | 'companies'>(
  matching: SelectQueryBuilder<TenantTables, Table, object>,
  dimension: Dimension,
  value: RawBuilder<string | null>,
) {
  const key = sql.raw<BucketKey>(dimension.sql)
  return matching
    .select([key.as('key'), value.as('value'), sql<number>`count(*)`.as('records')])
    .groupBy(sql`1`) as unknown as SelectQueryBuilder<TenantTables, Table, Group>
}

/**
 * The largest groups and the total of all groups, in one pass. A hidden group counts in the total, so it is read first,
 * in addition to the limit; the total is then known even if there is no other group.
 */
async function summarize(
  tenant: Tenant,
  grouped: SelectQueryBuilder<TenantTables, 'contacts' | 'companies', Group> | ReturnType<typeof groups>,
  dimension: Dimension,
  limit: number,
): Promise<Summary> {
  const hidesMissing = dimension.kind === 'id'
  // Texts are sorted by byte, as in ClickHouse, regardless of the database's locale.
  const key = dimension.kind === 'boolean' ? sql`key` : sql`key COLLATE "C"`
  const order = isTime(dimension) ? sql`${key} DESC` : sql`value DESC NULLS LAST, ${key} ASC NULLS LAST`
  const rows = await tenant.heavyRead(() =>
    tenant.db
      .selectFrom((grouped as SelectQueryBuilder<TenantTables, 'contacts', Group>).as('groups'))
      .select(['key', 'value', sql<string>`sum(records) OVER ()`.as('total')])
      .orderBy(hidesMissing ? sql`key IS NOT NULL, ${order}` : order)
      .limit(hidesMissing ? limit + 1 : limit)
      .execute(),
  )
  const shown = hidesMissing ? rows.filter((row) => row.key !== null).slice(0, limit) : rows
  const buckets = shown.map((row) => ({ key: row.key, value: numberOf(row.value) }))
  return { buckets: isTime(dimension) ? buckets.reverse() : buckets, total: Number(rows[0]?.total ?? 0) }
}

/** A result of PostgreSQL's decimal arithmetic; null if it exceeds the range of a double, and so of a JSON number. */
function numberOf(value: string | number | null): number | null {
  const number = value === null ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}
