import type { SegmentFilter } from '../api/types.ts'
import {
  type ConditionOnEvent,
  type Draft,
  EVENT_TEXTS,
  type EventMatch,
  type FilterOfEvents,
  type GroupDraft,
  type MatchDraft,
  needsNoValue,
  newEvent,
  newGroup,
  newInsight,
  newMatch,
  newProperty,
  newSequence,
  type PropertyCondition,
  type PropertyDraft,
  type PropertyOperator,
  type Scalar,
  type SegmentCondition,
  STEPS_MIN,
  takesList,
} from './draft.ts'

/*
 * From a stored filter to the state of its form, and back. What is not changed comes back as it was.
 */

export type FieldType = 'text' | 'number' | 'boolean' | 'date' | 'list'
/** What is known of the properties that a filter can name. `data.` values of events may have any type. */
export interface FieldTypes {
  records: ReadonlyMap<string, FieldType>
  events: ReadonlyMap<string, FieldType>
}

/** The form's state for a stored filter. */
export function draftOf({ match, conditions }: SegmentFilter | FilterOfEvents): GroupDraft {
  return newGroup(match, (conditions as SegmentCondition[]).map(conditionDraft))
}

/** The form's state for one condition. */
export function conditionDraft(condition: SegmentCondition): Draft {
  if ('conditions' in condition) return draftOf(condition)
  if ('property' in condition) return propertyDraft(condition)
  if ('event' in condition) return { ...newEvent(matchDraft(condition.event)), operator: condition.operator }
  if ('insight' in condition) return newInsight(condition)
  const { sequence, within, operator } = condition
  return { ...newSequence(sequence.map(matchDraft)), operator, within: String(within.value), unit: within.unit }
}

function propertyDraft(stored: PropertyCondition): PropertyDraft {
  const { property, operator, value } = stored
  const [text, values] = Array.isArray(value) ? ['', value.map(String)] : [String(value ?? ''), []]
  return { ...newProperty(property), operator, value: text, values, stored }
}

function matchDraft(match: EventMatch): MatchDraft {
  const { types, where, within_days: days, after, before, min_count: least, count, measure, visible_only } = match
  const texts = EVENT_TEXTS.flatMap((name) => (match[name] ? [[name, match[name]]] : []))
  return {
    ...newMatch(),
    texts: Object.fromEntries(texts),
    ...(types ? { types } : {}),
    ...(where ? { where: draftOf({ match: 'all', conditions: where as ConditionOnEvent[] }) } : {}),
    withinDays: String(days ?? ''),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
    count: String(count?.value ?? least ?? ''),
    countOperator: count?.operator ?? 'gte',
    ...(count ? { isCount: true } : {}),
    ...(measure ? { measure: { function: measure.function, on: propertyDraft(measure) } } : {}),
    ...(visible_only ? { visibleOnly: true } : {}),
  }
}

/** The filter of a draft; incomplete conditions are omitted. */
export function filterOf(draft: GroupDraft, types: FieldTypes): SegmentFilter {
  const finished = draft.conditions.filter(isFinished)
  return { match: draft.match, conditions: finished.map((condition) => toCondition(condition, types)) }
}

/** The same for conditions on an event. */
export function filterOfEvents(draft: GroupDraft, types: FieldTypes): FilterOfEvents {
  const conditions = draft.conditions.filter(isFinished).flatMap((condition): ConditionOnEvent[] => {
    if (condition.kind === 'group') return [filterOfEvents(condition, types)]
    return condition.kind === 'property' ? [onEvent(condition, types)] : []
  })
  return { match: draft.match, conditions }
}

/** A `where` as a filter: a list of conditions means all of them; a nested filter may mean any. */
export function filterOfWhere(where: readonly object[]): FilterOfEvents {
  const conditions = where as ConditionOnEvent[]
  const [only] = conditions
  return conditions.length === 1 && only && 'conditions' in only ? only : { match: 'all', conditions }
}

/** A filter as a `where`. */
export function whereOf(filter: FilterOfEvents): ConditionOnEvent[] {
  return filter.match === 'any' && filter.conditions.length > 1 ? [filter] : filter.conditions
}

function toCondition(draft: Draft, types: FieldTypes): SegmentCondition {
  switch (draft.kind) {
    case 'group':
      return filterOf(draft, types)
    case 'property':
      return toProperty(draft, types.records.get(draft.property) ?? 'text')
    case 'event':
      return { event: toMatch(draft.event, types), operator: draft.operator }
    case 'insight':
      return { ...draft.stored, operator: draft.operator }
    case 'sequence':
      return {
        sequence: draft.steps.map((step) => toMatch(step, types)),
        within: { value: Number(draft.within), unit: draft.unit },
        operator: draft.operator,
      }
  }
}

function onEvent(draft: PropertyDraft, types: FieldTypes): PropertyCondition {
  const { property } = draft
  if (property.startsWith('data.')) return toProperty(draft, types.events.get(property))
  const [, ofContact] = /^contact\.(.+)/s.exec(property) ?? []
  return toProperty(draft, types.events.get(property) ?? types.records.get(ofContact ?? property) ?? 'text')
}

/** @param type of its values; undefined if nothing is known, and the text alone says it. */
function toProperty(draft: PropertyDraft, type: FieldType | undefined): PropertyCondition {
  const { property, operator, value: text, values } = draft
  if (needsNoValue(operator)) return { property, operator }
  const kept = storedValues(draft)
  // Each value that is still there as it was keeps its type.
  const scalar = (each: string): Scalar => {
    const at = kept.findIndex((value) => String(value) === each)
    return at < 0 ? scalarOf(each, operator, type) : (kept.splice(at, 1)[0] ?? each)
  }
  const value = takesList(operator) ? values.map(scalar) : scalar(text)
  const visibleOnly = draft.stored?.visible_only && (OF_PARTS.includes(operator) || draft.stored.operator === operator)
  return { property, operator, value, ...(visibleOnly ? { visible_only: true } : {}) }
}

const OF_EQUALITY: readonly PropertyOperator[] = ['equals', 'not_equals', 'in', 'not_in']
const OF_PARTS: readonly PropertyOperator[] = ['contains', 'not_contains', 'starts_with', 'ends_with']
const OF_NUMBERS: readonly PropertyOperator[] = ['gt', 'gte', 'lt', 'lte', 'within_days']

/** The values of the stored condition, if the changed one compares in the same way. */
function storedValues({ property, operator, stored }: PropertyDraft): Scalar[] {
  if (stored?.property !== property) return []
  const isSame = stored.operator === operator || [stored.operator, operator].every((each) => OF_EQUALITY.includes(each))
  return isSame ? [stored.value ?? []].flat() : []
}

/** Converts text to the type of the property: the text "5" is not the number 5. */
function scalarOf(text: string, operator: PropertyOperator, type: FieldType | undefined): Scalar {
  if (OF_PARTS.includes(operator)) return text
  const mayBeNumber = OF_NUMBERS.includes(operator) || type === 'number' || type === undefined
  if (mayBeNumber && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  const mayBeBoolean = type === 'boolean' || type === undefined
  return mayBeBoolean && (text === 'true' || text === 'false') ? text === 'true' : text
}

function toMatch(draft: MatchDraft, types: FieldTypes): EventMatch {
  const { texts, types: names = [], where, withinDays, after, before, count, countOperator, measure } = draft
  const given = EVENT_TEXTS.flatMap((name) => (texts[name] ? [[name, texts[name]]] : []))
  const isMinimum = countOperator === 'gte' && !draft.isCount && Number(count) > 0
  return {
    ...Object.fromEntries(given),
    ...(names.length > 0 ? { types: names } : {}),
    ...(where && isWhereGiven(where) ? { where: filterOfEvents(where, types).conditions } : {}),
    ...(withinDays === '' ? {} : { within_days: Number(withinDays) }),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
    ...(count !== '' && isMinimum ? { min_count: Number(count) } : {}),
    ...(count !== '' && !isMinimum ? { count: { operator: countOperator, value: Number(count) } } : {}),
    ...(measure && isFinished(measure.on) ? { measure: toMeasure(measure, types) } : {}),
    ...(draft.visibleOnly && given.length > 0 ? { visible_only: true } : {}),
  }
}

function toMeasure({ function: name, on }: NonNullable<MatchDraft['measure']>, types: FieldTypes) {
  const isOfValue = name === 'first' || name === 'last'
  return { function: name, ...(isOfValue ? onEvent(on, types) : toProperty(on, 'number')) }
}

/** A stored list may be empty; one whose conditions are all incomplete would match any event. */
function isWhereGiven({ conditions }: GroupDraft): boolean {
  return conditions.length === 0 || conditions.some(isFinished)
}

/** The number of incomplete conditions. */
export function countUnfinished(draft: Draft): number {
  const within = (drafts: readonly Draft[]) => drafts.reduce((count, each) => count + countUnfinished(each), 0)
  if (draft.kind === 'group') return within(draft.conditions)
  const matches = draft.kind === 'event' ? [draft.event] : draft.kind === 'sequence' ? draft.steps : []
  return within(matches.flatMap(partsOf)) + (isFinished(draft) ? 0 : 1)
}

function partsOf({ where, measure }: MatchDraft): Draft[] {
  return [...(where ? [where] : []), ...(measure ? [measure.on] : [])]
}

export function isFinished(draft: Draft): boolean {
  switch (draft.kind) {
    case 'group':
    case 'insight':
      return true
    case 'event':
      return saysSomething(draft.event)
    case 'sequence':
      return draft.steps.length >= STEPS_MIN && draft.steps.every(saysSomething) && Number(draft.within) > 0
    case 'property': {
      const { property, operator, value, values } = draft
      if (property.trim() === '') return false
      if (needsNoValue(operator)) return true
      return takesList(operator) ? values.length > 0 : value.trim() !== '' || storedValues(draft).includes(value)
    }
  }
}

const NO_TYPES: FieldTypes = { records: new Map(), events: new Map() }

/** A stored condition may match any event and then has no fields. One with fields needs a value in one of them. */
function saysSomething(draft: MatchDraft): boolean {
  const { texts, types, where, after, before, measure } = draft
  const hasFields =
    Object.keys(texts).length > 0 || [types, where, after, before, measure].some((each) => each !== undefined)
  return !hasFields || Object.keys(toMatch(draft, NO_TYPES)).length > 0
}
