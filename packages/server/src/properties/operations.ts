import Type from 'typebox'
import type { FindComputedNames } from '../contacts/computed-names.ts'
import { PROPERTY_TYPES } from '../contacts/property-catalogue.ts'
import { EVENTS_READ } from '../events/data-properties.ts'
import { EVENT_NAME_LENGTH_MAX } from '../journal/event-record.ts'
import { operationsWith } from '../operations/declare.ts'
import { notFound } from '../platform/errors.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { Nullable } from '../platform/http/responses.ts'
import { valueNamedBy, WORD } from '../platform/personal.ts'
import { ENTITIES, FOUND_MAX, listProperties, type Property } from './catalogue.ts'

const OWN_SCOPE = 'Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on `entity`.'
const EntityParameter = oneOf(ENTITIES, 'The kind of record that has the properties.', 'contacts')
const KINDS = ['text', 'number', 'boolean', 'time', 'list'] as const
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean()], valueNamedBy('name'))

const PropertyObject = Type.Object(
  {
    name: Type.String({
      description:
        'As conditions, groups and columns name it. In events, `data.order.total` is `total` in the object `order` of their data, and `\\.` a dot in a key.',
      ...WORD,
    }),
    label: Type.String(WORD),
    type: Type.Unsafe<Property['type']>({
      type: 'string',
      enum: PROPERTY_TYPES,
      description: 'What most of its values are. A text that is a number counts as one.',
    }),
    kinds: Type.Array(Type.Unsafe<Property['kinds'][number]>({ type: 'string', enum: KINDS }), {
      description: 'What its values are. A `time` is a text with a date, with or without a time of day.',
    }),
    is_editable: Type.Boolean({
      description: 'Whether people can set it: not if the service derives or computes it, or it records a consent.',
    }),
    is_computed: Type.Boolean({ description: 'Whether it is a computed property.' }),
    is_usual: Type.Boolean({
      description: 'Whether lists and exports include it by default.',
    }),
    choices: Nullable(Type.Array(Type.String(WORD)), 'The only values it may have; null for any.'),
    values_seen: Nullable(
      Type.Integer(),
      `How many values of it the newest 2,000 records or ${EVENTS_READ.toLocaleString('en')} events have; null for columns, which every record has.`,
    ),
    last_seen_at: Nullable(
      Type.String({ format: 'date-time' }),
      'When the latest of these events happened, or the latest of these records changed; null for columns and if `values_seen` is 0.',
    ),
    top_values: Type.Optional(
      Type.Array(Value, {
        description:
          'Its 5 most frequent values, most frequent first. Missing for columns and for personal properties.',
      }),
    ),
  },
  { title: 'Property' },
)

const propertyOperation = operationsWith<{ findComputedNames: FindComputedNames }>()

/** The names that conditions, groups and columns may have. */
export const PROPERTY_OPERATIONS = [
  propertyOperation({
    name: 'listProperties',
    tag: 'Contacts',
    http: 'GET /v1/properties',
    command: 'property list',
    scope: 'any-key',
    summary: 'List the properties of contacts, companies or events, most used first',
    description: `Columns come first. ${OWN_SCOPE}`,
    input: {
      entity: EntityParameter,
      event: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: EVENT_NAME_LENGTH_MAX,
          description: 'Only what events of this name have in their data; for `entity=events`.',
          examples: ['order_completed'],
        }),
      ),
      search: Type.Optional(
        Type.String({ maxLength: 200, description: 'Only properties whose name or label contains this, in any case.' }),
      ),
    },
    output: {
      properties: Type.Array(PropertyObject),
      more: Type.Integer({
        description: `How many properties of the records are not listed, because they have more than ${FOUND_MAX.toLocaleString('en')}.`,
      }),
    },
    run(context, { entity, event, search }) {
      context.requireScope(`${entity}:read`)
      return listProperties(context, { entity, event, search })
    },
  }),
  propertyOperation({
    name: 'getProperty',
    tag: 'Contacts',
    http: 'GET /v1/properties/:property',
    command: 'property get',
    scope: 'any-key',
    summary: 'Get a property of contacts, companies or events',
    description: `Knows only what \`GET /v1/properties\` lists. ${OWN_SCOPE}`,
    input: {
      property: Type.String({ description: 'The name of the property.', examples: ['lifecyclestage'] }),
      entity: EntityParameter,
    },
    output: { property: PropertyObject },
    errors: ['404 not_found'],
    async run(context, { property: name, entity }) {
      context.requireScope(`${entity}:read`)
      const property = (await listProperties(context, { entity })).properties.find((each) => each.name === name)
      if (!property) throw notFound('property')
      return { property }
    },
  }),
]
