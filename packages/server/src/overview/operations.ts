import Type from 'typebox'
import { PROPERTY_TYPES } from '../contacts/property-catalogue.ts'
import { operation } from '../operations/declare.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import { notFound } from '../platform/errors.ts'
import { rangeOf, rangeParameters } from '../platform/http/days.ts'
import { oneOf, withDefault } from '../platform/http/query-parameters.ts'
import { Nullable } from '../platform/http/responses.ts'
import { TEXT, valueNamedBy, WORD } from '../platform/personal.ts'
import { Overview, readOverview } from './overview.ts'
import { ENTITIES, type Entity, listProperties, type Property } from './properties.ts'
import { entityOf, suggestValues } from './suggestions.ts'

const Suggestion = Type.Object({
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], valueNamedBy('property')),
  label: Nullable(Type.String(TEXT)),
  count: Type.Integer({ description: 'The number of contacts or events with this value.' }),
})

const OWN_SCOPE = 'Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on `entity`.'
const EntityParameter = oneOf(ENTITIES, 'The kind of record that has the properties.', 'contacts')
const PropertyObject = Type.Object(
  {
    name: Type.String(WORD),
    label: Type.String(WORD),
    type: Type.Unsafe<Property['type']>({ type: 'string', enum: PROPERTY_TYPES }),
    is_editable: Type.Boolean({
      description: 'Whether people can set it: not if the service derives it or it records a consent.',
    }),
    is_usual: Type.Boolean({
      description: 'Whether lists and exports include it by default.',
    }),
    choices: Nullable(Type.Array(Type.String(WORD)), 'The only values it may have; null for any.'),
    newest_with_value: Nullable(
      Type.Integer(),
      'How many of the newest 1,000 records have it; null for columns that every record has, and for events.',
    ),
  },
  { title: 'Property' },
)

/** Values are data of the records that have the property. */
const SUGGESTED = [
  { scopes: ['contacts:read'] as const, when: 'for a property of contacts', ofSent: suggests('contacts') },
  { scopes: ['companies:read'] as const, when: 'for `company_id`', ofSent: suggests('companies') },
  { scopes: ['events:read'] as const, when: 'for a field of events', ofSent: suggests('events') },
]

function suggests(entity: Entity) {
  return (sent: unknown) => entityOf(String(fieldOf(sent, 'property'))) === entity
}

/** Reads for the dashboard that combine contacts, companies and events. */
export const OVERVIEW_OPERATIONS = [
  operation({
    name: 'getOverview',
    tag: 'Events',
    http: 'GET /v1/overview',
    command: 'overview get',
    scope: 'events:read',
    summary: 'Get the figures of a range of days and of the preceding range of the same length',
    description: 'Events from bots are not counted.',
    input: rangeParameters,
    output: Overview,
    run: ({ tenant, now }, range) => readOverview(tenant, rangeOf(range, now)),
  }),
  operation({
    name: 'listProperties',
    tag: 'Contacts',
    http: 'GET /v1/properties',
    command: 'property list',
    scope: 'any-key',
    summary: 'List the properties of contacts, companies or events for filters and list columns',
    description: OWN_SCOPE,
    input: { entity: EntityParameter },
    output: { properties: Type.Array(PropertyObject) },
    async run({ tenant, now, requireScope }, { entity }) {
      requireScope(`${entity}:read`)
      return { properties: await listProperties(tenant, entity, now) }
    },
  }),
  operation({
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
    async run({ tenant, now, requireScope }, { property: name, entity }) {
      requireScope(`${entity}:read`)
      const property = (await listProperties(tenant, entity, now)).find((each) => each.name === name)
      if (!property) throw notFound('property')
      return { property }
    },
  }),
  operation({
    name: 'suggestSegmentValues',
    tag: 'Segments',
    http: 'GET /v1/segments/suggestions',
    command: 'segment suggestions',
    scope: 'segments:read',
    also: SUGGESTED,
    summary: 'List the most frequent values of a property, to choose from in a filter',
    input: {
      property: Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'A property of contacts, or a field of their events, such as `event.type`.',
        examples: ['country'],
      }),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'Only values that contain this.' })),
      limit: withDefault(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    },
    output: { property: Type.String(WORD), values: Type.Array(Suggestion) },
    example: { property: 'country' },
    run: async ({ tenant, now }, { property, q = '', limit }) => ({
      property,
      values: await suggestValues(tenant, property, q, limit, now),
    }),
  }),
]
