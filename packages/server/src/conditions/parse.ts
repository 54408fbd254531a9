import { hasMoreCharacters, shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { parseJsonBody } from '../platform/http/body-parts.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { isUuid } from '../platform/ids.ts'
import { isObject } from '../platform/is-object.ts'
import { parseTimestamp } from '../platform/time.ts'
import { eventPropertyNamed, PATH_KEYS_MAX } from './event-property.ts'
import {
  COUNT_OPERATORS,
  type ConditionOnEvent,
  EVENT_OPERATORS,
  type EventMatch,
  type FilteredRecords,
  fieldNamed,
  INSIGHT_KINDS,
  isOnContact,
  LEVELS_MAX,
  MEASURES,
  type MeasureCondition,
  PROPERTY_OPERATORS,
  type PropertyCondition,
  type PropertyOperator,
  type Scalar,
  SEGMENT,
  type SegmentCondition,
  type SegmentFilter,
  WITHIN_UNITS,
  withoutPrefix,
} from './language.ts'
import { isText, isWhole, problemOfValue, TEXT_EXPECTED, wholeExpected } from './values.ts'

const CONDITIONS_MAX = 50
const KEY_LENGTH_MAX = 128
const DAYS_MAX = 36_500
const COUNT_MAX = 1_000_000
const TYPES_MAX = 100
const STEPS_MIN = 2
const STEPS_MAX = 10
/** The most problems reported for one filter. */
const DETAILS_MAX = 20

const OF_TEXT: readonly PropertyOperator[] = PROPERTY_OPERATORS.slice(0, 10)
const OF_TIME: readonly PropertyOperator[] = ['is_set', 'is_not_set', 'before', 'after', 'within_days']
const OF_BOOLEAN: readonly PropertyOperator[] = ['equals', 'not_equals', 'in', 'not_in', 'is_set', 'is_not_set']
const OF_NUMBER: readonly PropertyOperator[] = [...OF_BOOLEAN, 'gt', 'gte', 'lt', 'lte']
const OF_SEGMENT: readonly PropertyOperator[] = ['in', 'not_in']
/** The operators that could find a value step by step. */
const COMPARING_PARTS: readonly PropertyOperator[] = [
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
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
  records: FilteredRecords
  /** Whether every condition compares only what AI agents see: personal values are hidden from the caller. */
  visibleOnly?: boolean
}

/**
 * Parses a filter from a request.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseFilter(
  sent: unknown,
  { path = 'filter', records, visibleOnly = false }: ParseOptions,
): SegmentFilter {
  const reader = new FilterReader(records, contactsOf(records), visibleOnly)
  const filter = reader.filter(sent, path, 1)
  return reader.checked(filter, path)
}

/**
 * Parses a list of conditions on contacts or companies, all of which must be true.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseConditions(
  sent: unknown,
  { path = 'where', records, visibleOnly = false }: ParseOptions,
): SegmentFilter {
  const reader = new FilterReader(records, contactsOf(records), visibleOnly)
  return reader.checked(reader.conditions(sent, path), path)
}

/** The contact of each event that a filter is about; a company's events have many. */
function contactsOf(records: FilteredRecords): FilteredRecords | null {
  return records.table === 'contacts' ? records : null
}

/** The filter of a list, sent as a value or as JSON in the URL. @throws ServiceError 400. */
export function filterIn(sent: unknown): unknown {
  if (typeof sent !== 'string') return sent
  try {
    return parseJsonBody(sent)
  } catch {
    throw validationError([{ path: 'filter', message: 'must be a filter as JSON' }])
  }
}

/**
 * Parses conditions on events.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseWhere(
  sent: unknown,
  {
    path = 'where',
    contacts,
    visibleOnly = false,
  }: { path?: string; contacts: FilteredRecords | null; visibleOnly?: boolean },
): ConditionOnEvent[] {
  const reader = new FilterReader(null, contacts, visibleOnly)
  return reader.checked(reader.where(sent, path, 1), path)
}

/**
 * Parses a filter of events.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseEventFilter(
  sent: unknown,
  {
    path = 'filter',
    contacts,
    visibleOnly = false,
  }: { path?: string; contacts: FilteredRecords | null; visibleOnly?: boolean },
): ConditionOnEvent {
  const reader = new FilterReader(null, contacts, visibleOnly)
  return reader.checked(reader.filterOfEvents(sent, path, 1), path)
}

/** Parses a filter in one pass and collects the problems with their paths. The result is valid if there are none. */
class FilterReader {
  readonly #details: ErrorDetail[] = []
  #conditions = 0
  #filters = 0
  /** null where only events are filtered. */
  readonly #records: FilteredRecords | null
  /** The records that `contact.` and `company.` name; null where only the event itself is known. */
  readonly #contacts: FilteredRecords | null
  readonly #visibleOnly: boolean

  constructor(records: FilteredRecords | null, contacts: FilteredRecords | null, visibleOnly: boolean) {
    this.#records = records
    this.#contacts = contacts
    this.#visibleOnly = visibleOnly
  }

  filter(sent: unknown, path: string, level: number): SegmentFilter {
    return this.#nested(sent, path, level, (each, at) => this.#condition(each, at, level))
  }

  conditions(sent: unknown, path: string): SegmentFilter {
    if (!Array.isArray(sent)) return this.#wrong(path, 'must be a list of conditions', { match: 'all', conditions: [] })
    return { match: 'all', conditions: this.#each(sent, path, (each, at) => this.#condition(each, at, 1)) }
  }

  filterOfEvents(sent: unknown, path: string, level: number): ConditionOnEvent {
    return this.#nested(sent, path, level, (each, at) => this.#conditionOnEvent(each, at, level, true))
  }

  where(sent: unknown, path: string, level: number): ConditionOnEvent[] {
    if (!Array.isArray(sent)) return this.#wrong(path, 'must be a list of conditions', [])
    return this.#each(sent, path, (each, at) => this.#conditionOnEvent(each, at, level))
  }

  checked<Parsed>(parsed: Parsed, path: string): Parsed {
    if (this.#isBeyondLimits()) {
      this.#wrong(path, `has too many conditions: at most ${CONDITIONS_MAX}, and as many nested filters`)
    }
    if (this.#details.length > 0) throw validationError(this.#details.slice(0, DETAILS_MAX))
    return parsed
  }

  #isBeyondLimits(): boolean {
    return this.#conditions > CONDITIONS_MAX || this.#filters > CONDITIONS_MAX
  }

  #nested<Condition>(
    sent: unknown,
    path: string,
    level: number,
    read: (sent: unknown, path: string) => Condition,
  ): { match: 'all' | 'any'; conditions: Condition[] } {
    const filter: { match: 'all' | 'any'; conditions: Condition[] } = { match: 'all', conditions: [] }
    this.#filters++
    if (level > LEVELS_MAX) return this.#wrong(path, `is nested too deeply: at most ${LEVELS_MAX} levels`, filter)
    if (!isObject(sent)) return this.#wrong(path, 'must be an object with match and conditions', filter)
    this.#onlyKnown(sent, path, ['match', 'conditions'])
    if (sent.match === 'all' || sent.match === 'any') filter.match = sent.match
    else this.#wrong(`${path}.match`, 'must be all or any')
    if (!Array.isArray(sent.conditions))
      return this.#wrong(`${path}.conditions`, 'must be a list of conditions', filter)
    filter.conditions = this.#each(sent.conditions, `${path}.conditions`, read)
    return filter
  }

  /** Beyond the limits, parsing stops. */
  #each<Condition>(
    sent: readonly unknown[],
    path: string,
    read: (sent: unknown, path: string) => Condition,
  ): Condition[] {
    const conditions: Condition[] = []
    for (const [index, each] of sent.entries()) {
      if (this.#isBeyondLimits()) break
      conditions.push(read(each, `${path}[${index}]`))
    }
    return conditions
  }

  #condition(sent: unknown, path: string, level: number): SegmentCondition {
    if (isObject(sent) && ('conditions' in sent || 'match' in sent)) return this.filter(sent, path, level + 1)
    this.#conditions++
    if (isObject(sent) && 'event' in sent) {
      this.#onlyKnown(sent, path, ['event', 'operator'])
      return { event: this.#event(sent.event, `${path}.event`, level), operator: this.#did(sent, path) }
    }
    if (isObject(sent) && 'sequence' in sent) return this.#sequence(sent, path, level)
    if (isObject(sent) && 'insight' in sent) return this.#insight(sent, path)
    if (isObject(sent) && 'property' in sent) return this.#propertyCondition(sent, path)
    const expected = 'must be a condition with property, event, sequence or insight, or a nested filter'
    return this.#wrong(path, expected, UNREAD)
  }

  #conditionOnEvent(sent: unknown, path: string, level: number, isNestedPlace = false): ConditionOnEvent {
    if (isObject(sent) && ('conditions' in sent || 'match' in sent)) {
      return this.filterOfEvents(sent, path, level + 1)
    }
    this.#conditions++
    if (isObject(sent) && 'property' in sent) return this.#propertyOfEvent(sent, path, isNestedPlace)
    return this.#wrong(path, 'must be a condition with property, or a nested filter', UNREAD)
  }

  #propertyCondition(sent: Record<string, unknown>, path: string): PropertyCondition {
    const condition = this.#property(sent, path, (name) => operatorsOf(name, this.#records))
    if (condition.property === SEGMENT && ![condition.value ?? ''].flat().every((id) => isUuid(String(id)))) {
      return this.#wrong(`${path}.value`, 'must be a list of ids of segments', UNREAD)
    }
    const { timeColumns = [], numberColumns = [] } = this.#records ?? {}
    const isPersonal = ![...timeColumns, ...numberColumns].includes(condition.property)
    const comparesParts = COMPARING_PARTS.includes(condition.operator) && isPersonal
    return comparesParts ? { ...condition, ...this.#visibleOnlyOf(sent, path) } : condition
  }

  #propertyOfEvent(sent: Record<string, unknown>, path: string, isNestedPlace: boolean): PropertyCondition {
    const condition = this.#property(sent, path, operatorsOfEvent)
    const ofContact = isOnContact(condition)
    if (ofContact && isNestedPlace && this.#records !== null) {
      const message =
        'is about the contact; write it beside the event, or as one of the conditions that all must be true'
      return this.#wrong(`${path}.property`, message, UNREAD)
    }
    if (ofContact && this.#contacts === null) {
      const message = 'is about the contact of the event; here, only the event itself is compared'
      return this.#wrong(`${path}.property`, message, UNREAD)
    }
    if (ofContact) return this.#onContact(condition, sent, path)
    const comparesParts = COMPARING_PARTS.includes(condition.operator)
    if (!comparesParts || eventPropertyNamed(condition.property)?.kind === 'time') return condition
    const visibleOnly = this.#visibleOnlyOf(sent, path)
    // Orders would find a hidden value step by step.
    if (visibleOnly.visible_only && !/contains$|_with$/.test(condition.operator)) {
      return this.#wrong(`${path}.operator`, 'is not available while personal data is hidden', UNREAD)
    }
    return { ...condition, ...visibleOnly }
  }

  #onContact(condition: PropertyCondition, sent: Record<string, unknown>, path: string): PropertyCondition {
    const field = withoutPrefix(condition)
    if (field.property === SEGMENT && this.#records !== null) {
      return this.#wrong(`${path}.property`, 'is about the contact; write segment beside the event', UNREAD)
    }
    const possible = operatorsOf(field.property, this.#contacts)
    if (!possible.includes(condition.operator)) {
      return this.#wrong(`${path}.operator`, `must be one of ${possible.join(', ')}`, UNREAD)
    }
    return COMPARING_PARTS.includes(condition.operator)
      ? { ...condition, ...this.#visibleOnlyOf(sent, path) }
      : condition
  }

  /** The parts that every condition on a property has. */
  #property(
    sent: Record<string, unknown>,
    path: string,
    operators: (property: string) => readonly PropertyOperator[],
    more: readonly string[] = ['visible_only'],
  ): PropertyCondition {
    this.#onlyKnown(sent, path, ['property', 'operator', 'value', ...more])
    const { property, value } = sent
    if (
      typeof property !== 'string' ||
      property === '' ||
      hasMoreCharacters(property, KEY_LENGTH_MAX) ||
      !isStorableText(property)
    ) {
      return this.#wrong(`${path}.property`, `must be a string of 1 to ${KEY_LENGTH_MAX} characters`, UNREAD)
    }
    const named = eventPropertyNamed(property)
    if (named?.kind === 'data' && named.path.length > PATH_KEYS_MAX) {
      return this.#wrong(`${path}.property`, `must name at most ${PATH_KEYS_MAX} keys`, UNREAD)
    }
    const operator = PROPERTY_OPERATORS.find((known) => known === sent.operator)
    const possible = operators(property)
    if (operator === undefined || !possible.includes(operator)) {
      return this.#wrong(`${path}.operator`, `must be one of ${possible.join(', ')}`, UNREAD)
    }
    // These operators ignore a value.
    if (operator === 'is_set' || operator === 'is_not_set') return { property, operator }
    const problem = problemOfValue(operator, value)
    if (problem !== null) return this.#wrong(`${path}.value`, problem, UNREAD)
    return { property, operator, value: value as Scalar | Scalar[] }
  }

  #did(sent: Record<string, unknown>, path: string): (typeof EVENT_OPERATORS)[number] {
    const operator = EVENT_OPERATORS.find((known) => known === sent.operator)
    return operator ?? this.#wrong(`${path}.operator`, `must be one of ${EVENT_OPERATORS.join(', ')}`, 'did')
  }

  #sequence(sent: Record<string, unknown>, path: string, level: number): SegmentCondition {
    this.#onlyKnown(sent, path, ['sequence', 'within', 'operator'])
    const operator = this.#did(sent, path)
    const { sequence: steps, within } = sent
    const isList = Array.isArray(steps) && steps.length >= STEPS_MIN && steps.length <= STEPS_MAX
    if (!isList) this.#wrong(`${path}.sequence`, `must be a list of ${STEPS_MIN} to ${STEPS_MAX} events`)
    const place = `${path}.sequence`
    const sequence = isList ? this.#each(steps, place, (each, at) => this.#event(each, at, level, true)) : []
    const unit = WITHIN_UNITS.find((known) => isObject(within) && known === within.unit)
    if (!isObject(within) || unit === undefined || !isWhole(within.value, DAYS_MAX)) {
      const expected = `must be an object with value, a whole number from 1 to ${DAYS_MAX}, and unit, one of ${WITHIN_UNITS.join(', ')}`
      return this.#wrong(`${path}.within`, expected, UNREAD)
    }
    this.#onlyKnown(within, `${path}.within`, ['value', 'unit'])
    return { sequence, within: { value: within.value, unit }, operator }
  }

  #insight(sent: Record<string, unknown>, path: string): SegmentCondition {
    this.#onlyKnown(sent, path, ['insight', 'question', 'at', 'operator', 'visible_only'])
    const operator = this.#did(sent, path)
    const insight = INSIGHT_KINDS.find((known) => known === sent.insight)
    if (insight === undefined) {
      return this.#wrong(`${path}.insight`, `must be one of ${INSIGHT_KINDS.join(', ')}`, UNREAD)
    }
    const { question, at } = sent
    if (!isObject(question)) return this.#wrong(`${path}.question`, 'must be an object', UNREAD)
    if (!isObject(at)) return this.#wrong(`${path}.at`, 'must be an object', UNREAD)
    const problems = this.#records?.problemsOfInsight?.({ insight, question, at }, path)
    if (problems === undefined) return this.#wrong(path, 'is not possible here', UNREAD)
    this.#details.push(...problems)
    return { insight, question, at, operator, ...this.#visibleOnlyOf(sent, path) }
  }

  #event(sent: unknown, path: string, level: number, isStep = false): EventMatch {
    const event: EventMatch = {}
    if (!isObject(sent)) return this.#wrong(path, 'must be an object', event)
    const ofOne = [...EVENT_TEXTS, 'types', 'where', 'within_days', 'after', 'before', 'visible_only']
    this.#onlyKnown(sent, path, isStep ? ofOne : [...ofOne, 'min_count', 'count', 'measure'])
    // A null field is absent, as in every body, but here no schema handles it.
    const has = (name: string) => (sent[name] ?? undefined) !== undefined
    for (const name of EVENT_TEXTS) {
      if (!has(name)) continue
      const text = sent[name]
      if (isText(text)) event[name] = text
      else this.#wrong(`${path}.${name}`, TEXT_EXPECTED)
    }
    if (has('types')) {
      const { types } = sent
      const fits = Array.isArray(types) && types.length > 0 && types.length <= TYPES_MAX && types.every(isText)
      if (fits) event.types = types
      else this.#wrong(`${path}.types`, `must be a list of 1 to ${TYPES_MAX} event names`)
    }
    if (has('where')) event.where = this.where(sent.where, `${path}.where`, level)
    if (has('within_days')) {
      if (isWhole(sent.within_days, DAYS_MAX)) event.within_days = sent.within_days
      else this.#wrong(`${path}.within_days`, wholeExpected(DAYS_MAX))
    }
    for (const name of ['after', 'before'] as const) {
      if (!has(name)) continue
      const text = sent[name]
      if (typeof text === 'string' && parseTimestamp(text) !== null) event[name] = text
      else this.#wrong(`${path}.${name}`, problemOfValue(name, text) ?? TEXT_EXPECTED)
    }
    if (!isStep) this.#ofAll(sent, path, event, has)
    const comparesParts = EVENT_PARTS.some((name) => event[name] !== undefined)
    return comparesParts ? { ...event, ...this.#visibleOnlyOf(sent, path) } : event
  }

  /** What is said about all matching events. */
  #ofAll(sent: Record<string, unknown>, path: string, event: EventMatch, has: (name: string) => boolean): void {
    const { min_count: least, count } = sent
    if (has('min_count')) {
      if (isWhole(least, COUNT_MAX)) event.min_count = least
      else this.#wrong(`${path}.min_count`, wholeExpected(COUNT_MAX))
      if (has('count')) this.#wrong(`${path}.count`, 'cannot be used beside min_count; remove one of them')
    }
    if (has('count')) {
      const operator = COUNT_OPERATORS.find((known) => isObject(count) && known === count.operator)
      if (isObject(count)) this.#onlyKnown(count, `${path}.count`, ['operator', 'value'])
      if (isObject(count) && operator !== undefined && (count.value === 0 || isWhole(count.value, COUNT_MAX))) {
        event.count = { operator, value: count.value }
      } else {
        const expected = `must be an object with operator, one of ${COUNT_OPERATORS.join(', ')}, and value, a whole number from 0 to ${COUNT_MAX}`
        this.#wrong(`${path}.count`, expected)
      }
    }
    if (has('measure')) event.measure = this.#measure(sent.measure, `${path}.measure`)
  }

  #measure(sent: unknown, path: string): MeasureCondition {
    const name = MEASURES.find((known) => isObject(sent) && known === sent.function)
    if (!isObject(sent) || name === undefined) {
      return this.#wrong(`${path}.function`, `must be one of ${MEASURES.join(', ')}`, { ...UNREAD, function: 'sum' })
    }
    const isOfValue = name === 'first' || name === 'last'
    const operators = (property: string) => (isOfValue ? operatorsOfEvent(property) : OF_NUMBER)
    const condition = this.#property(sent, path, operators, ['function'])
    const values = [condition.value ?? []].flat()
    if (!isOfValue && !values.every((value) => Number.isFinite(Number(value)) && typeof value !== 'boolean')) {
      this.#wrong(`${path}.value`, 'must be a number')
    }
    // Its figures would find a hidden value step by step.
    if (this.#visibleOnly && eventPropertyNamed(condition.property)?.kind !== 'time' && name !== 'distinct') {
      this.#wrong(path, 'is not available while personal data is hidden, except for distinct')
    }
    return { function: name, ...condition }
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
    this.#details.push({ path, message })
    return instead
  }
}

/** Placeholder for an invalid condition; never returned. */
const UNREAD: PropertyCondition = { property: '', operator: 'is_set' }

/** The operators that fit a field of contacts or companies. */
function operatorsOf(name: string, records: FilteredRecords | null): readonly PropertyOperator[] {
  if (records === null) return PROPERTY_OPERATORS
  const { of, key, isProperty } = fieldNamed(name)
  if (of === 'company' && records.company)
    return operatorsOf(isProperty ? `properties.${key}` : key, records.company.records)
  if (isProperty) return PROPERTY_OPERATORS
  if (key === SEGMENT && records.hasSegments) return OF_SEGMENT
  if (records.numberColumns.includes(key)) return OF_NUMBER
  if (records.textColumns.includes(key)) return OF_TEXT
  return records.timeColumns.includes(key) ? OF_TIME : PROPERTY_OPERATORS
}

function operatorsOfEvent(name: string): readonly PropertyOperator[] {
  switch (eventPropertyNamed(name)?.kind) {
    case 'time':
      return OF_TIME
    case 'boolean':
      return OF_BOOLEAN
    case 'id':
      return OF_TEXT
    default:
      return PROPERTY_OPERATORS
  }
}
