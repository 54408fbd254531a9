import Type from 'typebox'
import { PROPERTY_TYPES } from '../contacts/property-catalogue.ts'
import { operation } from '../operations/declare.ts'
import { rangeOf, rangeParameters } from '../platform/http/days.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { Nullable } from '../platform/http/responses.ts'
import { Overview, readOverview } from './overview.ts'
import { ENTITIES, listProperties, type Property } from './properties.ts'

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
    description: 'Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on `entity`.',
    input: { entity: oneOf(ENTITIES, 'The kind of record whose properties to list.', 'contacts') },
    output: {
      properties: Type.Array(
        Type.Object(
          {
            name: Type.String(),
            label: Type.String(),
            type: Type.Unsafe<Property['type']>({ type: 'string', enum: PROPERTY_TYPES }),
            is_editable: Type.Boolean({
              description: 'Whether people set it: not if the service derives it, or if it records a consent.',
            }),
            is_usual: Type.Boolean({
              description: 'Whether records are shown and exported with it, unless other properties are chosen.',
            }),
            choices: Nullable(Type.Array(Type.String()), 'The only values it may have; null for any.'),
            newest_with_value: Nullable(
              Type.Integer(),
              'How many of the newest 1,000 records have it; null for columns that every record has, and for events.',
            ),
          },
          { title: 'Property' },
        ),
      ),
    },
    async run({ tenant, now, requireScope }, { entity = 'contacts' }) {
      requireScope(`${entity}:read`)
      return { properties: await listProperties(tenant, entity, now) }
    },
  }),
]
