import { conditionsOf } from '../events/conditions.ts'
import type { EventFilters } from '../events/filters.ts'
import { NOBODY } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Measure, Metric } from './dimension.ts'
import { fieldParameters, numberIn } from './event-dimensions.ts'
import type { EventSummary } from './events.ts'

/** Partial aggregates of an owner's events, from which those of its contact are computed. */
export function partColumns(measure: Measure): string {
  const number = numberIn('data', measure)
  const numbers = `count(${number}) AS numbers, sum(${number}) AS sum, min(${number}) AS min, max(${number}) AS max`
  return measure.metric === 'count' ? 'count() AS records' : `count() AS records, ${numbers}`
}

/** Partial aggregates of a contact's events, computed from those of its owners. */
export function partsOfContact({ metric }: Measure): string {
  const numbers = 'sum(found.numbers) AS numbers, sum(found.sum) AS sum, min(found.min) AS min, max(found.max) AS max'
  return metric === 'count' ? 'sum(found.records) AS records' : `sum(found.records) AS records, ${numbers}`
}

/** A contact's figure, computed from the partial aggregates of its owners. */
const FIGURES: Record<Metric, string> = {
  count: 'sum(records)',
  avg: 'sum(found.sum) / sum(numbers)',
  sum: 'sum(found.sum)',
  min: 'min(found.min)',
  max: 'max(found.max)',
}

interface Row {
  key: string
  value: number | null
  total: number
  distinct_groups: number
}

/** Groups events by their current contact. */
export async function aggregateEventsByContact(
  tenant: Tenant,
  filters: EventFilters,
  measure: Measure,
  limit: number,
): Promise<EventSummary> {
  const { where, parameters } = await conditionsOf(tenant, filters)
  const isNobody = `contact_id = toUUID('${NOBODY}')`
  const rows = await tenant.events.select<Row>({
    name: 'aggregate.events_by_contact',
    lane: 'heavy',
    columns: partColumns(measure),
    where,
    parameters: { ...parameters, ...fieldParameters(measure) },
    isPerContact: true,
    outer: {
      columns: `toString(contact_id) AS key, ${FIGURES[measure.metric]} AS value, sum(sum(records)) OVER () AS total,
        countIf(NOT (${isNobody})) OVER () AS distinct_groups`,
      groupBy: 'contact_id',
      // Anonymous events are in no bucket, but in the total, so their group is read first, in addition to the limit.
      orderBy: `${isNobody} DESC, value DESC NULLS LAST, key`,
      limit: limit + 1,
    },
  })
  const [first] = rows
  const buckets = rows.filter(({ key }) => key !== NOBODY).slice(0, limit)
  return {
    buckets: buckets.map(({ key, value }) => ({ key, value: value === null ? null : Number(value) })),
    total: Number(first?.total ?? 0),
    distinctGroups: Number(first?.distinct_groups ?? 0),
  }
}
