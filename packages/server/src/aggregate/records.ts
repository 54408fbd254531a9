import { type AliasableExpression, type RawBuilder, sql } from 'kysely'
import { companiesWith } from '../companies/dimensions.ts'
import type { CompanyFilters } from '../companies/list.ts'
import { contactsWith } from '../contacts/dimensions.ts'
import type { ContactFilters } from '../contacts/list.ts'
import { type Measure, type Metric, needsNumbers } from '../figures/measure.ts'
import { type BucketKey, isKey, keysOf, type RecordGrouping, recordValue } from '../figures/values-of-records.ts'
import type { Tenant } from '../platform/tenant.ts'
import { membersCounted } from '../segments/list-filter.ts'
import type { Bucket } from './dimension.ts'

export interface Summary {
  buckets: Bucket[]
  /** The number of matching records, including those in no returned bucket. */
  total: number
}

/** What a query of the records selects of each. */
type FoundRecord = Record<'value' | 'object' | 'number', unknown>

/** @throws ServiceError 400 `unknown_segment`, 409 `segment_counting`. */
export async function aggregateContacts(
  tenant: Tenant,
  { segment_id: segmentId, ...own }: ContactFilters & { segment_id?: string },
  grouping: RecordGrouping,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const inSegment = segmentId === undefined ? [] : [await membersCounted(tenant, segmentId)]
  const filters = { ...own, conditions: [...(own.conditions ?? []), ...inSegment] }
  const found = contactsWith(tenant, filters, valueAndNumber(grouping, measure))
  return summarize(tenant, found, grouping, measure, limit)
}

export async function aggregateCompanies(
  tenant: Tenant,
  filters: CompanyFilters,
  grouping: RecordGrouping,
  measure: Measure,
  limit: number,
): Promise<Summary> {
  const found = companiesWith(tenant, filters, valueAndNumber(grouping, measure))
  return summarize(tenant, found, grouping, measure, limit)
}

/** Whether the service knows a name, or any record of the tenant has a property that is called so. */
export async function hasValue(tenant: Tenant, grouping: RecordGrouping): Promise<boolean> {
  const { object, key, isKnown } = recordValue(grouping)
  if (isKnown) return true
  const value = { value: sql`${object} -> ${key}::text` }
  const all = grouping.entity === 'contacts' ? contactsWith(tenant, {}, value) : companiesWith(tenant, {}, value)
  const some = tenant.db
    .selectFrom(all.as('found'))
    .select('value')
    .where(isKey(sql.ref('value')))
    .limit(1)
  return (await tenant.heavyRead(() => some.execute())).length > 0
}

function valueAndNumber(grouping: RecordGrouping, measure: Measure) {
  const { object, key } = recordValue(grouping)
  const value = sql`${object} -> ${key}::text`
  return { value, object, number: needsNumbers(measure.metric) ? numberOf(grouping, measure) : sql<null>`NULL` }
}

/** The number that a figure is computed from. A name is a property's, except `company.<key>` and counts. */
function numberOf({ entity, timeZone }: RecordGrouping, { field, redaction }: Measure): RawBuilder<unknown> {
  const { object, key } = recordValue({ entity, name: field, timeZone })
  if (!redaction) return sql`numeric_property(${object}, ${key}::text)`
  return sql`CASE WHEN jsonb_typeof(${object} -> ${key}::text) = 'number' THEN visible_number(${object}, ${key}::text) END`
}

/** Listed explicitly, so that no input can become SQL. */
const METRIC_SQL: Partial<Record<Metric, RawBuilder<string>>> = {
  avg: sql`avg(number)`,
  sum: sql`sum(number)`,
  min: sql`min(number)`,
  max: sql`max(number)`,
  median: percentile(5),
  p90: percentile(9),
}

/** Between two values it interpolates. percentile_cont would do it in doubles, whose errors show: 4520.00000000001. */
function percentile(tenths: number): RawBuilder<string> {
  const sorted = sql`(array_agg(number ORDER BY number) FILTER (WHERE number IS NOT NULL))`
  const place = sql`((count(number) - 1) * ${sql.lit(tenths)})::int`
  const share = sql`(${place} % 10)`
  const below = sql`${sorted}[${place} / 10 + 1]`
  const above = sql`${sorted}[${place} / 10 + 1 + sign(${share})::int]`
  return sql`(${below} * (10 - ${share}) + ${above} * ${share}) / 10`
}

/**
 * The largest groups and the total of all groups, in one pass. A hidden group counts in the total, so it is read first,
 * in addition to the limit; the total is then known even if there is no other group.
 */
async function summarize(
  tenant: Tenant,
  found: AliasableExpression<FoundRecord>,
  grouping: RecordGrouping,
  { metric, redaction }: Measure,
  limit: number,
): Promise<Summary> {
  const { key: name, kind } = recordValue(grouping)
  const hidesMissing = kind === 'id'
  const isTime = kind === 'day'
  // JSON is sorted by byte, as in ClickHouse, regardless of the database's locale.
  const key = sql`key::text COLLATE "C"`
  const ties = redaction ? sql`md5(${redaction.orderSecret} || key::text)` : key
  const order = isTime ? sql`${key} DESC` : sql`value DESC NULLS LAST, ${ties} ASC NULLS LAST`
  const keyed = tenant.db
    .selectFrom(found.as('found'))
    .select(['number', keysOf(redaction ? name : null).as('keys')])
    // As in `contactsWith`.
    .offset(0)
  // A record with several keys counts in the group of each, but is one record.
  const counted = tenant.db
    .selectFrom(keyed.as('keyed'))
    .select(['number', sql<BucketKey>`unnest(keys)`.as('key'), sql<number>`generate_subscripts(keys, 1)`.as('nth')])
  const groups = tenant.db
    .selectFrom(counted.as('counted'))
    .select(['key', (METRIC_SQL[metric] ?? sql<string>`count(*)`).as('value')])
    .select(sql<number>`count(*) FILTER (WHERE nth = 1)`.as('records'))
    .groupBy('key')
  const rows = await tenant.heavyRead(() =>
    tenant.db
      .selectFrom(groups.as('groups'))
      .select(['key', 'value', sql<string>`sum(records) OVER ()`.as('total')])
      .orderBy(hidesMissing ? sql`key IS NOT NULL, ${order}` : order)
      .limit(hidesMissing ? limit + 1 : limit)
      .execute(),
  )
  const shown = hidesMissing ? rows.filter((row) => row.key !== null).slice(0, limit) : rows
  const buckets = shown.map((row) => ({ key: row.key, value: finite(row.value) }))
  return { buckets: isTime ? buckets.reverse() : buckets, total: Number(rows[0]?.total ?? 0) }
}

/** A result of PostgreSQL's decimal arithmetic; null if it exceeds the range of a double, and so of a JSON number. */
function finite(value: string | null): number | null {
  const number = value === null ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}
