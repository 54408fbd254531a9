import { companiesOfContacts } from '../contacts/of-companies.ts'
import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { NOBODY } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Bucket, Measure, Metric } from './dimension.ts'
import { fieldParameters } from './event-dimensions.ts'
import type { EventSummary } from './events.ts'
import { partColumns, partsOfContact } from './events-by-contact.ts'

/** Partial aggregates of a company's events. */
interface Part {
  records: number
  numbers: number
  sum: number
  min: number
  max: number
}

interface Row {
  contact_id: string
  records: number
  numbers?: number
  sum?: number
  min?: number | null
  max?: number | null
}

/** Contacts per PostgreSQL query: few enough not to delay other requests, enough to make round trips negligible. */
const CONTACTS_PER_QUERY = 2_000

/**
 * Groups events by the current company of their contact. Only PostgreSQL has the companies, so ClickHouse aggregates by
 * contact, and its result, one row per contact, is streamed and mapped to companies some rows at a time: memory use grows with the
 * number of companies, not of contacts or events.
 */
export async function aggregateEventsByCompany(
  tenant: Tenant,
  filters: EventFilters,
  measure: Measure,
  limit: number,
): Promise<EventSummary> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const batches = tenant.events.stream<Row>({
    name: 'aggregate.events_by_company',
    lane: 'heavy',
    columns: partColumns(measure),
    where,
    parameters: { ...parameters, ...fieldParameters(measure) },
    isPerContact: true,
    // All anonymous owners, often most of them, become one row.
    outer: { columns: `contact_id, ${partsOfContact(measure)}`, groupBy: 'contact_id' },
  })
  const companies = new Map<string, Part>()
  let total = 0
  let waiting: Row[] = []
  const map = async () => {
    const rows = waiting
    waiting = []
    const companyOf = await companiesOfContacts(
      tenant,
      rows.map((row) => row.contact_id),
    )
    for (const row of rows) {
      const companyId = companyOf.get(row.contact_id)
      if (companyId !== undefined) companies.set(companyId, add(companies.get(companyId), row))
    }
  }
  for await (const rows of batches) {
    for (const row of rows) {
      total += Number(row.records)
      if (row.contact_id !== NOBODY) waiting.push(row)
    }
    if (waiting.length >= CONTACTS_PER_QUERY) await map()
  }
  await map()
  const buckets = [...companies].map(([key, part]) => ({ key, value: figureOf(part, measure.metric) }))
  return { buckets: buckets.sort(byValueThenKey).slice(0, limit), total, distinctGroups: companies.size }
}

function add(part: Part = { records: 0, numbers: 0, sum: 0, min: Infinity, max: -Infinity }, row: Row): Part {
  return {
    records: part.records + Number(row.records),
    numbers: part.numbers + Number(row.numbers ?? 0),
    sum: part.sum + (row.sum ?? 0),
    min: Math.min(part.min, row.min ?? Infinity),
    max: Math.max(part.max, row.max ?? -Infinity),
  }
}

function figureOf(part: Part, metric: Metric): number | null {
  if (metric === 'count') return part.records
  if (part.numbers === 0) return null
  return metric === 'avg' ? part.sum / part.numbers : part[metric]
}

function byValueThenKey(a: Bucket & { key: string }, b: Bucket & { key: string }): number {
  const [valueA, valueB] = [a.value ?? -Infinity, b.value ?? -Infinity]
  if (valueA !== valueB) return valueB - valueA
  return a.key < b.key ? -1 : 1
}
