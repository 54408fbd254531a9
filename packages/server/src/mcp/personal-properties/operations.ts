import Type from 'typebox'
import { operationsWith } from '../../operations/declare.ts'
import { fieldOf } from '../../operations/further-scopes.ts'
import { oneOf } from '../../platform/http/query-parameters.ts'
import { Nullable } from '../../platform/http/responses.ts'
import { WORD } from '../../platform/personal.ts'
import type { ToolServices } from '../call.ts'
import { DECIDED_BY, ENTITIES, listPersonalProperties } from './list.ts'
import { REASONS } from './proposal.ts'

/** Services of the operation on personal properties. */
export interface PersonalPropertyServices {
  toolServices: Pick<ToolServices, 'openRedactor'>
}

const Proposal = Type.Object(
  {
    change: Type.Enum(['hide', 'show'], {
      description: '`hide`: add it to `personal_properties` of the tenant. `show`: add it to `visible_properties`.',
    }),
    because: Type.Enum([...REASONS], {
      description:
        '`values`: most values are personal by their form, such as email addresses, or name contacts. `name`: a part of the name is of a personal property, or the name is of a sensitive one, such as a salary. `few_values`: only the name looks personal, and many records share each value.',
    }),
    values: Type.Integer({ description: 'How many values were looked at.' }),
    personal_values: Type.Integer({ description: 'How many of these look personal by themselves.' }),
  },
  { title: 'PersonalPropertyProposal' },
)

export const PERSONAL_PROPERTY_OPERATIONS = [
  operationsWith<PersonalPropertyServices>()({
    name: 'listPersonalProperties',
    tag: 'Settings',
    http: 'GET /v1/personal-properties',
    command: 'personal-property list',
    scope: 'settings:read',
    also: ENTITIES.map((entity) => ({
      scopes: [`${entity}:read`] as const,
      when: `for \`entity=${entity}\``,
      ofSent: (sent: unknown) => (fieldOf(sent, 'entity') ?? 'contacts') === entity,
    })),
    summary: 'List the properties that are hidden from AI agents, and proposals to hide or show others',
    description:
      'Of the newest 2,000 records, or the newest 2,000 events of the last 90 days. The proposals are made from names and values. Nothing changes until you add a name to `personal_properties` or `visible_properties` of the tenant, which also ends the proposal.',
    input: {
      entity: oneOf(
        ENTITIES,
        'The kind of record that has the properties; `events`: the fields of their data.',
        'contacts',
      ),
    },
    output: {
      properties: Type.Array(
        Type.Object(
          {
            name: Type.String(WORD),
            is_hidden: Type.Boolean({ description: 'Whether AI agents see pseudonyms in place of its values.' }),
            decided_by: Nullable(
              Type.Enum([...DECIDED_BY]),
              '`service`: it is personal in every workspace. `workspace`: a list of the tenant has it. `name`: its name says so. null: nothing says that it is personal.',
            ),
            proposal: Nullable(Proposal),
          },
          { title: 'PersonalProperty' },
        ),
      ),
    },
    run: async ({ tenant, now, toolServices }, { entity }) => ({
      properties: await listPersonalProperties(tenant, entity, await toolServices.openRedactor(tenant), now),
    }),
  }),
]
