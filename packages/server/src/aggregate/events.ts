import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { rollupConditions } from '../events/rollups.ts'
import { figureOf } from '../figures/event-figures.ts'
import type { Measure } from '../figures/measure.ts'
import type { BucketKey } from '../figures/values-of-records.ts'
import { NOBODY } from '../platform/clickhouse/owner-links.ts'
import type { Tenant } from '../platform/tenant.ts'
import { hourKey } from '../platform/time-zone.ts'
import { type EventGrouping, isPeriod, type KeyKind } from './event-dimensions.ts'
import type { Summary } from './records.ts'

export interface EventSummary extends Summary {
  /** The number of distinct values of the dimension among the matching events, without the missing value. */
  distinctGroups: number
}

interface Row {
  key: string | boolean | null
  value: number | string | null
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
  grouping: EventGrouping,
  measure: Measure,
  limit: number,
): Promise<EventSummary> {
  const { kind, parameters: ofGrouping = {}, valuesOf } = grouping
  const isSum = measure.metric === 'count' && Object.keys(ofGrouping).length === 0
  const rollup = isSum ? rollupConditions(filters, [grouping.sql]) : null
  const { where, parameters } = rollup ?? (await conditionsOf(tenant, filters))
  const figure = figureOf(measure)
  const { shown, missing, json } = FORMS[kind]
  const hidesMissing = kind === 'id' || kind === 'contact' || grouping.hidesMissing === true
  const ties = measure.redaction ? 'MD5(concat({order_secret: String}, toString(found.key)))' : json
  const order = isPeriod(kind)
    ? 'found.key DESC'
    : ['value DESC NULLS LAST', ...(missing ? [missing] : []), ties].join(', ')
  const rows = await tenant.events.select<Row>({
    name: 'aggregate.events',
    lane: rollup ? 'light' : 'heavy',
    isRollup: rollup !== null,
    withContacts: kind === 'contact' || figure.withContacts,
    ...(valuesOf === undefined ? {} : { valuesOf: [valuesOf] }),
    columns: `${keyAndRecords(grouping)}, ${figure.sql} AS value`,
    where,
    parameters: {
      ...parameters,
      ...ofGrouping,
      ...figure.parameters,
      ...(measure.redaction ? { order_secret: measure.redaction.orderSecret } : {}),
    },
    groupBy: 'key',
    outer: {
      columns: `${missing ? `if(${missing}, NULL, ${shown})` : shown} AS key, value, sum(records) OVER () AS total,
        ${missing ? `countIf(NOT ${missing})` : 'count()'} OVER () AS distinct_groups`,
      // A hidden group counts in the total, so it is read first, in addition to the limit.
      orderBy: hidesMissing ? `${missing} DESC, ${order}` : order,
      limit: hidesMissing ? limit + 1 : limit,
    },
  })
  const buckets = rows
    .map(({ key, value }) => ({ key: keyOf(key, kind), value: value === null ? null : Number(value) }))
    .filter(({ key }) => key !== null || !hidesMissing)
    .slice(0, limit)
  const [first] = rows
  return {
    buckets: isPeriod(kind) ? buckets.reverse() : buckets,
    total: Number(first?.total ?? 0),
    distinctGroups: Number(first?.distinct_groups ?? 0),
  }
}

/** An event with several keys counts in the group of each, but is one record. */
function keyAndRecords({ sql, kind }: EventGrouping): string {
  if (kind !== 'items') return `${sql} AS key, count() AS records`
  const keys = `if(empty(${sql} AS items), [''], arrayDistinct(items)) AS keys`
  return `tupleElement(arrayJoin(arrayZip(${keys}, arrayEnumerate(keys))) AS entry, 1) AS key, countIf(entry.2 = 1) AS records`
}

/** How a key is written, when it is missing, and its JSON, by which groups of equal value are sorted. */
interface Form {
  shown: string
  missing?: string
  json: string
}

const UUID: Form = { shown: 'toString(found.key)', json: 'toString(found.key)' }
const TEXT: Form = {
  shown: 'found.key',
  missing: `(found.key = '')`,
  // JSON does not escape slashes.
  json: String.raw`replaceAll(toJSONString(found.key), '\\/', '/')`,
}
/** Sorted by time. */
const IN_ORDER = { json: '' }

const FORMS: Record<KeyKind, Form> = {
  text: TEXT,
  id: TEXT,
  uuid: UUID,
  contact: { ...UUID, missing: `(found.key = ${NOBODY})` },
  boolean: { shown: 'found.key', json: 'found.key' },
  time: {
    shown: `concat(replaceOne(toString(found.key), ' ', 'T'), 'Z')`,
    json: 'found.key',
  },
  // A key is JSON already.
  items: { ...TEXT, json: 'found.key' },
  hour: { shown: `concat(toString(found.key.1), ' ', toString(found.key.2))`, ...IN_ORDER },
  day: { shown: 'toString(found.key)', ...IN_ORDER },
  week: { shown: `formatDateTime(found.key, '%G-W%V')`, ...IN_ORDER },
  month: { shown: `formatDateTime(found.key, '%Y-%m')`, ...IN_ORDER },
}

function keyOf(key: string | boolean | null, kind: KeyKind): BucketKey {
  if (typeof key !== 'string') return key
  if (kind === 'hour') return hourOf(key)
  if (kind !== 'items') return key
  const value = JSON.parse(key) as BucketKey | object
  // An object, or a list in a list, stays JSON.
  return typeof value === 'object' ? key : value
}

/** Of the hour's beginning and its offset, in seconds. */
function hourOf(key: string): string {
  const [start = 0, offset = 0] = key.split(' ').map(Number)
  return hourKey(start * 1000, offset)
}
