import Type from 'typebox'
import { nameDays } from '../conditions/bounds.ts'
import { eventPropertyNamed } from '../conditions/event-property.ts'
import { type ConditionOnEvent, isNested, type SegmentFilter } from '../conditions/language.ts'
import { parseWhere } from '../conditions/parse.ts'
import { ConditionOnEventSchema, SegmentFilterSchema } from '../conditions/schema.ts'
import { EVENT_NAME_LENGTH_MAX } from '../journal/event-record.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { LABEL, WORD } from '../platform/personal.ts'

export const ENTITIES = ['contacts', 'companies'] as const
export type Entity = (typeof ENTITIES)[number]

export const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max', 'distinct', 'first', 'last', 'most_frequent'] as const
export type ComputedFunction = (typeof FUNCTIONS)[number]

/** Longer ago, an event hardly says what somebody is like now; and its time is a date for everybody. */
const DAYS_MAX = 3_650
export const RULES_MAX = 20
const POINTS_MAX = 1_000

/** What gets a property, and what it is. */
export interface Defined {
  entity: Entity
  name: string
  definition: ComputedDefinition
}

/** What is computed of the events of a person, or of a company's contacts together. */
export interface OfEvents {
  function: ComputedFunction
  event: string
  where?: ConditionOnEvent[]
  property?: string
  within_days?: number
}

/** A rule of a score: its points count while the filter holds. */
export interface ScoreRule {
  filter: SegmentFilter
  points: number
}

export interface Score {
  score: ScoreRule[]
}

export type ComputedDefinition = OfEvents | Score

export function isScore(definition: ComputedDefinition): definition is Score {
  return 'score' in definition
}

const Rule = Type.Object(
  {
    // The filter's parser reports every invalid place in it.
    filter: Type.Unsafe<unknown>({ 'x-record': SegmentFilterSchema }),
    points: Type.Integer({
      minimum: -POINTS_MAX,
      maximum: POINTS_MAX,
      description: 'Added to the score while the filter matches; may be negative.',
      examples: [20],
    }),
  },
  { title: 'ScoreRule', additionalProperties: false },
)
type SentRule = Type.Static<typeof Rule>

const PROPERTY_TEXT =
  'The property of the events that is computed, such as `data.amount`; for every function but `count`, which has none.'

/** What a request may say of a definition. `checkDefinition` checks what the schema cannot express. */
export const DEFINITION_INPUT = {
  function: Type.Optional(
    Type.Enum(FUNCTIONS, {
      description:
        'What is computed of the events. `first`, `last` and `most_frequent` are values of `property`; of values that are equally frequent, the latest.',
    }),
  ),
  event: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: EVENT_NAME_LENGTH_MAX,
      description: 'The name of the events.',
      examples: ['order_completed'],
      ...LABEL,
    }),
  ),
  where: Type.Optional(
    Type.Array(ConditionOnEventSchema, { description: 'Conditions on each event alone; all must be true.' }),
  ),
  property: Type.Optional(
    Type.Union([Type.String({ minLength: 1, ...WORD }), Type.Null()], {
      description: PROPERTY_TEXT,
      examples: ['data.amount'],
    }),
  ),
  within_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: DAYS_MAX }), Type.Null()], {
      description: 'Only events of the latest days count, each of 24 hours.',
    }),
  ),
  score: Type.Optional(
    Type.Array(Rule, {
      minItems: 1,
      maxItems: RULES_MAX,
      description: 'In place of a function: the value is the sum of the points of the filters that match.',
    }),
  ),
}

/** A definition as a request sends it; null and [] leave something out. */
export interface SentDefinition {
  function?: ComputedFunction | undefined
  event?: string | undefined
  where?: unknown
  property?: string | null | undefined
  within_days?: number | null | undefined
  score?: SentRule[] | undefined
}

const OF_EVENTS = ['function', 'event', 'where', 'property', 'within_days'] as const

/** A change of these causes another write of computed values, so they could go round for ever. */
const CIRCULAR_EVENTS = ['contact_updated', 'segment_entered', 'segment_exited']

/**
 * @returns the definition in its stored form, but for the filters of a score, which `checkRules` checks.
 * @throws ServiceError 400 naming every invalid field.
 */
export function checkDefinition(sent: SentDefinition): ComputedDefinition {
  const isOfEvents = OF_EVENTS.some((field) => sent[field] !== undefined)
  if (sent.score !== undefined && isOfEvents) {
    throw validationError([{ path: 'score', message: 'cannot stand beside function and event: send one or the other' }])
  }
  return sent.score === undefined ? checkOfEvents(sent) : { score: sent.score as ScoreRule[] }
}

function checkOfEvents(sent: SentDefinition): OfEvents {
  const details: ErrorDetail[] = []
  const { function: name, event = '', property, within_days: days } = sent
  if (name === undefined) details.push({ path: 'function', message: `must be one of ${FUNCTIONS.join(', ')}` })
  if (event.trim() === '') details.push({ path: 'event', message: 'must be the name of an event' })
  if (CIRCULAR_EVENTS.includes(event)) {
    const message = `cannot be ${event}: computed properties cause such events themselves`
    details.push({ path: 'event', message })
  }
  if (name === 'count' && typeof property === 'string') {
    details.push({ path: 'property', message: 'is not for count, which counts events; remove it' })
  }
  if (name !== undefined && name !== 'count') details.push(...problemsOfProperty(property ?? undefined))
  const where = checkWhere(sent.where, details)
  if (details.length > 0 || name === undefined) throw validationError(details)
  return {
    function: name,
    event,
    ...(where.length > 0 ? { where } : {}),
    ...(typeof property === 'string' ? { property } : {}),
    ...(typeof days === 'number' ? { within_days: days } : {}),
  }
}

function problemsOfProperty(property: string | undefined): ErrorDetail[] {
  if (property === undefined) return [{ path: 'property', message: PROPERTY_TEXT }]
  if (eventPropertyNamed(property) !== null) return []
  return [{ path: 'property', message: 'must be a field of events, or data. and the path of a value in their data' }]
}

function checkWhere(sent: unknown, details: ErrorDetail[]): ConditionOnEvent[] {
  if (sent === undefined || sent === null) return []
  try {
    const where = parseWhere(sent, { contacts: null })
    // Which day a date alone means would change with the time zone of the tenant.
    if (nameDays(where)) {
      details.push({ path: 'where', message: 'must have a time with each date, such as 2026-05-01T00:00:00Z' })
    }
    if (where.some(dependsOnTime)) {
      details.push({ path: 'where', message: 'cannot use within_days; set within_days beside it instead' })
    }
    return where
  } catch (error) {
    // Problems in other fields are reported in the same response.
    details.push(...((error as { details?: ErrorDetail[] }).details ?? []))
    return []
  }
}

function dependsOnTime(condition: ConditionOnEvent): boolean {
  return isNested(condition) ? condition.conditions.some(dependsOnTime) : condition.operator === 'within_days'
}
