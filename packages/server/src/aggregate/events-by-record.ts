import { hash } from 'node:crypto'
import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { DECIMALS, partsOf } from '../figures/event-figures.ts'
import type { Measure, Metric } from '../figures/measure.ts'
import { NOBODY } from '../journal/event-record.ts'
import { CONTACT_OF_EVENT } from '../platform/clickhouse/owner-links.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Bucket, BucketKey } from './dimension.ts'
import type { EventSummary } from './events.ts'
import { keysOfContacts, type RecordGrouping, recordValue } from './records.ts'

/** The metrics that can be computed from parts of them. */
export const METRICS_OF_PARTS: readonly Metric[] = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'unique_contacts',
  'unique_people',
]

/** Parts of the figures of some events. */
interface Part {
  records: number
  contacts: number
  people: number
  numbers: number
  /** The sum as a whole number of 10^-30. */
  exact: bigint
  /** The sum of doubles, which counts if the other one `isRough`. */
  rough: number
  isRough: boolean
  min: number
  max: number
}

const NOTHING: Part = {
  records: 0,
  contacts: 0,
  people: 0,
  numbers: 0,
  exact: 0n,
  rough: 0,
  isRough: false,
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
}

/** The parts of a contact's events, as ClickHouse returns those that the metric needs. */
interface Row {
  contact_id: string
  records: number
  people?: number
  numbers?: number
  exact?: string
  rough?: number | null
  is_rough?: number
  min?: number | null
  max?: number | null
}

/** Contacts per PostgreSQL query: few enough not to delay other requests, enough to make round trips negligible. */
const CONTACTS_PER_QUERY = 2_000

/**
 * Groups events by a value of their contact, such as its country, its company or its company's industry. Only PostgreSQL has
 * those, so ClickHouse aggregates by contact, and its result, one row per contact, is streamed and mapped to keys some rows
 * at a time: memory use grows with the number of keys, not of contacts or events.
 */
export async function aggregateEventsByRecord(
  tenant: Tenant,
  filters: EventFilters,
  grouping: RecordGrouping,
  measure: Measure,
  limit: number,
): Promise<EventSummary> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const parts = partsOf(measure)
  const batches = tenant.events.stream<Row>({
    name: 'aggregate.events_by_record',
    lane: 'heavy',
    withContacts: true,
    // All anonymous events, often most of them, become one row.
    columns: `${CONTACT_OF_EVENT} AS contact_id, ${parts.columns}`,
    where,
    parameters: { ...parameters, ...parts.parameters },
    groupBy: 'contact_id',
  })
  const found = new Map<BucketKey, Part>()
  const count = (key: BucketKey, row: Row) => found.set(key, add(found.get(key) ?? NOTHING, row))
  let total = 0
  let waiting: Row[] = []
  const map = async () => {
    const rows = waiting
    waiting = []
    const ids = rows.map((row) => row.contact_id)
    const keys = await keysOfContacts(tenant, ids, grouping, measure.redaction !== undefined)
    for (const row of rows) for (const key of keys.get(row.contact_id) ?? [null]) count(key, row)
  }
  for await (const rows of batches) {
    for (const row of rows) {
      total += Number(row.records)
      if (row.contact_id === NOBODY) count(null, row)
      else waiting.push(row)
    }
    if (waiting.length >= CONTACTS_PER_QUERY) await map()
  }
  await map()
  const hidesMissing = recordValue(grouping).kind === 'id'
  const buckets = [...found]
    .filter(([key]) => key !== null || !hidesMissing)
    .map(([key, part]) => ({ key, value: figureOf(part, measure.metric) }))
  return {
    buckets: inOrder(buckets, measure).slice(0, limit),
    total,
    distinctGroups: found.size - (found.has(null) ? 1 : 0),
  }
}

function add(part: Part, row: Row): Part {
  const isContact = row.contact_id !== NOBODY
  return {
    records: part.records + Number(row.records),
    contacts: part.contacts + (isContact ? 1 : 0),
    people: part.people + (isContact ? 1 : Number(row.people ?? 0)),
    numbers: part.numbers + Number(row.numbers ?? 0),
    exact: part.exact + decimalOf(row.exact ?? '0'),
    // A sum beyond the range of a double is null.
    rough: part.rough + (row.rough === null ? Number.NaN : (row.rough ?? 0)),
    isRough: part.isRough || row.is_rough === 1,
    min: Math.min(part.min, row.min ?? Number.POSITIVE_INFINITY),
    max: Math.max(part.max, row.max ?? Number.NEGATIVE_INFINITY),
  }
}

/** A decimal as a whole number of 10^-30. */
function decimalOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

function figureOf(part: Part, metric: Metric): number | null {
  if (metric === 'count') return part.records
  if (metric === 'unique_contacts') return part.contacts
  if (metric === 'unique_people') return part.people
  if (part.numbers === 0) return null
  if (metric === 'min' || metric === 'max') return part[metric]
  const count = metric === 'avg' ? part.numbers : 1
  const figure = part.isRough ? rounded(part.rough / count) : quotientOf(part.exact, count)
  return Number.isFinite(figure) ? figure : null
}

/** The double that is nearest to a decimal divided by a whole number. */
function quotientOf(decimal: bigint, count: number): number {
  return Number(`${(decimal * 10n ** BigInt(DECIMALS)) / BigInt(count)}e-${2 * DECIMALS}`)
}

/** Digits after the 15th are errors of the calculation. */
function rounded(number: number): number {
  return Number(number.toPrecision(15))
}

/** By value, then by the JSON of their keys or, for a caller from whom values are hidden, by a hash of it; null comes last. */
function inOrder(buckets: Bucket[], { redaction }: Measure): Bucket[] {
  const orderOf = ({ key }: Bucket) => {
    const json = JSON.stringify(key)
    return redaction ? hash('md5', `${redaction.orderSecret}${json}`) : json
  }
  const sorted = buckets.map((bucket) => ({
    bucket,
    isMissing: bucket.key === null,
    order: Buffer.from(orderOf(bucket)),
  }))
  sorted.sort((a, b) => {
    const [valueA, valueB] = [a.bucket.value ?? Number.NEGATIVE_INFINITY, b.bucket.value ?? Number.NEGATIVE_INFINITY]
    if (valueA !== valueB) return valueB - valueA
    return Number(a.isMissing) - Number(b.isMissing) || Buffer.compare(a.order, b.order)
  })
  return sorted.map(({ bucket }) => bucket)
}
