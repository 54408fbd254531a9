import Type from 'typebox'
import type { WarningsAbout } from '../conditions/language.ts'
import { entryAbout } from '../operations/audit.ts'
import { type FurtherScopes, idInPath, operation, operationsWith } from '../operations/declare.ts'
import { fieldOf } from '../operations/further-scopes.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf, searchText } from '../platform/http/query-parameters.ts'
import { Changed, Id } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import {
  createComputedProperty,
  deleteComputedProperty,
  listComputedProperties,
  readComputedProperty,
  requireUnusedName,
  updateComputedProperty,
  withCheckedRules,
} from './computed-properties.ts'
import { ComputedProperty, etagOfComputedProperty } from './computed-property-object.ts'
import { checkDefinition, DEFINITION_INPUT, ENTITIES, isScore } from './definition.ts'

interface ComputedPropertyServices {
  warningsAbout: WarningsAbout
}

const tag = 'Computed properties'
const ComputedPropertyPath = { computed_property_id: idInPath('computed property') }
const entryOf = entryAbout('computed_property')

const example = {
  name: 'revenue',
  entity: 'contacts',
  function: 'sum',
  event: 'order_completed',
  property: 'data.amount',
} as const

/** Whoever defines a property reads events, and writes what they say into all records. */
const ALSO: readonly FurtherScopes[] = [
  { scopes: ['events:read'] },
  {
    scopes: ['companies:write'],
    when: 'for companies',
    ofSent: (sent) => fieldOf(sent, 'entity') === 'companies',
  },
]

export const COMPUTED_PROPERTY_OPERATIONS = [
  operation({
    name: 'listComputedProperties',
    tag,
    http: 'GET /v1/computed-properties',
    command: 'computed-property list',
    scope: 'contacts:read',
    summary: 'List the computed properties, by name',
    input: {
      entity: oneOf(ENTITIES, 'Only those of contacts, or of companies.'),
      search: searchText('Words that must all occur in the name.'),
      ...pageParameters(50, 100),
    },
    output: { computed_properties: Type.Array(ComputedProperty), pagination: Pagination },
    async run({ tenant }, { entity, search, page, limit }) {
      const { properties, total } = await listComputedProperties(tenant, { entity, search }, { page, limit })
      return { computed_properties: properties, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operationsWith<ComputedPropertyServices>()({
    name: 'createComputedProperty',
    tag,
    http: 'POST /v1/computed-properties',
    command: 'computed-property create',
    scope: 'contacts:write',
    also: ALSO,
    summary: 'Have a property of contacts or companies computed',
    description:
      'Send either `function` and `event`, or `score`. Existing records get their values in the background; from then on, they follow events and time within 10 seconds. Nobody else can write the property.',
    input: {
      name: Type.String({
        description: 'The key of the property. No record may have a property of this name yet. It cannot be changed.',
        examples: ['revenue'],
        ...WORD,
      }),
      entity: Type.Enum(ENTITIES, { description: 'What gets the property. It cannot be changed.' }),
      ...DEFINITION_INPUT,
    },
    output: { computed_property: ComputedProperty },
    status: 201,
    example,
    errors: ['400 unknown_segment', '409 property_in_use', '409 too_many_computed_properties'],
    etag: ({ computed_property }) => etagOfComputedProperty(computed_property),
    // Outside the transaction, because it may read every contact.
    async check({ tenant, warn, warningsAbout }, { name, entity, ...sent }) {
      const definition = checkDefinition(sent)
      const unused = await requireUnusedName(tenant, entity, name)
      const checked = await withCheckedRules(tenant, { entity, name: unused }, definition)
      for (const rule of isScore(checked) ? checked.score : []) {
        for (const warning of await warningsAbout(tenant, entity, rule.filter)) warn(warning)
      }
      return { definition: checked, name: unused }
    },
    async run(context, { entity }, { name, definition }) {
      return { computed_property: await createComputedProperty(context, { entity, name, definition }) }
    },
    audit: ({ computed_property: { computed_property_id: id, name, entity } }) =>
      entryOf('computed_property.created', id, { name, entity }),
  }),
  operation({
    name: 'getComputedProperty',
    tag,
    http: 'GET /v1/computed-properties/:computed_property_id',
    command: 'computed-property get',
    scope: 'contacts:read',
    summary: 'Get a computed property',
    input: ComputedPropertyPath,
    output: { computed_property: ComputedProperty },
    etag: ({ computed_property }) => etagOfComputedProperty(computed_property),
    run: async ({ tenant }, { computed_property_id: id }) => ({
      computed_property: await readComputedProperty(tenant, id),
    }),
  }),
  operation({
    name: 'updateComputedProperty',
    tag,
    http: 'PATCH /v1/computed-properties/:computed_property_id',
    command: 'computed-property update',
    scope: 'contacts:write',
    also: [
      { scopes: ['events:read'] },
      {
        scopes: ['companies:write'],
        when: 'for companies',
        ofRecord: async ({ tenant }, { computed_property_id: id }: { computed_property_id: string }) =>
          (await readComputedProperty(tenant, id)).entity === 'companies',
      },
    ],
    summary: 'Change what is computed; omitted fields keep their values',
    description:
      'null removes `property` or `within_days`. Records keep their values until they get the new ones in the background.',
    input: { ...ComputedPropertyPath, ...DEFINITION_INPUT },
    output: { computed_property: ComputedProperty, changed: Changed },
    example: { within_days: 90 },
    etag: ({ computed_property }) => etagOfComputedProperty(computed_property),
    ifMatch: true,
    async run(context, { computed_property_id: id, ...changes }) {
      const { property, changed } = await updateComputedProperty(context, id, changes, etagOfComputedProperty)
      return { computed_property: property, changed }
    },
    audit: ({ computed_property: { computed_property_id: id }, changed }) =>
      changed.length === 0 ? null : entryOf('computed_property.updated', id, { changed }),
  }),
  operation({
    name: 'deleteComputedProperty',
    tag,
    http: 'DELETE /v1/computed-properties/:computed_property_id',
    command: 'computed-property delete',
    scope: 'contacts:write',
    also: [
      {
        scopes: ['companies:write'],
        when: 'for companies',
        ofRecord: async ({ tenant }, { computed_property_id: id }: { computed_property_id: string }) =>
          (await readComputedProperty(tenant, id)).entity === 'companies',
      },
    ],
    summary: 'Delete a computed property; its values are removed in the background',
    input: ComputedPropertyPath,
    output: { deleted: Type.Literal(true), computed_property_id: Id },
    forAudit: { name: Type.String(WORD) },
    ifMatch: true,
    async run(context, { computed_property_id: id }) {
      const { name } = await deleteComputedProperty(context, id, etagOfComputedProperty)
      return { deleted: true as const, computed_property_id: id, name }
    },
    audit: ({ computed_property_id: id, name }) => entryOf('computed_property.deleted', id, { name }),
  }),
]
