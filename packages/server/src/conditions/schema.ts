import Type from 'typebox'
import { bag, LABEL, TEXT, valueNamedBy, WORD } from '../platform/personal.ts'
import {
  COUNT_OPERATORS,
  EVENT_OPERATORS,
  INSIGHT_KINDS,
  MEASURES,
  PROPERTY_OPERATORS,
  type SegmentFilter,
  WITHIN_UNITS,
} from './language.ts'

const VisibleOnly = Type.Literal(true, {
  description:
    'Set in filters of AI agents from whom personal data is hidden: texts are compared without addresses, phone numbers and names, and those of events by whole words.',
})
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const oneOf = <const Word extends string>(words: readonly Word[]) => Type.Union(words.map((word) => Type.Literal(word)))
const Match = oneOf(['all', 'any'])

const compared = {
  operator: oneOf(PROPERTY_OPERATORS),
  value: Type.Optional(Type.Union([Value, Type.Array(Value)], valueNamedBy('property'))),
}

const PropertyCondition = Type.Object(
  { property: Type.String(WORD), ...compared, visible_only: Type.Optional(VisibleOnly) },
  {
    title: 'PropertyCondition',
    description:
      "Of a contact: a property key or a column such as created_at; `company.` and a property of its company, or its name or domain; or `segment`, with `in` or `not_in` and ids of segments. `properties.` and a key is a property whose name is one of these words. Of an event: a field such as url_path; `data.` and the path of a value in its data, where dots go into objects and lists and `\\.` is a dot in a key; `contact.` or `company.` and a property of the event's contact or its company.",
  },
)

const Nested = Type.Object(
  { match: Match, conditions: Type.Array(Type.Unknown(bag('any'))) },
  { title: 'NestedFilter', description: 'A nested filter of the same shape; at most 5 levels.' },
)

/** A condition on a single event, in `where`. */
export const ConditionOnEventSchema = Type.Union([PropertyCondition, Nested])

const Count = Type.Integer({ minimum: 0 })
const Event = Type.Object(
  {
    type: Type.Optional(Type.String(LABEL)),
    types: Type.Optional(Type.Array(Type.String(LABEL), { description: 'One of these event names.' })),
    text: Type.Optional(Type.String(TEXT)),
    text_contains: Type.Optional(Type.String(TEXT)),
    url_contains: Type.Optional(Type.String(TEXT)),
    class_contains: Type.Optional(Type.String(TEXT)),
    element_id: Type.Optional(Type.String(TEXT)),
    where: Type.Optional(
      Type.Array(ConditionOnEventSchema, { description: 'Conditions on the event; all must be true.' }),
    ),
    within_days: Type.Optional(Type.Integer()),
    after: Type.Optional(
      Type.String({ description: 'A timestamp, or a date: its start in the time zone of the tenant.', ...WORD }),
    ),
    before: Type.Optional(
      Type.String({ description: 'A timestamp, or a date: its end in the time zone of the tenant.', ...WORD }),
    ),
    visible_only: Type.Optional(VisibleOnly),
    min_count: Type.Optional(Type.Integer()),
    count: Type.Optional(
      Type.Object(
        { operator: oneOf(COUNT_OPERATORS), value: Count },
        { title: 'EventCount', description: 'How many events match, in place of min_count; 0 too.' },
      ),
    ),
    measure: Type.Optional(
      Type.Object(
        { function: oneOf(MEASURES), property: Type.String(WORD), ...compared },
        {
          title: 'EventMeasure',
          description:
            'A figure of a property of the matching events. sum, avg, min and max pass over values that are not numbers; distinct counts the different values; first and last are by time.',
        },
      ),
    ),
  },
  { title: 'EventMatch' },
)
const Did = oneOf(EVENT_OPERATORS)

/**
 * The documented schema of a filter, in requests and responses. `parseFilter` checks what a schema cannot express (which
 * value fits which operator, the depth), and has clearer messages.
 */
export const SegmentFilterSchema = Type.Unsafe<SegmentFilter>(
  Type.Object(
    {
      match: Match,
      conditions: Type.Array(
        Type.Union([
          PropertyCondition,
          Type.Object(
            { event: Event, operator: Did },
            { description: 'Whether the contact has at least min_count matching events.' },
          ),
          Type.Object(
            {
              sequence: Type.Array(Event, { description: '2 to 10 events, each after the one before it.' }),
              within: Type.Object(
                { value: Type.Integer({ minimum: 1 }), unit: oneOf(WITHIN_UNITS) },
                { description: 'The most time from the first event to the last.' },
              ),
              operator: Did,
            },
            { description: 'Whether the contact did all of the events, one after another.' },
          ),
          Type.Object(
            {
              insight: oneOf(INSIGHT_KINDS),
              question: Type.Record(Type.String(), Type.Unknown(bag('any'))),
              at: Type.Record(Type.String(), Type.Unknown(bag('any'))),
              operator: Did,
              visible_only: Type.Optional(VisibleOnly),
            },
            {
              description:
                'Whether a number of a question about events counts the contact, as `POST /v1/insights/people` returns it.',
            },
          ),
          Nested,
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
