import { eventLabel } from '../ui/event-words.ts'
import { formatDay } from '../ui/format.ts'
import { propertyLabel } from '../ui/property-value.ts'
import type { FunnelQuestion } from './funnel-question.ts'
import type { PathsQuestion } from './paths-question.ts'
import type { SharedQuestion, TrendQuestion } from './question.ts'
import type { RetentionQuestion } from './retention-question.ts'
import { text } from './text.ts'
import { meantName, seriesName } from './trend-rows.ts'

const words = text.summary

/** A question in words. */
export interface Summary {
  /** "Viewed a page: people, by day" */
  what: string
  /** "Last 30 days, compared with the period before" */
  when: string
}

export function trendSummary(question: TrendQuestion): Summary {
  const { series, formula, interval = 'day', breakdown } = question
  const what = formula ?? series.map(seriesName).join(words.and)
  return { what: joined([what, words.by[interval], brokenDown(breakdown)]), when: whenWords(question) }
}

export function funnelSummary(question: FunnelQuestion): Summary {
  const { steps, window, breakdown } = question
  const what = steps.map((step) => step.label ?? meantName(step)).join(words.next)
  return {
    what: joined([what, words.within(window.value, window.unit), brokenDown(breakdown)]),
    when: whenWords(question),
  }
}

export function retentionSummary(question: RetentionQuestion): Summary {
  const { start, return: back = 'any', interval = 'day' } = question
  const first = start === 'first_seen' ? words.firstSeen : meantName(start)
  const what = words.returns(first, meantName(back === 'any' ? {} : back))
  return { what: joined([what, words.by[interval]]), when: whenWords(question) }
}

export function pathsSummary(question: PathsQuestion): Summary {
  const { kind, from, to } = question
  const nameOf = (name: string) => (kind === 'events' ? eventLabel(name) : name)
  const end = from !== undefined ? words.from(nameOf(from)) : to !== undefined ? words.to(nameOf(to)) : undefined
  return { what: joined([words.paths[kind], end], ' '), when: whenWords(question) }
}

/** The range of a question. */
export function rangeWords({ date_from: from, date_to: to, last = LAST_DEFAULT }: SharedQuestion): string {
  if (from === undefined) return text.range.last(last)
  return to === undefined ? text.range.since(formatDay(from)) : text.range.between(formatDay(from), formatDay(to))
}

/** The service's, if a question names no range. */
export const LAST_DEFAULT = { value: 30, unit: 'day' } as const

function whenWords(question: SharedQuestion): string {
  const { where = [], people, compare } = question
  return joined([
    rangeWords(question),
    people === undefined ? undefined : words.somePeople,
    where.length > 0 ? words.conditions(where.length) : undefined,
    compare === undefined ? undefined : words.compared,
  ])
}

function brokenDown(breakdown: readonly string[] = []): string | undefined {
  if (breakdown.length === 0) return undefined
  return words.brokenDown(breakdown.map((name) => propertyLabel(name.replace(/^data\./, '').replaceAll('.', ' '))))
}

function joined(parts: readonly (string | undefined)[], separator = ', '): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator)
}
