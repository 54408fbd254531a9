import { createHash } from 'node:crypto'
import type { RawBuilder, SqlBool } from 'kysely'
import type { ErrorDetail } from '../platform/errors.ts'
import { isObject } from '../platform/is-object.ts'
import type { Tenant } from '../platform/tenant.ts'

/*
 * The condition language: what a condition says, wherever one is accepted. `parse.ts` reads it from requests,
 * `to-postgres.ts` evaluates it for contacts and companies, `to-clickhouse.ts` for events, `in-memory.ts` for one event.
 */

/** The operators of property conditions. */
export const PROPERTY_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'in',
  'not_in',
  'is_set',
  'is_not_set',
  'gt',
  'gte',
  'lt',
  'lte',
  'before',
  'after',
  'within_days',
] as const
/** The operators of event conditions. */
export const EVENT_OPERATORS = ['did', 'did_not'] as const
/** The operators that compare a number of events. */
export const COUNT_OPERATORS = ['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const
/** What a measure computes from a property of the matching events. */
export const MEASURES = ['sum', 'avg', 'min', 'max', 'distinct', 'first', 'last'] as const
/** The questions about events whose numbers lead to people. */
export const INSIGHT_KINDS = ['trend', 'funnel', 'retention', 'paths', 'web'] as const
export const WITHIN_UNITS = ['minute', 'hour', 'day', 'week'] as const

/** How deep filters may be nested. */
export const LEVELS_MAX = 5

export type PropertyOperator = (typeof PROPERTY_OPERATORS)[number]
export type CountOperator = (typeof COUNT_OPERATORS)[number]
export type Scalar = string | number | boolean

export interface PropertyCondition {
  property: string
  operator: PropertyOperator
  /** Absent for is_set and is_not_set. */
  value?: Scalar | Scalar[]
  /** Whether parts and orders are compared only of what AI agents see of the value. */
  visible_only?: true
}

/** A condition on a single event. */
export type ConditionOnEvent = PropertyCondition | FilterOfEvents
interface FilterOfEvents {
  match: 'all' | 'any'
  conditions: ConditionOnEvent[]
}

export interface CountCondition {
  operator: CountOperator
  value: number
}

export interface MeasureCondition {
  function: (typeof MEASURES)[number]
  property: string
  operator: PropertyOperator
  value?: Scalar | Scalar[]
}

/** The events that a condition matches: a single event must match all fields but the last three, which are about all of them. */
export interface EventMatch {
  type?: string
  types?: string[]
  text?: string
  text_contains?: string
  url_contains?: string
  class_contains?: string
  element_id?: string
  where?: ConditionOnEvent[]
  within_days?: number
  after?: string
  before?: string
  /** Whether the `…_contains` fields compare only what AI agents see of the texts, and only whole words. */
  visible_only?: true
  /** The minimum number of matching events; 1 if missing, unless there is a count or a measure. */
  min_count?: number
  /** How many events must match; beside it, min_count is not allowed. */
  count?: CountCondition
  measure?: MeasureCondition
}

export interface EventCondition {
  event: EventMatch
  operator: (typeof EVENT_OPERATORS)[number]
}

export interface Within {
  value: number
  unit: (typeof WITHIN_UNITS)[number]
}

/** Events that follow one another, the last at most some time after the first. */
export interface SequenceMatch {
  sequence: EventMatch[]
  within: Within
}

export interface SequenceCondition extends SequenceMatch {
  operator: (typeof EVENT_OPERATORS)[number]
}

/** The people behind a number of a question about events, as `POST /v1/insights/people` names them. */
export interface InsightMatch {
  insight: (typeof INSIGHT_KINDS)[number]
  question: Record<string, unknown>
  at: Record<string, unknown>
  /** Whether the texts in the question are compared only with what AI agents see. */
  visible_only?: true
}

export interface InsightCondition extends InsightMatch {
  operator: (typeof EVENT_OPERATORS)[number]
}

/**
 * What is asked about the events of a contact, or of a company's contacts together: whether enough of them match, whether they follow one another, or whether a
 * number counts the contact.
 */
export type EventQuestion = EventMatch | SequenceMatch | InsightMatch
/** A question that the contact's own events answer. */
export type OwnQuestion = Exclude<EventQuestion, InsightMatch>

/** The opposite of a filter: what `segment` with `not_in` means. No request can send it. */
export interface Negation {
  not: SegmentFilter
}

export type SegmentCondition =
  | PropertyCondition
  | EventCondition
  | SequenceCondition
  | InsightCondition
  | SegmentFilter
  | Negation

/** A filter matches records for which all of the conditions, or any of them, are true. */
export interface SegmentFilter {
  match: 'all' | 'any'
  conditions: SegmentCondition[]
}

/** The records that a filter selects, and the fields that it can name. */
export interface FilteredRecords {
  /** Columns that a filter names like properties. */
  textColumns: readonly string[]
  timeColumns: readonly string[]
  numberColumns: readonly string[]
  /** Whether filters can name their segments. Those of a contact's company cannot be named. */
  hasSegments?: true
  /** The columns, and properties, that are stored in one spelling, and how to write a text in it. */
  spelled: Readonly<Record<string, (text: string) => string>>
  /** One of these columns, in a query of the records. */
  column(name: string): RawBuilder<unknown>
  /** The column of their properties, a JSON object. */
  properties: RawBuilder<unknown>
  table: 'contacts' | 'companies'
  /** What is wrong with a condition on the people behind a number, at a path in the request; absent where none is possible. */
  problemsOfInsight?(condition: InsightMatch, path: string): ErrorDetail[]
  /** Companies of the records, whose fields are named with `company.`, and the condition that a record's company meets another. */
  company?: { records: FilteredRecords; meets(condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> }
}

/** What to tell a caller about the properties in sent conditions that nothing in the tenant has. */
export type WarningsAbout = (
  tenant: Tenant,
  entity: 'contacts' | 'companies' | 'events',
  conditions: unknown,
) => Promise<string[]>

/** Whether a condition is a nested filter. */
export function isNested<Condition extends object>(
  condition: Condition,
): condition is Extract<Condition, { conditions: unknown }> {
  return 'conditions' in condition
}

/** The words of the language that are no property of a contact. A property with such a name is `properties.<key>`. */
export const SEGMENT = 'segment'
const COMPANY_PREFIX = 'company.'
const PROPERTIES_PREFIX = 'properties.'

/** What a name in a filter of contacts or companies means. */
export function fieldNamed(name: string): { of: 'record' | 'company'; key: string; isProperty: boolean } {
  const of = name.startsWith(COMPANY_PREFIX) ? 'company' : 'record'
  const rest = of === 'company' ? name.slice(COMPANY_PREFIX.length) : name
  if (!rest.startsWith(PROPERTIES_PREFIX)) return { of, key: rest, isProperty: false }
  return { of, key: rest.slice(PROPERTIES_PREFIX.length), isProperty: true }
}

function* everyCondition(filter: SegmentFilter): Generator<Exclude<SegmentCondition, SegmentFilter | Negation>> {
  for (const condition of filter.conditions) {
    if (isNested(condition)) yield* everyCondition(condition)
    else if ('not' in condition) yield* everyCondition(condition.not)
    else yield condition
  }
}

/** Every condition on a field of the record or its company, also those on the contact of an event. */
function fieldConditionsIn(filter: SegmentFilter): PropertyCondition[] {
  return [...everyCondition(filter)].flatMap((condition) =>
    'property' in condition ? [condition] : questionOf(condition).ofContact,
  )
}

/** A condition about events, as it is asked. */
interface Asked {
  /** What is asked of ClickHouse. */
  question: EventQuestion
  /** What an event's contact must be, for the event to count: conditions on the contact itself. */
  ofContact: PropertyCondition[]
}

type ConditionOnEvents = EventCondition | SequenceCondition | InsightCondition

const asked = new WeakMap<ConditionOnEvents, Asked>()

/**
 * The question of a condition about events, always the same object. The contact of a contact's events is the contact, so
 * that what `where` says about it is asked of PostgreSQL.
 */
export function questionOf(condition: ConditionOnEvents): Asked {
  const known = asked.get(condition)
  if (known) return known
  if (isInsight(condition)) {
    const { operator, ...match } = condition
    const found = { question: match, ofContact: [] }
    asked.set(condition, found)
    return found
  }
  const matches = matchesIn('event' in condition ? condition.event : condition)
  const ofContact = matches.flatMap(({ where = [] }) =>
    where.flatMap((each) => (isNested(each) || !isOnContact(each) ? [] : [withoutPrefix(each)])),
  )
  const rest = matches.map((match) => {
    const where = match.where?.filter((each) => !isOnContact(each))
    return match.where?.length === where?.length ? match : { ...match, where }
  }) as EventMatch[]
  const [only = {}] = rest
  const question = 'event' in condition ? only : { sequence: rest, within: condition.within }
  asked.set(condition, { question, ofContact })
  return { question, ofContact }
}

const CONTACT_PREFIX = 'contact.'

/** Whether a condition on an event is about its contact, or the company of it. */
export function isOnContact(condition: ConditionOnEvent): boolean {
  if (isNested(condition)) return false
  return condition.property.startsWith(CONTACT_PREFIX) || condition.property.startsWith(COMPANY_PREFIX)
}

/** The condition as a filter of contacts has it. */
export function withoutPrefix(condition: PropertyCondition): PropertyCondition {
  const { property } = condition
  return property.startsWith(CONTACT_PREFIX)
    ? { ...condition, property: property.slice(CONTACT_PREFIX.length) }
    : condition
}

/** Every question about events in a filter. */
export function eventsOf(filter: SegmentFilter): EventQuestion[] {
  return [...everyCondition(filter)].flatMap((condition) =>
    'property' in condition ? [] : [questionOf(condition).question],
  )
}

/** Every single event that a filter is about. */
export function eventMatchesOf(filter: SegmentFilter): EventMatch[] {
  return eventsOf(filter).flatMap(matchesIn)
}

export function isInsight<Question extends object>(
  question: Question,
): question is Extract<Question, { insight: unknown }> {
  return 'insight' in question
}

/** The single events that a question is about. What a number counts depends on the events of others too. */
export function matchesIn(question: EventQuestion): EventMatch[] {
  if (isInsight(question)) return []
  return 'sequence' in question ? question.sequence : [question]
}

/**
 * Whether somebody without any event meets a condition: `count lt 3`, or a measure that is not set. Such people are in
 * no result of a query of events.
 */
export function isMetByNothing(question: EventQuestion): boolean {
  if ('sequence' in question || isInsight(question)) return false
  const { count, measure, min_count } = question
  if (!count && !measure) return false
  if (min_count !== undefined && min_count > 0) return false
  return (!count || compares(0, count)) && (!measure || isMeasuredByNothing(measure))
}

function compares(count: number, { operator, value }: CountCondition): boolean {
  switch (operator) {
    case 'equals':
      return count === value
    case 'not_equals':
      return count !== value
    case 'gt':
      return count > value
    case 'gte':
      return count >= value
    case 'lt':
      return count < value
    case 'lte':
      return count <= value
  }
}

/** With nothing to measure, `distinct` is 0 and the others are missing: only a negative operator is true of that. */
function isMeasuredByNothing({ function: measure, operator, value }: MeasureCondition): boolean {
  if (measure !== 'distinct') return operator === 'is_not_set' || operator.startsWith('not_')
  if (operator === 'is_set' || operator === 'is_not_set') return operator === 'is_set'
  const numbers = [value].flat().map(Number)
  if (operator === 'in' || operator === 'not_in') return numbers.includes(0) === (operator === 'in')
  return compares(0, { operator: operator as CountOperator, value: numbers[0] ?? Number.NaN })
}

const keys = new WeakMap<EventQuestion, string>()

/** Questions with the same events and count have the same key, in any segment. */
export function keyOf(question: EventQuestion): string {
  const key = keys.get(question) ?? hashOf(question)
  keys.set(question, key)
  return key
}

function hashOf(question: EventQuestion): string {
  const isWhole = 'sequence' in question || isInsight(question)
  const normalized = Object.entries(isWhole ? question : { min_count: 1, ...question }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const hash = createHash('sha256').update(JSON.stringify(normalized)).digest('hex')
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-')
}

/** Whether a filter that was sent, and may be invalid, has a condition about events. */
export function namesEvents(sent: unknown, level = 1): boolean {
  if (!isObject(sent)) return false
  if ('event' in sent || 'sequence' in sent || 'insight' in sent) return true
  // The conditions of the deepest filter are one level below it.
  if (level > LEVELS_MAX || !Array.isArray(sent.conditions)) return false
  return sent.conditions.some((condition) => namesEvents(condition, level + 1))
}

/** The properties that say what is hidden in a contact's texts. */
const OWN_NAMES = ['firstname', 'lastname']

/** Every property and column that a filter uses. What it uses of the company depends on which one it is. */
export function propertiesOf(filter: SegmentFilter): string[] {
  return fieldConditionsIn(filter).flatMap(({ property, visible_only: visibleOnly }) => {
    const { of, key } = fieldNamed(property)
    return [of === 'company' ? 'company_id' : key, ...(visibleOnly ? OWN_NAMES : [])]
  })
}

/** Whether membership depends on the contact's company. */
export function usesCompany(filter: SegmentFilter): boolean {
  return fieldConditionsIn(filter).some(({ property }) => fieldNamed(property).of === 'company')
}

/** Whether the membership of contacts depends on how many their company has. */
export function usesContactCount(filter: SegmentFilter): boolean {
  return fieldConditionsIn(filter).some(({ property }) => {
    const { of, key, isProperty } = fieldNamed(property)
    return of === 'company' && key === 'contact_count' && !isProperty
  })
}

/** The ids of the segments that a filter names. */
export function segmentsIn(filter: SegmentFilter): string[] {
  const named = fieldConditionsIn(filter).filter(({ property }) => property === SEGMENT)
  return named.flatMap(({ value = [] }) => [value].flat().map(String))
}

/** The texts of which only what AI agents see is compared. */
export function visibleTextsOf(filter: SegmentFilter): string[] {
  const parts = fieldConditionsIn(filter).filter(({ operator }) => /contains$|_with$/.test(operator))
  return parts.flatMap(({ value, visible_only: visibleOnly }) => (visibleOnly ? [String(value)] : []))
}

/**
 * Whether membership changes with time alone, or with other contacts: their names are hidden in a contact's texts, and it
 * must not stay a member by a text that is hidden since.
 */
export function usesTime(filter: SegmentFilter): boolean {
  return [...everyCondition(filter)].some((condition) => {
    if ('property' in condition) return condition.operator === 'within_days' || condition.visible_only === true
    if (isInsight(condition)) return true
    return matchesIn('event' in condition ? condition.event : condition).some(isTimed)
  })
}

function isTimed({ within_days, where = [], measure }: EventMatch): boolean {
  return within_days !== undefined || measure?.operator === 'within_days' || where.some(isTimedOnEvent)
}

function isTimedOnEvent(condition: ConditionOnEvent): boolean {
  return isNested(condition) ? condition.conditions.some(isTimedOnEvent) : condition.operator === 'within_days'
}
