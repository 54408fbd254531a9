import { type AliasedExpression, type RawBuilder, sql } from 'kysely'
import { COMPANY_DIMENSIONS, companiesBy } from '../companies/dimensions.ts'
import type { CompanyFilters } from '../companies/list.ts'
import { CONTACT_DIMENSIONS, contactsBy, type KeyedRecord } from '../contacts/dimensions.ts'
import type { ContactFilters } from '../contacts/list.ts'
import type { Tenant } from '../platform/tenant.ts'
import { membersCounted } from '../segments/list-filter.ts'
import { type Bucket, type Dimension, isTime, type Measure, type Metric } from './dimension.ts'

export interface Summary {
  buckets: Bucket[]
  /** The number of matching records, including those in no returned bucket. */
  total: number
}

/** @throws ServiceError 400 `unknown_segment`, 409 `segment_counting`. */
export async function aggregateContacts(
  tenant: Tenant,
  { segment_id: segmentId, ...own }: ContactFilters & { segment_id?: string },
  dimension: keyof typeof CONTACT_DIMENSIONS,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const filters = segmentId === undefined ? own : { ...own, conditions: [await membersCounted(tenant, segmentId)] }
  const matching = contactsBy(tenant, filters, dimension).as('matching')
  return summarize(tenant, matching, CONTACT_DIMENSIONS[dimension], measure, limit)
}

export async function aggregateCompanies(
  tenant: Tenant,
  filters: CompanyFilters,
  dimension: keyof typeof COMPANY_DIMENSIONS,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const matching = companiesBy(tenant, filters, dimension).as('matching')
  return summarize(tenant, matching, COMPANY_DIMENSIONS[dimension], measure, limit)
}

/** Listed explicitly, so that no input can become SQL. */
const METRIC_SQL: Record<Exclude<Metric, 'count'>, (number: RawBuilder<unknown>) => RawBuilder<string | null>> = {
  avg: (number) => sql`avg(${number})`,
  sum: (number) => sql`sum(${number})`,
  min: (number) => sql`min(${number})`,
  max: (number) => sql`max(${number})`,
}

function measureOf({ metric, field, redaction }: Measure): RawBuilder<string | null> {
  if (metric === 'count') return sql`count(*)`
  if (!redaction) return METRIC_SQL[metric](sql`numeric_property(matching.properties, ${field}::text)`)
  const visible = sql`visible_number(matching.properties, ${field}::text)`
  return METRIC_SQL[metric](
    sql`CASE WHEN jsonb_typeof(matching.properties -> ${field}::text) = 'number' THEN ${visible} END`,
  )
}

/**
 * The largest groups and the total of all groups, in one pass. A hidden group counts in the total, so it is read first,
 * in addition to the limit; the total is then known even if there is no other group.
 */
async function summarize(
  tenant: Tenant,
  matching: AliasedExpression<KeyedRecord, 'matching'>,
  dimension: Dimension,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const hidesMissing = dimension.kind === 'id'
  // Texts are sorted by byte, as in ClickHouse, regardless of the database's locale.
  const key = dimension.kind === 'boolean' ? sql`key` : sql`key COLLATE "C"`
  const ties = measure.redaction ? sql`md5(${measure.redaction.orderSecret} || key::text)` : key
  const order = isTime(dimension) ? sql`${key} DESC` : sql`value DESC NULLS LAST, ${ties} ASC NULLS LAST`
  const groups = tenant.db
    .selectFrom(matching)
    .select(['matching.key', measureOf(measure).as('value'), sql<number>`count(*)`.as('records')])
    .groupBy('matching.key')
  const rows = await tenant.heavyRead(() =>
    tenant.db
      .selectFrom(groups.as('groups'))
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
function numberOf(value: string | null): number | null {
  const number = value === null ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}
