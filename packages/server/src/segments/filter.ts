import { createHash } from 'node:crypto'
import Type from 'typebox'
import { CONTACT_FILTER_FIELDS, type FilterFields } from '../contacts/columns.ts'
import { isObject } from '../platform/is-object.ts'
import { bag, LABEL, TEXT, valueNamedBy, WORD } from '../platform/personal.ts'

/** The operators of property conditions. */
export const PROPERTY_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
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

/** How deep filters may be nested. */
export const LEVELS_MAX = 5

export type PropertyOperator = (typeof PROPERTY_OPERATORS)[number]
export type Scalar = string | number | boolean

export interface PropertyCondition {
  property: string
  operator: PropertyOperator
  /** Absent for is_set and is_not_set. */
  value?: Scalar | Scalar[]
  /** Whether parts and orders are compared only of what AI agents see of the value. */
  visible_only?: true
}

/** The events that a condition matches; a single event must match all fields. */
export interface EventMatch {
  type?: string
  text?: string
  text_contains?: string
  url_contains?: string
  class_contains?: string
  element_id?: string
  within_days?: number
  /** Whether the `…_contains` fields compare only what AI agents see of the texts, and only whole words. */
  visible_only?: true
  /** The minimum number of matching events; 1 if missing. */
  min_count?: number
}

export interface EventCondition {
  event: EventMatch
  operator: (typeof EVENT_OPERATORS)[number]
}

export type SegmentCondition = PropertyCondition | EventCondition | SegmentFilter

/** A filter matches contacts for which all of the conditions, or any of them, are true. */
export interface SegmentFilter {
  match: 'all' | 'any'
  conditions: SegmentCondition[]
}

/** The records that a filter selects. */
export interface FilteredRecords extends FilterFields {
  hasEvents: boolean
}

export const CONTACTS: FilteredRecords = { ...CONTACT_FILTER_FIELDS, hasEvents: true }

const VisibleOnly = Type.Literal(true, {
  description:
    'Set in filters of AI agents from whom personal data is hidden: texts are compared without addresses, phone numbers and names, and those of events by whole words.',
})
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

/**
 * The documented schema of a filter, in requests and responses. `parseSegmentFilter` checks what a schema cannot
 * express (which value fits which operator, the depth), and has clearer messages.
 */
export const SegmentFilterSchema = Type.Unsafe<SegmentFilter>(
  Type.Object(
    {
      match: Type.Union([Type.Literal('all'), Type.Literal('any')]),
      conditions: Type.Array(
        Type.Union([
          Type.Object(
            {
              property: Type.String(WORD),
              operator: Type.Union(PROPERTY_OPERATORS.map((operator) => Type.Literal(operator))),
              value: Type.Optional(Type.Union([Value, Type.Array(Value)], valueNamedBy('property'))),
              visible_only: Type.Optional(VisibleOnly),
            },
            { description: `A property key, or ${[...CONTACTS.textColumns, ...CONTACTS.timeColumns].join(', ')}.` },
          ),
          Type.Object(
            {
              event: Type.Object({
                type: Type.Optional(Type.String(LABEL)),
                text: Type.Optional(Type.String(TEXT)),
                text_contains: Type.Optional(Type.String(TEXT)),
                url_contains: Type.Optional(Type.String(TEXT)),
                class_contains: Type.Optional(Type.String(TEXT)),
                element_id: Type.Optional(Type.String(TEXT)),
                within_days: Type.Optional(Type.Integer()),
                visible_only: Type.Optional(VisibleOnly),
                min_count: Type.Optional(Type.Integer()),
              }),
              operator: Type.Union(EVENT_OPERATORS.map((operator) => Type.Literal(operator))),
            },
            { description: 'Whether the contact has at least min_count matching events.' },
          ),
          Type.Object(
            {
              match: Type.Union([Type.Literal('all'), Type.Literal('any')]),
              conditions: Type.Array(Type.Unknown(bag('any'))),
            },
            { description: 'A nested filter of the same shape; at most 5 levels.' },
          ),
        ]),
      ),
    },
    {
      title: 'SegmentFilter',
      description: 'The contacts that belong to the segment. Negative operators match a missing value.',
      'x-expected':
        'a filter like {"match": "all", "conditions": [{"property": "country", "operator": "equals", "value": "FR"}]}',
      examples: [{ match: 'all', conditions: [{ property: 'lifecyclestage', operator: 'equals', value: 'lead' }] }],
    },
  ),
)

/** Whether a condition is a nested filter. */
export function isNested(condition: SegmentCondition): condition is SegmentFilter {
  return 'conditions' in condition
}

/** Every event condition of a filter. */
export function eventsOf(filter: SegmentFilter): EventMatch[] {
  return filter.conditions.flatMap((condition) => {
    if (isNested(condition)) return eventsOf(condition)
    return 'event' in condition ? [condition.event] : []
  })
}

const keys = new WeakMap<EventMatch, string>()

/** Conditions with the same events and count have the same key, in any segment. */
export function keyOf(match: EventMatch): string {
  const key = keys.get(match) ?? hashOf(match)
  keys.set(match, key)
  return key
}

function hashOf(match: EventMatch): string {
  const normalized = Object.entries({ min_count: 1, ...match }).sort(([a], [b]) => (a < b ? -1 : 1))
  const hash = createHash('sha256').update(JSON.stringify(normalized)).digest('hex')
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-')
}

/** Whether a filter that was sent, and may be invalid, has a condition about events. */
export function namesEvents(sent: unknown, level = 1): boolean {
  if (!isObject(sent)) return false
  if ('event' in sent) return true
  // The conditions of the deepest filter are one level below it.
  if (level > LEVELS_MAX || !Array.isArray(sent.conditions)) return false
  return sent.conditions.some((condition) => namesEvents(condition, level + 1))
}

/** The properties that say what is hidden in a contact's texts. */
const OWN_NAMES = ['firstname', 'lastname']

/** Every property and column that a filter uses. */
export function propertiesOf(filter: SegmentFilter): string[] {
  return filter.conditions.flatMap((condition) => {
    if (isNested(condition)) return propertiesOf(condition)
    if ('event' in condition) return []
    return [condition.property, ...(condition.visible_only ? OWN_NAMES : [])]
  })
}

/** The texts of which only what AI agents see is compared. */
export function visibleTextsOf(filter: SegmentFilter): string[] {
  return filter.conditions.flatMap((condition) => {
    if (isNested(condition)) return visibleTextsOf(condition)
    return 'event' in condition || !condition.visible_only || !/contains$/.test(condition.operator)
      ? []
      : [String(condition.value)]
  })
}

/**
 * Whether membership changes with time alone, or with other contacts: their names are hidden in a contact's texts, and it
 * must not stay a member by a text that is hidden since.
 */
export function usesTime(filter: SegmentFilter): boolean {
  return filter.conditions.some((condition) => {
    if (isNested(condition)) return usesTime(condition)
    if ('event' in condition) return condition.event.within_days !== undefined
    return condition.operator === 'within_days' || condition.visible_only === true
  })
}
