import { shown } from '../platform/characters.ts'
import {
  type CountOperator,
  type EventMatch,
  isInsight,
  isNested,
  type MeasureCondition,
  type PropertyCondition,
  type PropertyOperator,
  SEGMENT,
  type SegmentCondition,
  type SegmentFilter,
} from './language.ts'

/** What a filter is said with. */
export interface Names {
  /** The names of segments, by id in lower case. One that is missing was deleted. */
  segments: ReadonlyMap<string, string>
  /** The labels of known properties of contacts and companies, by key. */
  labels: ReadonlyMap<string, string>
}

const NO_LABELS: Names['labels'] = new Map()

const OPERATORS: Record<Exclude<PropertyOperator, 'within_days'>, string> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  ends_with: 'ends with',
  in: 'is any of',
  not_in: 'is none of',
  is_set: 'has a value',
  is_not_set: 'has no value',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  before: 'is before',
  after: 'is after',
}
const COUNTS: Record<CountOperator, string> = {
  gte: 'at least',
  equals: 'exactly',
  lte: 'at most',
  lt: 'fewer than',
  gt: 'more than',
  not_equals: 'not exactly',
}
const MEASURES: Record<MeasureCondition['function'], string> = {
  sum: 'sum',
  avg: 'average',
  min: 'smallest value',
  max: 'largest value',
  distinct: 'number of different values',
  first: 'first value',
  last: 'last value',
}
/** Events that people do, as the past tense of a verb. Any other is named. */
const DONE: Readonly<Record<string, string>> = {
  page_view: 'viewed a page',
  button_click: 'clicked a button',
  link_click: 'clicked a link',
  form_submit: 'submitted a form',
  form_submission: 'submitted a form',
  first_visit: 'visited for the first time',
}

/** A filter as a sentence: `Country is “FR” and has viewed a page at least 2 times in the last 30 days`. */
export function describeFilter(filter: SegmentFilter, names: Names): string {
  return sentenceCase(filterWords(filter, names))
}

function filterWords({ match, conditions }: Pick<SegmentFilter, 'match' | 'conditions'>, names: Names): string {
  if (conditions.length === 0) return match === 'all' ? 'anything' : 'nothing'
  return conditions.map((each) => conditionWords(each, names)).join(match === 'all' ? ' and ' : ' or ')
}

function conditionWords(condition: SegmentCondition, names: Names): string {
  if (isNested(condition)) return `(${filterWords(condition, names)})`
  if ('not' in condition) return `not (${filterWords(condition.not, names)})`
  if ('property' in condition) return propertyWords(condition, names)
  const isDone = condition.operator === 'did'
  if (isInsight(condition)) {
    const kind = condition.insight === 'web' ? 'web analytics' : `a ${condition.insight} report`
    return `is ${isDone ? '' : 'not '}among the people of ${kind}`
  }
  const has = isDone ? 'has' : 'has not'
  if ('event' in condition) return `${has} ${eventWords(condition.event, names)}`
  const { value, unit } = condition.within
  const steps = condition.sequence.map((step) => eventWords(step, names)).join(', then ')
  return `${has} ${steps}, within ${value} ${value === 1 ? unit : `${unit}s`}`
}

function propertyWords(condition: PropertyCondition, names: Names): string {
  const { property, operator, value } = condition
  if (property !== SEGMENT) return `${labelOf(property, names.labels)} ${comparisonWords(condition)}`
  const segments = [value ?? []].flat().map((id) => {
    const name = names.segments.get(String(id).toLowerCase())
    return name === undefined ? 'a deleted segment' : quoted(name)
  })
  return `is ${operator === 'in' ? '' : 'not '}in ${segments.join(' or ')}`
}

function comparisonWords({ operator, value }: Pick<PropertyCondition, 'operator' | 'value'>): string {
  if (operator === 'within_days') return `is within ${daysWords(Number(value))}`
  if (operator === 'is_set' || operator === 'is_not_set') return OPERATORS[operator]
  return `${OPERATORS[operator]} ${[value ?? []].flat().map(quoted).join(', ')}`
}

function eventWords(match: EventMatch, names: Names): string {
  const { type, types = [], text, text_contains, url_contains, class_contains, element_id } = match
  const { where = [], within_days, after, before, min_count, count, measure } = match
  const kinds = type === undefined ? types : [type, ...types]
  const parts = [
    kinds.length === 0 ? 'done anything' : kinds.map((kind) => doneWords(kind)).join(' or '),
    url_contains === undefined ? '' : `at a URL containing ${quoted(url_contains)}`,
    text === undefined ? '' : `on the text ${quoted(text)}`,
    text_contains === undefined ? '' : `on text containing ${quoted(text_contains)}`,
    class_contains === undefined ? '' : `on a CSS class containing ${quoted(class_contains)}`,
    element_id === undefined ? '' : `on the element ${quoted(`#${element_id}`)}`,
    where.length === 0 ? '' : `where ${filterWords({ match: 'all', conditions: where }, names)}`,
    min_count === undefined || min_count === 1 ? '' : timesWords('gte', min_count),
    count === undefined ? '' : timesWords(count.operator, count.value),
    within_days === undefined ? '' : `in ${daysWords(within_days)}`,
    after === undefined ? '' : `since ${after}`,
    before === undefined ? '' : `until ${before}`,
    measure === undefined
      ? ''
      : `where the ${MEASURES[measure.function]} of ${labelOf(measure.property, names.labels)} ${comparisonWords(measure)}`,
  ]
  return parts.filter((part) => part !== '').join(' ')
}

function doneWords(type: string): string {
  return (Object.hasOwn(DONE, type) ? DONE[type] : undefined) ?? `done ${quoted(type)}`
}

function timesWords(operator: CountOperator, times: number): string {
  return `${COUNTS[operator]} ${times === 1 ? 'once' : `${times} times`}`
}

function daysWords(days: number): string {
  return days === 1 ? 'the last day' : `the last ${days} days`
}

/** A property as people call it: `jobtitle` is “Job title”, `company.annualrevenue` “Company annual revenue”. */
export function labelOf(property: string, labels: Names['labels'] = NO_LABELS): string {
  const key = property.replace(/^(data|contact)\./, '').replace(/^(company\.)?properties\./, '$1')
  const ofCompany = key.startsWith('company.') ? key.slice('company.'.length) : null
  if (ofCompany !== null) return `Company ${lowerFirst(labelOf(ofCompany, labels))}`
  return labels.get(key) ?? shown(sentenceCase(key.replaceAll(/[._-]+/g, ' ').trim() || key))
}

function sentenceCase(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Leaves an abbreviation as it is. */
function lowerFirst(label: string): string {
  return /^\p{Lu}\p{Ll}/u.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label
}

function quoted(value: unknown): string {
  return `“${shown(String(value))}”`
}
