import type { InsightWebInput, InsightWebResult } from '../api/types.ts'
import type { ConditionOnEvent } from '../filters/draft.ts'
import { INTERVALS, isFields, isListOf, isMeant, isOneOf, isShared } from './question.ts'
import { isListName, type ListName, type RowValue } from './web-lists.ts'

export type WebQuestion = InsightWebInput
export type WebAnswer = InsightWebResult
export type WebRow = NonNullable<WebAnswer['lists'][ListName]>[number]
/** Fields of a question that change; an undefined one is left out. */
export type WebChanges = { [Name in keyof WebQuestion]?: WebQuestion[Name] | undefined }

export function isWeb(value: unknown): value is WebQuestion {
  if (!isShared(value)) return false
  const { interval, goals = [], visit = [] } = value
  return isOneOf(INTERVALS, interval) && isListOf(goals, isMeant) && isListOf(visit, isVisitFilter)
}

function isVisitFilter(value: unknown): boolean {
  return isFields(value) && isListName(value.list) && (value.value === null || typeof value.value === 'string')
}

export function isNarrowedTo({ visit = [] }: WebQuestion, list: ListName, value: RowValue): boolean {
  return visit.some((each) => each.list === list && each.value === value)
}

/** What changes in a question about the visits that a row of a list counts; or no longer, if it was about them. */
export function toggleRow(question: WebQuestion, list: ListName, value: RowValue): WebChanges {
  const others = question.visit?.filter((each) => each.list !== list) ?? []
  const visit = isNarrowedTo(question, list, value) ? others : [...others, { list, value }]
  return { visit: visit.length > 0 ? visit : undefined }
}

export function conditionsOf({ where = [] }: WebQuestion): ConditionOnEvent[] {
  return where as ConditionOnEvent[]
}

export function withConditions(where: ConditionOnEvent[]): WebChanges {
  return { where: where.length > 0 ? where : undefined }
}

/** The site whose events count: the host of their URLs. */
export function siteOf(conditions: readonly ConditionOnEvent[]): string | undefined {
  const found = conditions.find(isOfSite)
  return found !== undefined && 'value' in found ? String(found.value) : undefined
}

export function withSite(conditions: readonly ConditionOnEvent[], host: string | undefined): WebChanges {
  const others = conditions.filter((condition) => !isOfSite(condition))
  return withConditions(
    host === undefined ? others : [...others, { property: 'domain', operator: 'equals', value: host }],
  )
}

function isOfSite(condition: ConditionOnEvent): boolean {
  return 'property' in condition && condition.property === 'domain' && condition.operator === 'equals'
}
