import Type, { type TSchema } from 'typebox'
import { idInput } from '../platform/http/inputs.ts'
import { withDefault } from '../platform/http/query-parameters.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { CAPABILITY_NAMES, type Capability } from './action-types.ts'
import { type LlmConfig, MAX_CONTACTS, type Monitoring, type Playbook, PROVIDERS, type Provider } from './agent.ts'
import { AgentGoal } from './outcomes/goal.ts'
import { AgentTrigger, COOLDOWN_HOURS, TRIGGERS_MAX } from './triggers/trigger.ts'

const OFFSET_MAX = 2_147_483_647
/** Characters. */
export const PLAYBOOK_LENGTH_MAX = 50_000

/** A field of a PATCH that null removes. */
function Removable<const Schema extends TSchema>(schema: Schema, expected: string) {
  return Type.Optional(Type.Union([schema, Type.Null()], { 'x-expected': `${expected}, or null for none` }))
}

const FreeObject = <T>(description: string) =>
  Type.Unsafe<T>({ type: 'object', additionalProperties: true, description })

const Word = <T extends string>(words: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: words })

/** null removes a value; omitted fields keep theirs. */
export const PlaybookInput = Type.Unsafe<{ [Key in keyof Playbook]: Playbook[Key] | null }>(
  Type.Object(
    {
      playbook_md: Removable(
        Type.String({
          minLength: 1,
          maxLength: PLAYBOOK_LENGTH_MAX,
          description: 'Instructions for the agent, in Markdown, with variables such as {{contact.firstname | there}}.',
        }),
        `a string of 1 to ${PLAYBOOK_LENGTH_MAX} characters`,
      ),
      require_approval: Removable(
        Type.Boolean({ description: 'Whether outbound actions wait for a person. Default true.' }),
        'true or false',
      ),
      max_cost_usd_per_run: Removable(
        Type.Number({ minimum: 0, maximum: 100_000, description: 'The maximum cost of a run.' }),
        'a number from 0 to 100000',
      ),
      variables: Removable(
        FreeObject<Record<string, string>>('The values of {{variables.<name>}}, by name.'),
        'an object of strings',
      ),
      messages: Removable(
        FreeObject("What the template provider proposes, by action type, instead of the template's messages."),
        'an object of params by action type',
      ),
      config: Removable(FreeObject('Further settings, which the model reads.'), 'an object'),
    },
    {
      title: 'AgentPlaybook',
      additionalProperties: false,
      description: 'Custom playbook: a prompt in Markdown, and settings.',
    },
  ),
)

const MonitoringInput = Type.Unsafe<{ [Key in keyof Monitoring]: Monitoring[Key] | null }>(
  Type.Object(
    {
      filter: Removable(
        FreeObject('The contacts to evaluate: a segment filter, or {"segment_id": …}.'),
        'a segment filter, or an object with segment_id',
      ),
      schedule_cron: Removable(
        Type.String({ minLength: 1, maxLength: 100, examples: ['0 9 * * 1-5'] }),
        'a cron expression of five fields',
      ),
      time_zone: Removable(
        Type.String({ minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] }),
        'an IANA time zone such as Europe/Berlin',
      ),
      triggers: Removable(
        Type.Array(AgentTrigger, {
          minItems: 1,
          maxItems: TRIGGERS_MAX,
          description: 'What has the agent look at a contact as it happens, if the contact matches the filter too.',
        }),
        `a list of 1 to ${TRIGGERS_MAX} triggers`,
      ),
      cooldown_hours: Removable(
        Type.Integer({
          minimum: COOLDOWN_HOURS.min,
          maximum: COOLDOWN_HOURS.max,
          default: COOLDOWN_HOURS.default,
          description: 'The triggers look at a contact at most once in this time.',
        }),
        `a whole number from ${COOLDOWN_HOURS.min} to ${COOLDOWN_HOURS.max}`,
      ),
      max_contacts_per_run: Removable(
        Type.Integer({ minimum: MAX_CONTACTS.min, maximum: MAX_CONTACTS.max, default: MAX_CONTACTS.default }),
        `a whole number from ${MAX_CONTACTS.min} to ${MAX_CONTACTS.max}`,
      ),
    },
    { title: 'AgentMonitoring', additionalProperties: false, description: 'Which contacts are evaluated, and when.' },
  ),
)

const LlmConfigInput = Type.Unsafe<{ [Key in keyof LlmConfig]: LlmConfig[Key] | null }>(
  Type.Object(
    {
      provider: Removable(Word<Provider>(PROVIDERS), `one of ${PROVIDERS.join(', ')}`),
      model: Removable(Type.String({ minLength: 1, maxLength: 200 }), 'a string of 1 to 200 characters'),
      base_url: Removable(
        Type.String({ minLength: 1, maxLength: 2_000, description: 'Of an OpenAI-compatible server.' }),
        'a URL',
      ),
      temperature: Removable(Type.Number({ minimum: 0, maximum: 2 }), 'a number from 0 to 2'),
      max_tokens: Removable(Type.Integer({ minimum: 1, maximum: 200_000 }), 'a whole number from 1 to 200000'),
    },
    {
      title: 'AgentModel',
      additionalProperties: false,
      description:
        'The provider and the model. API keys come from the environment of the service and are never sent here.',
      'x-unknown': 'is not a known field; remove it (API keys come from the environment of the service)',
    },
  ),
)

/** What can be set of an agent, besides its name. */
export const AGENT_FIELDS = {
  description: Removable(Type.String({ maxLength: 5_000 }), 'a string of at most 5000 characters'),
  playbook_template: Removable(
    Type.String({ minLength: 1, maxLength: 200, examples: ['cold_outreach'] }),
    'the name of a playbook template',
  ),
  playbook: Type.Optional(PlaybookInput),
  capabilities: Type.Optional(Type.Array(Word<Capability>(CAPABILITY_NAMES), { maxItems: 50 })),
  identity_id: Removable(idInput(), 'the id of an identity'),
  monitoring: Type.Optional(MonitoringInput),
  llm_config: Type.Optional(LlmConfigInput),
  goal: Removable(AgentGoal, 'an event, with conditions or without'),
  enabled: Type.Optional(
    Type.Boolean({
      description: 'Whether its schedule and its triggers run and actions can be proposed for it. Default false.',
    }),
  ),
}

export const AgentName = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: ['Pricing follow-up'] })

const AgentInput = Type.Object({ name: Type.Optional(AgentName), ...AGENT_FIELDS })
export type AgentInput = Type.Static<typeof AgentInput>

/** The `limit` and `offset` parameters of a list. */
export const windowParameters = {
  limit: withDefault(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Records per page.' })),
  offset: withDefault(
    Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0, description: 'Number of records to skip.' }),
  ),
}
