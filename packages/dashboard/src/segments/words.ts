import type { EventMatch, SegmentCondition, SegmentFilter } from '../../../server/src/segments/filter.ts'
import { OPERATOR_WORDS } from './operators.ts'

const TEXT_MAX = 60

/** A filter as a sentence: "Country is FR and Employees is at least 50". */
export function filterWords({ match, conditions }: SegmentFilter, labels: ReadonlyMap<string, string>): string {
  if (conditions.length === 0) return match === 'all' ? 'Every contact' : 'No contact'
  return conditions.map((condition) => conditionWords(condition, labels)).join(match === 'all' ? ' and ' : ' or ')
}

function conditionWords(condition: SegmentCondition, labels: ReadonlyMap<string, string>): string {
  if ('conditions' in condition) return `(${filterWords(condition, labels)})`
  if ('event' in condition) return `${condition.operator === 'did' ? 'did' : 'did not'} ${eventWords(condition.event)}`
  const { property, operator, value } = condition
  const name = labels.get(property) ?? property
  if (operator === 'is_set' || operator === 'is_not_set') return `${name} ${OPERATOR_WORDS[operator]}`
  if (operator === 'within_days') return `${name} is within the last ${String(value)} days`
  const values = Array.isArray(value) ? value.map(cut).join(', ') : cut(value)
  return `${name} ${OPERATOR_WORDS[operator]} ${values}`
}

function eventWords(match: EventMatch): string {
  const { type, text, text_contains, url_contains, class_contains, element_id, within_days, min_count } = match
  return [
    type === undefined ? 'anything' : cut(type),
    url_contains === undefined ? null : `at an address with ${cut(url_contains)}`,
    text === undefined ? null : `on ${cut(text)}`,
    text_contains === undefined ? null : `on a text with ${cut(text_contains)}`,
    class_contains === undefined ? null : `on a class with ${cut(class_contains)}`,
    element_id === undefined ? null : `on #${cut(element_id)}`,
    min_count === undefined || min_count === 1 ? null : `at least ${min_count} times`,
    within_days === undefined ? null : `in the last ${within_days} days`,
  ]
    .filter((part) => part !== null)
    .join(' ')
}

function cut(value: unknown): string {
  const text = String(value)
  return `“${text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text}”`
}
