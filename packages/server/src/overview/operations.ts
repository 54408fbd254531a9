import Type from 'typebox'
import { operation } from '../operations/declare.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import { rangeOf, rangeParameters } from '../platform/http/days.ts'
import { withDefault } from '../platform/http/query-parameters.ts'
import { Nullable } from '../platform/http/responses.ts'
import { TEXT, valueNamedBy, WORD } from '../platform/personal.ts'
import type { Entity } from '../properties/catalogue.ts'
import { Overview, readOverview } from './overview.ts'
import { entityOf, suggestValues } from './suggestions.ts'

const Suggestion = Type.Object({
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], valueNamedBy('property')),
  label: Nullable(Type.String(TEXT)),
  count: Type.Integer({ description: 'The number of contacts or events with this value.' }),
})

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
    description:
      'Events from bots are not counted. Of a range with a million events, pages, sources and contacts may be a minute old.',
    input: rangeParameters,
    output: Overview,
    run: ({ tenant, now }, range) => readOverview(tenant, rangeOf(range, now), now),
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
