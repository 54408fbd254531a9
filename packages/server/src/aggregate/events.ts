import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { rollupConditions } from '../events/rollups.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type BucketKey, type Dimension, isTime, type Measure, type Metric } from './dimension.ts'
import { fieldParameters, numberIn } from './event-dimensions.ts'
import type { Summary } from './records.ts'

export interface EventSummary extends Summary {
  /** The number of distinct values of the dimension among the matching events, without the missing value. */
  distinctGroups: number
}

interface Row {
  key: string | boolean
  value: number | null
  total: number
  distinct_groups: number
}

/**
 * Groups events in one pass: the inner query returns a row per group, and the outer one computes the totals from those
 * rows, at a negligible cost.
 */
export async function aggregateEvents(
  tenant: Tenant,
  filters: EventFilters,
  dimension: Dimension,
  measure: Measure,
  limit: number,
): Promise<EventSummary> {
  const rollup = measure.metric === 'count' ? rollupConditions(filters, [dimension.sql]) : null
  const { where, parameters } = rollup ?? (await conditionsOf(tenant, filters))
  const missing = missingIn(dimension)
  const hidesMissing = dimension.kind === 'id'
  const ties = measure.redaction ? 'MD5(concat({order_secret: String}, toString(key)))' : 'key'
  const order = isTime(dimension) ? 'key DESC' : `value DESC NULLS LAST, ${missing}, ${ties}`
  const rows = await tenant.events.select<Row>({
    name: 'aggregate.events',
    lane: rollup ? 'light' : 'heavy',
    isRollup: rollup !== null,
    columns: `${dimension.sql} AS key, ${measureOf(measure)} AS value, count() AS records`,
    where,
    parameters: {
      ...parameters,
      ...fieldParameters(measure),
      ...(measure.redaction ? { order_secret: measure.redaction.orderSecret } : {}),
    },
    groupBy: 'key',
    outer: {
      columns: `${shownKey(dimension)} AS key, value, sum(records) OVER () AS total, countIf(NOT ${missing}) OVER () AS distinct_groups`,
      // A hidden group counts in the total, so it is read first, in addition to the limit.
      orderBy: hidesMissing ? `${missing} DESC, ${order}` : order,
      limit: hidesMissing ? limit + 1 : limit,
    },
  })
  const buckets = rows
    .map((row) => ({ key: keyOf(row.key), value: row.value === null ? null : Number(row.value) }))
    .filter(({ key }) => key !== null || !hidesMissing)
    .slice(0, limit)
  const [first] = rows
  return {
    buckets: isTime(dimension) ? buckets.reverse() : buckets,
    total: Number(first?.total ?? 0),
    distinctGroups: Number(first?.distinct_groups ?? 0),
  }
}

/** Listed explicitly, so that no input can become SQL. */
const METRIC_SQL: Record<Exclude<Metric, 'count'>, string> = { avg: 'avg', sum: 'sum', min: 'min', max: 'max' }

function measureOf(measure: Measure): string {
  const { metric } = measure
  return metric === 'count' ? 'count()' : `${METRIC_SQL[metric]}(${numberIn('data', measure)})`
}

/** The condition that a group's key is a missing value. */
function missingIn({ kind }: Dimension): string {
  return kind === 'text' || kind === 'id' ? `(key = '')` : '(key IS NULL)'
}

function shownKey({ kind }: Dimension): string {
  if (kind === 'day') return 'toString(found.key)'
  if (kind === 'week') return `formatDateTime(found.key, '%G-W%V')`
  if (kind === 'month') return `formatDateTime(found.key, '%Y-%m')`
  return 'found.key'
}

function keyOf(key: string | boolean): BucketKey {
  return key === '' ? null : key
}
