import type { SegmentFilter } from '../api/types.ts'
import { eventLabel, isKnown } from '../ui/event-words.ts'
import { formatDay, formatMoment } from '../ui/format.ts'
import { propertyLabel, valueWords } from '../ui/property-value.ts'
import {
  type ConditionOnEvent,
  type EventMatch,
  type FilterOfEvents,
  type InsightCondition,
  needsNoValue,
  type PropertyCondition,
  type SegmentCondition,
  type SequenceCondition,
} from './draft.ts'
import { text } from './text.ts'

const words = text.sentence
const TEXT_MAX = 60

/** What the names in a filter are called. A name without a label is shown in words. */
export interface FilterNames {
  /** What is filtered, if it is companies. */
  entity?: 'companies'
  /** Of properties of contacts or companies, whichever are filtered; `company.` and a key for those of a contact's company. */
  labels: ReadonlyMap<string, string>
  /** Of properties of events. */
  ofEvents?: ReadonlyMap<string, string>
  /** The names of segments by their ids; absent until they are known. */
  segments?: ReadonlyMap<string, string> | undefined
}

/** A filter as a sentence: "Country is “FR” and has viewed a page at least 2 times". */
export function filterWords(filter: SegmentFilter, names: FilterNames): string {
  return sentence(joined(conditionsOf(filter), (condition) => conditionWords(condition, names), everyAndNo(names)))
}

/** The same for conditions on events. */
export function eventFilterWords(filter: FilterOfEvents, names: FilterNames): string {
  return sentence(onEventsWords(filter, names))
}

const everyAndNo = ({ entity }: FilterNames) => words.everyAndNo[entity ?? 'contacts']

function sentence(phrase: string): string {
  return phrase.slice(0, 1).toUpperCase() + phrase.slice(1)
}

function joined<Condition>(
  { match, conditions }: { match: 'all' | 'any'; conditions: readonly Condition[] },
  wordsOf: (condition: Condition) => string,
  [all, none]: readonly [all: string, none: string],
): string {
  if (conditions.length === 0) return match === 'all' ? all : none
  return conditions.map(wordsOf).join(match === 'all' ? words.and : words.or)
}

/** The documented schema says of a nested filter only that it has the same shape. */
function conditionsOf({ match, conditions }: SegmentFilter) {
  return { match, conditions: conditions as SegmentCondition[] }
}

function conditionWords(condition: SegmentCondition, names: FilterNames): string {
  if ('conditions' in condition) {
    return `(${joined(conditionsOf(condition), (each) => conditionWords(each, names), everyAndNo(names))})`
  }
  if ('property' in condition) {
    if (condition.property === 'segment') return segmentWords(condition, names)
    return propertyWords(condition, recordPropertyLabel(condition.property, names))
  }
  if ('insight' in condition) {
    return (condition.operator === 'did' ? words.isAmong : words.isNotAmong)(insightPeople(condition))
  }
  const phrase = 'event' in condition ? eventSentence(condition.event, names) : sequenceSentence(condition, names)
  return (condition.operator === 'did' ? words.has : words.hasNot)(phrase)
}

function onEventsWords(filter: FilterOfEvents, names: FilterNames): string {
  const wordsOf = (condition: ConditionOnEvent) => {
    if ('conditions' in condition) return `(${onEventsWords(condition, names)})`
    return propertyWords(condition, eventPropertyLabel(condition.property, names))
  }
  return joined(filter, wordsOf, [words.anyEventMatches, words.noEventMatches])
}

function propertyWords(condition: PropertyCondition, label: string): string {
  const { operator, value } = condition
  return operator === 'within_days' ? words.within(label, String(value)) : `${label} ${comparisonWords(condition)}`
}

function comparisonWords({ property, operator, value }: PropertyCondition): string {
  if (needsNoValue(operator)) return text.operators[operator]
  if (operator === 'within_days') return words.within('', String(value)).trim()
  const quoted = (each: unknown) => cut(valueWords(property, each))
  const values = Array.isArray(value) ? value.map(quoted).join(', ') : quoted(value)
  return `${text.operators[operator]} ${values}`
}

function segmentWords({ operator, value }: PropertyCondition, { segments }: FilterNames): string {
  const named = [value ?? []].flat().map((id) => {
    const name = segments?.get(String(id).toLowerCase())
    return name === undefined ? (segments ? words.deletedSegment : '…') : cut(name)
  })
  return (operator === 'in' ? words.isIn : words.isNotIn)(named.join(words.or))
}

/** The label of a property of a contact or a company. */
export function recordPropertyLabel(property: string, { labels }: FilterNames): string {
  const [, key] = /^properties\.(.+)/s.exec(property) ?? []
  const [, ofCompany] = /^company\.(?:properties\.)?(.+)/s.exec(property) ?? []
  const known = labels.get(property) ?? labels.get(key ?? '')
  if (known !== undefined) return known
  return ofCompany === undefined ? property : words.ofCompany(propertyLabel(ofCompany))
}

/** The label of a property of an event: `data.order.total` is "Order total". */
export function eventPropertyLabel(property: string, { ofEvents, labels }: FilterNames): string {
  const known = ofEvents?.get(property)
  if (known !== undefined) return known
  const [, ofContact] = /^contact\.(.+)/s.exec(property) ?? []
  if (ofContact !== undefined) return words.ofContact(labels.get(ofContact) ?? propertyLabel(ofContact))
  if (property.startsWith('company.')) return recordPropertyLabel(property, { labels })
  return propertyLabel(property.replace(/^data\./, '').replaceAll('.', ' '))
}

function eventSentence(match: EventMatch, names: FilterNames): string {
  const { type, types, text: label, text_contains, url_contains, class_contains, element_id } = match
  const { where = [], within_days, after, before, min_count, count, measure } = match
  const kinds = [...(type === undefined ? [] : [type]), ...(types ?? [])]
  return [
    kinds.length === 0 ? words.anyEvent : kinds.map(kindOf).join(words.or),
    url_contains === undefined ? null : words.url(cut(url_contains)),
    label === undefined ? null : words.text(cut(label)),
    text_contains === undefined ? null : words.textContains(cut(text_contains)),
    class_contains === undefined ? null : words.classContains(cut(class_contains)),
    element_id === undefined ? null : words.elementId(element_id.slice(0, TEXT_MAX)),
    where.length === 0
      ? null
      : words.where(onEventsWords({ match: 'all', conditions: where as ConditionOnEvent[] }, names)),
    min_count === undefined || min_count === 1 ? null : words.count('gte', min_count),
    count === undefined ? null : words.count(count.operator, count.value),
    within_days === undefined ? null : words.inTheLast(within_days),
    after === undefined ? null : words.since(timeWords(after)),
    before === undefined ? null : words.until(timeWords(before)),
    measure === undefined
      ? null
      : words.measure(measure.function, eventPropertyLabel(measure.property, names), comparisonWords(measure)),
  ]
    .filter((part) => part !== null)
    .join(' ')
}

function sequenceSentence({ sequence, within }: SequenceCondition, names: FilterNames): string {
  const steps = sequence.map((step) => eventSentence(step, names)).join(words.followedBy)
  return `${steps}${words.inTime(within.value, within.unit)}`
}

/** "the people of a trend of “Order paid” (2026-01-31)". */
export function insightPeople({ insight, question, at }: InsightCondition): string {
  const { series, step, goal, dropped, ...place } = at
  const listed = [question.series, question.steps, question.goals].find(Array.isArray) ?? []
  const index = typeof series === 'string' ? series.charCodeAt(0) - 65 : Number(step ?? goal) - 1
  const { event, types } = (listed[index] ?? {}) as { event?: string; types?: string[] }
  const names = (event === undefined ? (types ?? []) : [event]).map((name) => cut(eventLabel(name)))
  const parts = [
    ...(step === undefined ? [] : [words.stepOf(Number(step))]),
    ...(dropped === true ? [words.dropped] : []),
    ...Object.values(place).flat().map(String),
  ]
  return words.peopleOf(insight, names.join(words.or), parts.join(', '))
}

function timeWords(time: string): string {
  return time.length === 10 ? formatDay(time) : formatMoment(time)
}

/** Labels of what people do are verbs, such as "viewed a page". */
function kindOf(type: string): string {
  if (!isKnown(type) || !DONE_BY_PEOPLE.test(type)) return words.custom(cut(eventLabel(type)))
  const label = eventLabel(type)
  return label.slice(0, 1).toLowerCase() + label.slice(1)
}

const DONE_BY_PEOPLE = /^(page|button|link|form|video)_|^first_visit$/

function cut(value: unknown): string {
  const whole = String(value)
  return `“${whole.length > TEXT_MAX ? `${whole.slice(0, TEXT_MAX)}…` : whole}”`
}
