import type { SegmentFilter } from '../api/types.ts'

export type SegmentCondition = SegmentFilter['conditions'][number]
export type EventMatch = Extract<SegmentCondition, { event: object }>['event']
export type PropertyOperator = Extract<SegmentCondition, { property: string }>['operator']

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
  /** Whether an AI agent made the condition, which then compares only what the agent sees. */
  visibleOnly?: boolean
}

export interface EventDraft {
  id: string
  kind: 'event'
  operator: 'did' | 'did_not'
  texts: Partial<Record<EventText, string>>
  withinDays: string
  minCount: string
  /** As in `PropertyDraft`. */
  visibleOnly?: boolean
}

export type Draft = GroupDraft | PropertyDraft | EventDraft

export const EVENT_TEXTS = ['type', 'url_contains', 'text', 'text_contains', 'class_contains', 'element_id'] as const
export type EventText = (typeof EVENT_TEXTS)[number]

export type PropertyTypes = ReadonlyMap<string, 'text' | 'number' | 'boolean' | 'date' | 'list'>

let ids = 0
const newId = () => `condition-${++ids}`

export function newGroup(match: 'all' | 'any' = 'all', conditions: Draft[] = []): GroupDraft {
  return { id: newId(), kind: 'group', match, conditions }
}

export function newProperty(property = ''): PropertyDraft {
  return { id: newId(), kind: 'property', property, operator: 'equals', value: '', values: [] }
}

export function newEvent(): EventDraft {
  return { id: newId(), kind: 'event', operator: 'did', texts: { type: '' }, withinDays: '', minCount: '' }
}

/** The form's state for a stored filter. */
export function draftOf({ match, conditions }: SegmentFilter): GroupDraft {
  return newGroup(match, conditions.map(conditionDraft))
}

/** The form's state for one condition. */
export function conditionDraft(condition: SegmentCondition): Draft {
  if ('conditions' in condition) return draftOf(condition)
  if ('property' in condition) {
    const { property, operator, value, visible_only: visibleOnly = false } = condition
    const [text, values] = Array.isArray(value) ? ['', value.map(String)] : [String(value ?? ''), []]
    return { ...newProperty(property), operator, values, value: text, ...(visibleOnly ? { visibleOnly } : {}) }
  }
  const { within_days: days, min_count: count, visible_only: visibleOnly = false, ...texts } = condition.event
  return {
    ...newEvent(),
    operator: condition.operator,
    texts,
    withinDays: days === undefined ? '' : String(days),
    minCount: count === undefined ? '' : String(count),
    ...(visibleOnly ? { visibleOnly } : {}),
  }
}

/** The filter of a draft; incomplete conditions are omitted. */
export function filterOf(draft: GroupDraft, types: PropertyTypes): SegmentFilter {
  const finished = draft.conditions.filter(isFinished)
  return { match: draft.match, conditions: finished.map((condition) => toCondition(condition, types)) }
}

function toCondition(draft: Draft, types: PropertyTypes): SegmentCondition {
  if (draft.kind === 'group') return filterOf(draft, types)
  if (draft.kind === 'event') return { event: toMatch(draft), operator: draft.operator }
  const { property, operator } = draft
  if (needsNoValue(operator)) return { property, operator }
  const type = types.get(property) ?? 'text'
  const value = takesList(operator)
    ? draft.values.map((each) => scalarOf(each, operator, type))
    : scalarOf(draft.value, operator, type)
  const comparesParts = operator === 'contains' || operator === 'not_contains'
  return { property, operator, value, ...(draft.visibleOnly && comparesParts ? VISIBLE_ONLY : {}) }
}

const VISIBLE_ONLY = { visible_only: true } as const

function toMatch({ texts, withinDays, minCount, visibleOnly }: EventDraft): EventMatch {
  const given = Object.entries(texts).filter(([, text]) => text.trim() !== '')
  return {
    ...Object.fromEntries(given),
    ...(withinDays === '' ? {} : { within_days: Number(withinDays) }),
    ...(minCount === '' ? {} : { min_count: Number(minCount) }),
    ...(visibleOnly && given.length > 0 ? VISIBLE_ONLY : {}),
  }
}

/** The number of incomplete conditions. */
export function countUnfinished(draft: Draft): number {
  if (draft.kind !== 'group') return isFinished(draft) ? 0 : 1
  return draft.conditions.reduce((count, condition) => count + countUnfinished(condition), 0)
}

export function countConditions(draft: Draft): number {
  if (draft.kind !== 'group') return 1
  return draft.conditions.reduce((count, condition) => count + countConditions(condition), 0)
}

export function isFinished(draft: Draft): boolean {
  if (draft.kind === 'group') return true
  // A stored condition may match any event and then has no fields. One with fields needs a value in one of them.
  if (draft.kind === 'event') return Object.keys(draft.texts).length === 0 || Object.keys(toMatch(draft)).length > 0
  if (draft.property.trim() === '') return false
  if (needsNoValue(draft.operator)) return true
  return takesList(draft.operator) ? draft.values.length > 0 : draft.value.trim() !== ''
}

export function needsNoValue(operator: PropertyOperator): boolean {
  return operator === 'is_set' || operator === 'is_not_set'
}

export function takesList(operator: PropertyOperator): boolean {
  return operator === 'in' || operator === 'not_in'
}

const OF_NUMBERS: readonly PropertyOperator[] = ['gt', 'gte', 'lt', 'lte', 'within_days']

/** Converts text to the type of the property: the text "5" is not the number 5. */
function scalarOf(text: string, operator: PropertyOperator, type: string): string | number | boolean {
  const isNumber = OF_NUMBERS.includes(operator) || (type === 'number' && operator !== 'contains')
  if (isNumber && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** A copy of the draft with one condition changed, or removed if null, at any depth. */
export function replaceIn(group: GroupDraft, id: string, changed: Draft | null): GroupDraft {
  const conditions = group.conditions.flatMap((condition): Draft[] => {
    if (condition.id === id) return changed === null ? [] : [changed]
    return [condition.kind === 'group' ? replaceIn(condition, id, changed) : condition]
  })
  return { ...group, conditions }
}
