import type { Sql } from '../conditions/event-property.ts'
import { figureOf, pathOfField } from '../figures/event-figures.ts'
import { type Measure, type Metric, needsNumbers } from '../figures/measure.ts'
import { phoneNumbersIn } from '../figures/phone-numbers.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { type Breakdown, isListKey } from './breakdown.ts'
import type { Intervals } from './intervals.ts'
import { type Asked, IS_OF_SOMEBODY, inRange, PERSON, type QuestionContext } from './question.ts'
import type { Range } from './range.ts'
import { countOfAll, sumOfAll } from './sample.ts'

export type TrendMetric = Metric | 'per_person'
export type Figure = number | null

/** The figures of a series, or of one of its parts. */
export interface Figures {
  total: Figure
  /** One for each interval. */
  points: Figure[]
}

/** One series of a trend in one range. */
export interface SeriesQuery {
  context: QuestionContext
  asked: Asked
  range: Range
  intervals: Intervals
  meant: Sql
  metric: TrendMetric
  property: string
  breakdown: Breakdown | null
}

interface Computed {
  sql: string
  parameters: QueryParameters
  withContacts: boolean
}

async function computedOf({ context, range, metric, property }: SeriesQuery): Promise<Computed> {
  if (metric === 'per_person') {
    const people = `uniqExactIf(${PERSON}, ${IS_OF_SOMEBODY})`
    const sql = `if(${people} = 0, NULL, toFloat64(printf('%.14e', count() / ${people})))`
    return { sql, parameters: {}, withContacts: true }
  }
  const measure: Measure = { metric, field: property }
  const { redaction, tenant } = context
  if (redaction === undefined || !needsNumbers(metric)) return figureOf(measure)
  const inTime = { date_after: new Date(range.fromMs), date_before: new Date(range.untilMs), includeSystem: true }
  const phoneNumbers = await phoneNumbersIn(tenant, inTime, pathOfField(property))
  return figureOf({ ...measure, redaction: { orderSecret: redaction.orderSecret, phoneNumbers } })
}

/** Of nothing, there are 0 events, people and amounts, but no average. */
export function nothingOf(metric: TrendMetric): Figure {
  return metric === 'count' || metric === 'sum' || metric.startsWith('unique_') ? 0 : null
}

async function selectionOf(query: SeriesQuery) {
  const { asked, meant, range } = query
  const { where, parameters } = inRange(range)
  const figure = await computedOf(query)
  return {
    figure: figure.sql,
    lane: 'heavy' as const,
    withContacts: figure.withContacts,
    where: [...where, ...asked.where, meant.sql],
    parameters: { ...asked.parameters, ...parameters, ...meant.parameters, ...figure.parameters },
  }
}

/** Keys with their totals, and the breakdown that they are of. */
interface KeyTotals {
  totals: { key: string; total: Figure }[]
  breakdown: Breakdown
}

/**
 * The keys of a breakdown with their totals: the largest first, then by the JSON of the key; a missing value is last. Most
 * properties are no lists, so that is tried first.
 */
export async function totalsByKey(query: SeriesQuery, breakdown: Breakdown, limit: number): Promise<KeyTotals> {
  const { withoutLists } = breakdown
  const found = await totalsOf(query, withoutLists ?? breakdown, limit)
  if (withoutLists === undefined || found.hasLists) {
    const { totals } = withoutLists === undefined ? found : await totalsOf(query, breakdown, limit)
    return { totals, breakdown }
  }
  return { totals: found.totals, breakdown: withoutLists }
}

async function totalsOf(query: SeriesQuery, breakdown: Breakdown, limit: number) {
  const { figure, parameters, ...selection } = await selectionOf(query)
  const { tenant } = query.asked
  const rows = await tenant.events.select<{ key: string; value: number | string | null; has_lists: number }>({
    name: 'insights.trend_keys',
    ...selection,
    columns: `${breakdown.isList ? `arrayJoin(${breakdown.sql})` : breakdown.sql} AS key, ${figure} AS value`,
    valuesOf: breakdown.valuesOf,
    parameters: { ...parameters, ...breakdown.parameters },
    groupBy: 'key',
    outer: {
      columns: `toString(key) AS key, value, max(${isListKey('found.key')}) OVER () AS has_lists`,
      orderBy: `value DESC NULLS LAST, ${breakdown.isMissing('found.key')}, ${breakdown.order('found.key')}`,
      limit,
    },
  })
  const totals = rows.map(({ key, value }) => ({ key, total: ofAll(query, value) }))
  return { totals, hasLists: rows.some(({ has_lists }) => Number(has_lists) === 1) }
}

/**
 * The figures of some keys of a breakdown, in their order, after those of all other events together. Without keys, the only
 * figures are those of all events.
 */
export async function figuresOf(query: SeriesQuery, keys: readonly string[]): Promise<Figures[]> {
  const { asked, intervals, metric, breakdown } = query
  const { figure, parameters, ...selection } = await selectionOf(query)
  const slot = slotOf(breakdown, keys)
  const rows = await asked.tenant.events.select<{
    slot: number
    at: number
    is_total: number
    value: number | string | null
  }>({
    name: 'insights.trend',
    ...selection,
    ...(keys.length > 0 && breakdown ? { valuesOf: breakdown.valuesOf } : {}),
    columns: `${slot} AS slot, toUInt16(${intervals.indexInSql}) AS at, grouping(at) AS is_total, ${figure} AS value`,
    parameters: {
      ...parameters,
      ...(keys.length > 0 ? { ...breakdown?.parameters, keys, slots: keys.map((_, index) => String(index + 1)) } : {}),
    },
    groupBy: 'GROUPING SETS ((slot, at), (slot))',
  })
  const nothing = nothingOf(metric)
  const all = Array.from({ length: keys.length + 1 }, (): Figures => {
    return { total: nothing, points: intervals.keys.map(() => nothing) }
  })
  for (const { slot: index, at, is_total, value } of rows) {
    const figures = all[Number(index)]
    if (figures === undefined) continue
    const number = ofAll(query, value)
    if (Number(is_total) === 1) figures.total = number
    else figures.points[Number(at)] = number
  }
  return all
}

/** An event whose values are in several slots counts in each, and once in the slot of the others, 0. */
function slotOf(breakdown: Breakdown | null, keys: readonly string[]): string {
  if (breakdown === null || keys.length === 0) return 'toUInt16(0)'
  const ofKey = (key: string) =>
    `transform(toString(${key}), {keys: Array(String)}, arrayMap(x -> toUInt16(x), {slots: Array(String)}), toUInt16(0))`
  if (!breakdown.isList) return ofKey(breakdown.sql)
  return `arrayJoin(arrayDistinct(arrayMap(k -> ${ofKey('k')}, ${breakdown.sql})))`
}

/** The figure of all people, of one in the database. What is no count and no sum, is the same in a sample. */
function ofAll({ asked: { sample }, metric }: SeriesQuery, value: number | string | null): Figure {
  if (value === null) return nothingOf(metric)
  if (sample === 1 || nothingOf(metric) === null) return Number(value)
  return metric === 'sum' ? sumOfAll(Number(value), sample) : countOfAll(Number(value), sample)
}
