import type { InsightTrendInput, TrendSeries } from '../api/types.ts'
import { parseEventFilter } from '../filters/filter-text.ts'
import { QUESTION_LENGTH_MAX } from './question-length.ts'

/** What the questions of all kinds have in common. */
export type SharedQuestion = Pick<
  InsightTrendInput,
  'date_from' | 'date_to' | 'last' | 'time_zone' | 'where' | 'people' | 'include_bots' | 'compare' | 'sample'
>
export type TrendQuestion = InsightTrendInput
/** Which events are meant. */
export type Meant = Pick<TrendSeries, 'event' | 'types' | 'where' | 'label'>
export type Interval = NonNullable<TrendQuestion['interval']>

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const

/** Whether a value has the shape of a question. The service checks the rest. */
type IsQuestion<Question> = (value: unknown) => value is Question

/** The question in a URL; undefined if the form could not show it, so that a broken link still opens. */
export function parseQuestion<Question>(
  text: string | undefined,
  isQuestion: IsQuestion<Question>,
): Question | undefined {
  if (text === undefined || text.length > QUESTION_LENGTH_MAX) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isQuestion(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isTrend(value: unknown): value is TrendQuestion {
  if (!isShared(value)) return false
  const { series, formula, interval, breakdown = [], limit } = value
  return (
    Array.isArray(series) &&
    series.length > 0 &&
    series.every(isSeries) &&
    isText(formula) &&
    isOneOf(INTERVALS, interval) &&
    isListOf(breakdown, (name) => typeof name === 'string') &&
    isNumber(limit)
  )
}

/** A series is named by its letter in formulas and in the answer. */
export function letterOf(index: number): string {
  return String.fromCharCode(65 + index)
}

/** The request for a question: the answer names each series by its letter, because two may be about the same event. */
export function trendRequest(question: TrendQuestion): TrendQuestion {
  return { ...question, series: question.series.map((each, index) => ({ ...each, label: letterOf(index) })) }
}

type Fields = Record<string, unknown>

export function isShared(value: unknown): value is Fields {
  if (!isFields(value)) return false
  const { last, where = [], include_bots: bots, compare, sample } = value
  const isRange = (range: Fields) => isText(range.date_from) && isText(range.date_to)
  return (
    isRange(value) &&
    isText(value.time_zone) &&
    (last === undefined || (isFields(last) && typeof last.value === 'number' && isOneOf(INTERVALS, last.unit))) &&
    isWhere(where) &&
    (bots === undefined || typeof bots === 'boolean') &&
    isNumber(sample) &&
    (compare === undefined || compare === 'previous_period' || (isFields(compare) && isRange(compare)))
  )
}

function isSeries(value: unknown): boolean {
  return isMeant(value) && isText(value.metric) && isText(value.property)
}

export function isMeant(value: unknown): value is Fields {
  if (!isFields(value)) return false
  const { event, types = [], where = [], label } = value
  return isText(event) && isListOf(types, (type) => typeof type === 'string') && isWhere(where) && isText(label)
}

function isWhere(conditions: unknown): boolean {
  return parseEventFilter(JSON.stringify({ match: 'all', conditions })) !== undefined
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isListOf(value: unknown, isPart: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isPart)
}

/** One of some words, or nothing. */
export function isOneOf(words: readonly string[], value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && words.includes(value))
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

export function isNumber(value: unknown): boolean {
  return value === undefined || typeof value === 'number'
}
