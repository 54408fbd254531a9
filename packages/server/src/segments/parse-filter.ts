import { hasMoreCharacters, shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { isObject } from '../platform/is-object.ts'
import { parseTimestamp } from '../platform/time.ts'
import {
  CONTACTS,
  EVENT_OPERATORS,
  type EventCondition,
  type EventMatch,
  type FilteredRecords,
  LEVELS_MAX,
  PROPERTY_OPERATORS,
  type PropertyCondition,
  type PropertyOperator,
  type Scalar,
  type SegmentFilter,
} from './filter.ts'

const CONDITIONS_MAX = 50
const KEY_LENGTH_MAX = 128
const TEXT_LENGTH_MAX = 1_000
const LIST_LENGTH_MAX = 500
const DAYS_MAX = 36_500
const COUNT_MAX = 1_000_000
/** The most problems reported for one filter. */
const DETAILS_MAX = 20

const NUMERIC_TEXT = /^\s*[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})\s*$/
const OF_TEXT: readonly PropertyOperator[] = PROPERTY_OPERATORS.slice(0, 8)
const OF_TIME: readonly PropertyOperator[] = ['is_set', 'is_not_set', 'before', 'after', 'within_days']
/** The operators that could find a value step by step. */
const COMPARING_PARTS: readonly PropertyOperator[] = [
  'contains',
  'not_contains',
  'gt',
  'gte',
  'lt',
  'lte',
  'before',
  'after',
  'within_days',
]
const EVENT_PARTS = ['text_contains', 'url_contains', 'class_contains'] as const
const EVENT_TEXTS = ['type', 'text', 'text_contains', 'url_contains', 'class_contains', 'element_id'] as const

interface ParseOptions {
  /** The filter's path in the request. */
  path?: string
  records?: FilteredRecords
  /** Whether every condition compares only what AI agents see: personal values are hidden from the caller. */
  visibleOnly?: boolean
}

/**
 * Parses a filter from a request.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseSegmentFilter(
  sent: unknown,
  { path = 'filter', records = CONTACTS, visibleOnly = false }: ParseOptions = {},
): SegmentFilter {
  const reader = new FilterReader(records, visibleOnly)
  const filter = reader.filter(sent, path, 1)
  reader.requireFew(path)
  if (reader.details.length > 0) throw validationError(reader.details.slice(0, DETAILS_MAX))
  return filter
}

/** Parses a filter in one pass and collects the problems with their paths. The result is valid if there are none. */
class FilterReader {
  readonly details: ErrorDetail[] = []
  #conditions = 0
  #filters = 0
  readonly #records: FilteredRecords

  readonly #visibleOnly: boolean

  constructor(records: FilteredRecords, visibleOnly: boolean) {
    this.#records = records
    this.#visibleOnly = visibleOnly
  }

  filter(sent: unknown, path: string, level: number): SegmentFilter {
    const filter: SegmentFilter = { match: 'all', conditions: [] }
    this.#filters++
    if (level > LEVELS_MAX) return this.#wrong(path, `is nested too deeply: at most ${LEVELS_MAX} levels`, filter)
    if (!isObject(sent)) return this.#wrong(path, 'must be an object with match and conditions', filter)
    this.#onlyKnown(sent, path, ['match', 'conditions'])
    if (sent.match === 'all' || sent.match === 'any') filter.match = sent.match
    else this.#wrong(`${path}.match`, 'must be all or any')
    if (!Array.isArray(sent.conditions))
      return this.#wrong(`${path}.conditions`, 'must be a list of conditions', filter)
    for (const [index, condition] of sent.conditions.entries()) {
      // Beyond the limits, parsing stops.
      if (this.#conditions > CONDITIONS_MAX || this.#filters > CONDITIONS_MAX) break
      filter.conditions.push(this.#condition(condition, `${path}.conditions[${index}]`, level))
    }
    return filter
  }

  requireFew(path: string): void {
    if (this.#conditions <= CONDITIONS_MAX && this.#filters <= CONDITIONS_MAX) return
    this.#wrong(path, `has too many conditions: at most ${CONDITIONS_MAX}, and as many nested filters`)
  }

  #condition(sent: unknown, path: string, level: number): PropertyCondition | EventCondition | SegmentFilter {
    if (isObject(sent) && ('conditions' in sent || 'match' in sent)) return this.filter(sent, path, level + 1)
    this.#conditions++
    if (isObject(sent) && 'event' in sent) {
      if (this.#records.hasEvents) return this.#eventCondition(sent, path)
      return this.#wrong(path, 'is about events, which companies do not have; filter contacts instead', UNREAD)
    }
    if (isObject(sent) && 'property' in sent) return this.#propertyCondition(sent, path)
    return this.#wrong(path, 'must be a condition with property, one with event, or a nested filter', UNREAD)
  }

  #propertyCondition(sent: Record<string, unknown>, path: string): PropertyCondition {
    this.#onlyKnown(sent, path, ['property', 'operator', 'value', 'visible_only'])
    const { property, value } = sent
    if (
      typeof property !== 'string' ||
      property === '' ||
      hasMoreCharacters(property, KEY_LENGTH_MAX) ||
      !isStorableText(property)
    ) {
      return this.#wrong(`${path}.property`, `must be a string of 1 to ${KEY_LENGTH_MAX} characters`, UNREAD)
    }
    const operator = PROPERTY_OPERATORS.find((known) => known === sent.operator)
    const possible = operatorsOf(property, this.#records)
    if (operator === undefined || !possible.includes(operator)) {
      return this.#wrong(`${path}.operator`, `must be one of ${possible.join(', ')}`, UNREAD)
    }
    // These operators ignore a value.
    if (operator === 'is_set' || operator === 'is_not_set') return { property, operator }
    const problem = problemOfValue(operator, value)
    if (problem !== null) return this.#wrong(`${path}.value`, problem, UNREAD)
    const comparesParts = COMPARING_PARTS.includes(operator) && !this.#records.timeColumns.includes(property)
    const visibleOnly = comparesParts ? this.#visibleOnlyOf(sent, path) : {}
    return { property, operator, value: value as Scalar | Scalar[], ...visibleOnly }
  }

  #eventCondition(sent: Record<string, unknown>, path: string): EventCondition {
    this.#onlyKnown(sent, path, ['event', 'operator'])
    const operator = EVENT_OPERATORS.find((known) => known === sent.operator)
    if (operator === undefined) this.#wrong(`${path}.operator`, `must be one of ${EVENT_OPERATORS.join(', ')}`)
    const condition: EventCondition = { event: {}, operator: operator ?? 'did' }
    if (!isObject(sent.event)) return this.#wrong(`${path}.event`, 'must be an object', condition)
    condition.event = this.#event(sent.event, `${path}.event`)
    return condition
  }

  #event(sent: Record<string, unknown>, path: string): EventMatch {
    this.#onlyKnown(sent, path, [...EVENT_TEXTS, 'within_days', 'min_count', 'visible_only'])
    const event: EventMatch = {}
    // A null field is absent, as in every body, but here no schema handles it.
    for (const name of EVENT_TEXTS) {
      const text = sent[name] ?? undefined
      if (text === undefined) continue
      if (isText(text)) event[name] = text
      else this.#wrong(`${path}.${name}`, TEXT_EXPECTED)
    }
    const { within_days: days, min_count: count } = sent
    if ((days ?? undefined) !== undefined) {
      if (isWhole(days, DAYS_MAX)) event.within_days = days
      else this.#wrong(`${path}.within_days`, wholeExpected(DAYS_MAX))
    }
    if ((count ?? undefined) !== undefined) {
      if (isWhole(count, COUNT_MAX)) event.min_count = count
      else this.#wrong(`${path}.min_count`, wholeExpected(COUNT_MAX))
    }
    const comparesParts = EVENT_PARTS.some((name) => event[name] !== undefined)
    return comparesParts ? { ...event, ...this.#visibleOnlyOf(sent, path) } : event
  }

  #visibleOnlyOf({ visible_only: sent }: Record<string, unknown>, path: string): { visible_only?: true } {
    if ((sent ?? true) !== true) this.#wrong(`${path}.visible_only`, 'must be true, or left out')
    return sent === true || this.#visibleOnly ? { visible_only: true } : {}
  }

  #onlyKnown(sent: Record<string, unknown>, path: string, known: readonly string[]): void {
    for (const name of Object.keys(sent).filter((key) => !known.includes(key))) {
      this.#wrong(`${path}.${shown(name)}`, 'is not a known field; remove it')
    }
  }

  #wrong(path: string, message: string): void
  #wrong<Instead>(path: string, message: string, instead: Instead): Instead
  #wrong<Instead>(path: string, message: string, instead?: Instead): Instead | undefined {
    this.details.push({ path, message })
    return instead
  }
}

/** Placeholder for an invalid condition; never returned. */
const UNREAD: PropertyCondition = { property: '', operator: 'is_set' }
const TEXT_EXPECTED = `must be a string of 1 to ${TEXT_LENGTH_MAX} characters`
const SCALAR_EXPECTED = `must be a string of at most ${TEXT_LENGTH_MAX} characters, a number, true or false`
const wholeExpected = (max: number) => `must be a whole number from 1 to ${max}`

function operatorsOf(property: string, records: FilteredRecords): readonly PropertyOperator[] {
  if (records.textColumns.includes(property)) return OF_TEXT
  return records.timeColumns.includes(property) ? OF_TIME : PROPERTY_OPERATORS
}

function problemOfValue(operator: PropertyOperator, value: unknown): string | null {
  switch (operator) {
    case 'contains':
    case 'not_contains':
      return isText(value) ? null : TEXT_EXPECTED
    case 'in':
    case 'not_in': {
      const fits = Array.isArray(value) && value.length > 0 && value.length <= LIST_LENGTH_MAX && value.every(isScalar)
      return fits ? null : `must be a list of 1 to ${LIST_LENGTH_MAX} items, each a string, a number, true or false`
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      const fits = typeof value === 'string' ? NUMERIC_TEXT.test(value) : isScalar(value) && typeof value === 'number'
      return fits ? null : 'must be a number'
    }
    case 'before':
    case 'after': {
      const fits = typeof value === 'string' && parseTimestamp(value) !== null
      return fits ? null : 'must be an ISO 8601 timestamp with an offset, or a date alone'
    }
    case 'within_days':
      return isWhole(value, DAYS_MAX) ? null : wholeExpected(DAYS_MAX)
    default:
      return isScalar(value) ? null : SCALAR_EXPECTED
  }
}

function isText(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && !hasMoreCharacters(value, TEXT_LENGTH_MAX) && isStorableText(value)
  )
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === 'string') return value === '' || isText(value)
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max
}
