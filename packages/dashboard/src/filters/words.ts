import type { SegmentFilter } from '../api/types.ts'
import { eventLabel, isKnown } from '../ui/event-words.ts'
import { valueWords } from '../ui/property-value.ts'
import type { EventMatch, SegmentCondition } from './draft.ts'
import { text } from './text.ts'

const words = text.sentence
const TEXT_MAX = 60

/** A filter as a sentence: "Country is “FR” and has viewed a page at least 2 times". */
export function filterWords(filter: SegmentFilter, labels: ReadonlyMap<string, string>): string {
  const sentence = joined(filter, labels)
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1)
}

function joined({ match, conditions }: SegmentFilter, labels: ReadonlyMap<string, string>): string {
  if (conditions.length === 0) return match === 'all' ? words.everyContact : words.noContact
  const sentences = conditions.map((condition) => conditionWords(condition, labels))
  return sentences.join(match === 'all' ? words.and : words.or)
}

function conditionWords(condition: SegmentCondition, labels: ReadonlyMap<string, string>): string {
  if ('conditions' in condition) return `(${joined(condition, labels)})`
  if ('event' in condition) {
    return (condition.operator === 'did' ? words.has : words.hasNot)(eventSentence(condition.event))
  }
  const { property, operator, value } = condition
  const name = labels.get(property) ?? property
  if (operator === 'is_set' || operator === 'is_not_set') return `${name} ${text.operators[operator]}`
  if (operator === 'within_days') return words.within(name, String(value))
  const quoted = (each: unknown) => cut(valueWords(property, each))
  const values = Array.isArray(value) ? value.map(quoted).join(', ') : quoted(value)
  return `${name} ${text.operators[operator]} ${values}`
}

function eventSentence(match: EventMatch): string {
  const { type, text: label, text_contains, url_contains, class_contains, element_id, within_days, min_count } = match
  return [
    type === undefined ? words.anyEvent : kindOf(type),
    url_contains === undefined ? null : words.url(cut(url_contains)),
    label === undefined ? null : words.text(cut(label)),
    text_contains === undefined ? null : words.textContains(cut(text_contains)),
    class_contains === undefined ? null : words.classContains(cut(class_contains)),
    element_id === undefined ? null : words.elementId(element_id.slice(0, TEXT_MAX)),
    min_count === undefined || min_count === 1 ? null : words.atLeast(min_count),
    within_days === undefined ? null : words.inTheLast(within_days),
  ]
    .filter((part) => part !== null)
    .join(' ')
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
