import { companiesOfContacts } from '../contacts/read.ts'
import { type EventFilters, eventConditions } from '../events/filters.ts'
import { NO_CONTACT } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Bucket, Measure, Metric } from './dimension.ts'
import { numberIn } from './event-numbers.ts'
import { type EventSummary, fieldParameters } from './events.ts'

/** What the events of one contact, and then of one company, add up to. */
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

/** Contacts a look-up in PostgreSQL: few enough that other requests do not wait, enough that the round trips do not count. */
const CONTACTS_A_LOOKUP = 2_000

/**
 * Events by the company that their contact belongs to now. Which company that is only PostgreSQL knows, so ClickHouse
 * adds up the events of each contact, and its answer, one row a contact, is read and mapped some at a time:
 * the memory needed grows with the companies, not with the contacts or events.
 */
export async function aggregateEventsByCompany(
  tenant: Tenant,
  filters: EventFilters,
  measure: Measure,
  limit: number,
): Promise<EventSummary> {
  const { where, parameters } = eventConditions(filters)
  const number = numberIn('data')
  const numbers =
    measure.metric === 'count'
      ? ''
      : `, count(${number}) AS numbers, sum(${number}) AS sum, min(${number}) AS min, max(${number}) AS max`
  const answer = tenant.events.stream<Row>({
    name: 'aggregate.events_by_contact',
    lane: 'heavy',
    columns: `contact_id, count() AS records${numbers}`,
    where,
    parameters: { ...parameters, ...fieldParameters(measure) },
    groupBy: 'contact_id',
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
  for await (const rows of answer) {
    for (const row of rows) {
      total += Number(row.records)
      if (row.contact_id !== NO_CONTACT) waiting.push(row)
    }
    if (waiting.length >= CONTACTS_A_LOOKUP) await map()
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
