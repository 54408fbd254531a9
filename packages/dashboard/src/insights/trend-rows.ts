import type { Result } from '../api/client.ts'
import { eventLabel } from '../ui/event-words.ts'
import { propertyLabel, valueWords } from '../ui/property-value.ts'
import { letterOf, type Meant, type TrendQuestion } from './question.ts'
import { text } from './text.ts'

const words = text.trend
type TrendAnswer = Result<'insightTrend'>
type Figure = number | null
export interface Figures {
  total: Figure
  points: Figure[]
}

/** A line of the chart, and a row of the table. */
export interface TrendRow extends Figures {
  key: string
  name: string
  /** How its numbers are named where their people are asked for; several values together, and a formula, have none. */
  at?: { series: string; interval?: string; breakdown?: (string | number | boolean | null)[] }
  /** The same of the compared range, if the question compares and the answer there has it. */
  before?: Figures
}

/** The lines of an answer, in its order, named as people read them. */
export function rowsOf(question: TrendQuestion, answer: TrendAnswer): TrendRow[] {
  const before = new Map(answer.compare ? keyed(answer.compare).map(({ key, figures }) => [key, figures]) : [])
  return keyed(answer).map(({ key, letter, values, figures }) => {
    const compared = before.get(key)
    const name = named(question, letter, values)
    const hasPeople = question.formula === undefined && values !== 'others'
    const at = { series: letter, ...(values === undefined || values === 'others' ? {} : { breakdown: values }) }
    return {
      key,
      name,
      ...figures,
      ...(hasPeople ? { at } : {}),
      ...(compared === undefined ? {} : { before: compared }),
    }
  })
}

/** Whether there is nothing to show, neither in the range nor in the one that it is compared with. */
export function isNothing(answer: TrendAnswer): boolean {
  const all = [...keyed(answer), ...(answer.compare ? keyed(answer.compare) : [])]
  return all.every(({ figures: { points } }) => points.every((point) => point === null || point === 0))
}

type Values = NonNullable<TrendAnswer['series'][number]['breakdown']> | 'others' | undefined

function keyed({ series, others = [] }: Pick<TrendAnswer, 'series' | 'others'>) {
  const all: { label: string; values: Values; figures: Figures }[] = [
    ...series.map(({ label, breakdown, total, points }) => ({ label, values: breakdown, figures: { total, points } })),
    ...others.map(({ label, total, points }) => ({ label, values: 'others' as const, figures: { total, points } })),
  ]
  return all.map(({ label, ...each }) => ({ key: JSON.stringify([label, each.values]), letter: label, ...each }))
}

/** "Viewed a page: people, Chrome". With one series, its values say enough. */
function named({ series, formula, breakdown = [] }: TrendQuestion, letter: string, values: Values): string {
  const index = series.findIndex((_, at) => letterOf(at) === letter)
  const own = formula === undefined ? seriesName(series[index] ?? {}) : formula
  if (values === undefined) return own
  const value =
    values === 'others' ? words.others : values.map((each, at) => valueName(breakdown[at] ?? '', each)).join(' · ')
  return series.length === 1 || formula !== undefined ? value : words.valueOf(own, value)
}

/** What a series is about: "Viewed a page: people". */
export function seriesName({ metric = 'count', property = '', ...meant }: TrendQuestion['series'][number]): string {
  if (meant.label !== undefined) return meant.label
  const figure = words.figures[metric](
    propertyLabel(property.replace(/^data\./, '').replaceAll('.', ' ')).toLowerCase(),
  )
  return words.named(meantName(meant), figure)
}

/** The name of the events that are meant. */
export function meantName({ event, types = [], where = [] }: Meant): string {
  const names = event === undefined ? types : [event]
  const events = names.length === 0 ? text.question.anyEvent : names.map(eventLabel).join(', ')
  return where.length > 0 ? words.where(events) : events
}

/** A value of a breakdown. */
export function valueName(property: string, value: string | number | boolean | null): string {
  if (value === null || value === '') return words.noValue
  if (typeof value === 'boolean') return value ? words.yes : words.no
  return property === 'event' || property === 'event_type' ? eventLabel(String(value)) : valueWords(property, value)
}
