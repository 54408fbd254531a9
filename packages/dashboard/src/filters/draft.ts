import type { SegmentFilter } from '../api/types.ts'

/** The condition language, as the service documents it. */
type ApiCondition = SegmentFilter['conditions'][number]
export type PropertyCondition = Extract<ApiCondition, { property: string }>
export type EventMatch = Extract<ApiCondition, { event: object }>['event']
export type EventCondition = Extract<ApiCondition, { event: object }>
export type SequenceCondition = Extract<ApiCondition, { sequence: object }>
export type InsightCondition = Extract<ApiCondition, { insight: string }>
export type SegmentCondition = PropertyCondition | EventCondition | SequenceCondition | InsightCondition | SegmentFilter
/** A condition on a single event: on a property of it, or a nested filter of such. */
export type ConditionOnEvent = PropertyCondition | FilterOfEvents
export interface FilterOfEvents {
  match: 'all' | 'any'
  conditions: ConditionOnEvent[]
}
export type PropertyOperator = PropertyCondition['operator']
export type Scalar = string | number | boolean
export type CountOperator = NonNullable<EventMatch['count']>['operator']
export type Measure = NonNullable<EventMatch['measure']>['function']
export type WithinUnit = SequenceCondition['within']['unit']

/**
 * The state of the filter form: every condition has an id, so that its fields keep their place, and every value is text
 * as its field has it.
 */
export interface GroupDraft {
  id: string
  kind: 'group'
  match: 'all' | 'any'
  conditions: Draft[]
}

export interface PropertyDraft {
  id: string
  kind: 'property'
  property: string
  operator: PropertyOperator
  value: string
  /** For `in` and `not_in`. */
  values: string[]
  /** The condition as it was stored: its values keep their types, since the text "5" is not the number 5. */
  stored?: PropertyCondition
}

export interface EventDraft {
  id: string
  kind: 'event'
  operator: 'did' | 'did_not'
  event: MatchDraft
}

/** Events that follow one another. */
export interface SequenceDraft {
  id: string
  kind: 'sequence'
  operator: 'did' | 'did_not'
  steps: MatchDraft[]
  within: string
  unit: WithinUnit
}

/** The people behind a number of an insight. The form shows it and can turn it around, but the question is not changed here. */
export interface InsightDraft {
  id: string
  kind: 'insight'
  operator: 'did' | 'did_not'
  stored: InsightCondition
}

/** What is said about an event. A detail that is absent has no field. */
export interface MatchDraft {
  id: string
  texts: Partial<Record<EventText, string>>
  /** In place of one type. */
  types?: string[]
  /** Conditions on the event itself. */
  where?: GroupDraft
  withinDays: string
  after?: string
  before?: string
  count: string
  countOperator: CountOperator
  /** Whether "at least" was stored as a `count`, and not as `min_count`. */
  isCount?: boolean
  measure?: { function: Measure; on: PropertyDraft }
  /** Whether an AI agent made the condition, which then compares only what the agent sees. */
  visibleOnly?: boolean
}

export type Draft = GroupDraft | PropertyDraft | EventDraft | SequenceDraft | InsightDraft

export const EVENT_TEXTS = ['type', 'url_contains', 'text', 'text_contains', 'class_contains', 'element_id'] as const
export type EventText = (typeof EVENT_TEXTS)[number]

export const STEPS_MIN = 2
export const STEPS_MAX = 10

let ids = 0
const newId = () => `condition-${++ids}`

export function newGroup(match: 'all' | 'any' = 'all', conditions: Draft[] = []): GroupDraft {
  return { id: newId(), kind: 'group', match, conditions }
}

export function newProperty(property = ''): PropertyDraft {
  return { id: newId(), kind: 'property', property, operator: 'equals', value: '', values: [] }
}

export function newMatch(): MatchDraft {
  return { id: newId(), texts: { type: '' }, withinDays: '', count: '', countOperator: 'gte' }
}

export function newEvent(event: MatchDraft = newMatch()): EventDraft {
  return { id: newId(), kind: 'event', operator: 'did', event }
}

export function newSequence(steps: MatchDraft[] = [newMatch(), newMatch()]): SequenceDraft {
  return { id: newId(), kind: 'sequence', operator: 'did', steps, within: '7', unit: 'day' }
}

export function newInsight(stored: InsightCondition): InsightDraft {
  return { id: newId(), kind: 'insight', operator: stored.operator, stored }
}

export function countConditions(draft: Draft): number {
  if (draft.kind !== 'group') return 1
  return draft.conditions.reduce((count, condition) => count + countConditions(condition), 0)
}

export function needsNoValue(operator: PropertyOperator): boolean {
  return operator === 'is_set' || operator === 'is_not_set'
}

export function takesList(operator: PropertyOperator): boolean {
  return operator === 'in' || operator === 'not_in'
}

/** A copy of the draft with one condition changed, or removed if null, at any depth. The draft itself cannot be removed. */
export function replaceIn(group: GroupDraft, id: string, changed: Draft | null): GroupDraft {
  if (group.id === id) return changed?.kind === 'group' ? changed : group
  const conditions = group.conditions.flatMap((condition): Draft[] => {
    if (condition.id === id) return changed === null ? [] : [changed]
    return [condition.kind === 'group' ? replaceIn(condition, id, changed) : condition]
  })
  return { ...group, conditions }
}
