import Type from 'typebox'
import { operation, operationsWith } from '../../operations/declare.ts'
import { notFound, validationError } from '../../platform/errors.ts'
import { Nullable, Timestamp } from '../../platform/http/responses.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { WORD } from '../../platform/personal.ts'
import { problemsOfZone } from '../../platform/time-zone.ts'
import { ACTION_TYPES, CAPABILITIES, type Capability } from '../action-types.ts'
import { MAX_CONTACTS } from '../agent.ts'
import { chooseModel, type LlmSettings } from '../reasoning/models.ts'
import { PLAYBOOK_LENGTH_MAX } from '../requests.ts'
import { ownVariables } from './check.ts'
import { type PlaybookTemplate, playbookTemplates } from './templates.ts'
import { KNOWN, unknownVariables } from './variables.ts'

export interface PlaybookServices {
  jobs: Pick<Jobs, 'nextTime'>
  config: { llm: LlmSettings }
}

const tag = 'Agents'
/** How many times of a schedule are listed. */
const TIMES = 5

const Template = Type.Object(
  {
    name: Type.String(WORD),
    title: Type.String(WORD),
    description: Type.String(WORD),
    capabilities: Type.Array(Type.String(WORD)),
    variables: Type.Record(Type.String(), Type.String(WORD)),
    prompt: Type.String(WORD),
  },
  { title: 'PlaybookTemplate' },
)
const Playbooks = Type.Object(
  {
    templates: Type.Array(Template),
    variables: Type.Array(
      Type.Object({
        name: Type.String({ description: '`contact.<property>` represents every property.', ...WORD }),
        is_any_property: Type.Boolean(),
      }),
    ),
    capabilities: Type.Array(Type.Object({ name: Type.String(WORD), types: Type.Array(Type.Enum([...ACTION_TYPES])) })),
    default_model: Nullable(
      Type.Object({ provider: Type.String(WORD), model: Type.String(WORD) }),
      "The model of an agent that sets none; null if there is none, and the template provider fills in the playbook's messages.",
    ),
    configured_providers: Type.Array(Type.String(WORD), { description: 'The providers that this service can use.' }),
    max_contacts: Type.Object({ min: Type.Integer(), max: Type.Integer(), default: Type.Integer() }),
  },
  { title: 'Playbooks' },
)
export type Playbooks = Type.Static<typeof Playbooks>

const playbookOperation = operationsWith<PlaybookServices>()

/** What an agent can be made of: templates, variables, capabilities and models; and when a schedule runs. */
export const PLAYBOOK_OPERATIONS = [
  playbookOperation({
    name: 'listPlaybooks',
    tag,
    http: 'GET /v1/playbooks',
    command: 'playbook list',
    scope: 'agents:read',
    summary: 'List the playbook templates, and the variables, capabilities and models an agent can use',
    input: {},
    output: { playbooks: Playbooks },
    run: async ({ config }) => ({ playbooks: playbooksOf(config.llm) }),
  }),
  operation({
    name: 'getPlaybook',
    tag,
    http: 'GET /v1/playbooks/:playbook',
    command: 'playbook get',
    scope: 'agents:read',
    summary: 'Get a playbook template',
    input: { playbook: Type.String({ description: 'The name of the template.', examples: ['lead_qualification'] }) },
    output: { playbook: Template },
    errors: ['404 not_found'],
    async run(_context, { playbook: name }) {
      const playbook = playbookTemplates().get(name)
      if (!playbook) throw notFound('playbook template')
      return { playbook: templateOf(playbook) }
    },
  }),
  playbookOperation({
    name: 'checkPlaybook',
    tag,
    http: 'POST /v1/playbooks/check',
    command: 'playbook check',
    scope: 'agents:read',
    summary: 'Find the unknown variables of a playbook',
    input: {
      playbook_md: Type.String({ maxLength: PLAYBOOK_LENGTH_MAX, examples: ['Greet {{contact.firstname}}.'] }),
      playbook_template: Type.Optional(
        Type.String({ maxLength: 200, description: 'A template whose variables are known too.' }),
      ),
      variables: Type.Optional(
        Type.Array(Type.String({ maxLength: 200 }), {
          maxItems: 100,
          description: "The names of the playbook's own variables.",
        }),
      ),
    },
    output: { unknown: Type.Array(Type.String(WORD)) },
    reads: true,
    async run(_context, { playbook_md: text, playbook_template: template = null, variables = [] }) {
      const own = ownVariables({ variables: Object.fromEntries(variables.map((name) => [name, ''])) }, template)
      return { unknown: unknownVariables(text, own) }
    },
  }),
  playbookOperation({
    name: 'listScheduleTimes',
    tag,
    http: 'GET /v1/schedules',
    command: 'schedule preview',
    scope: 'agents:read',
    summary: 'List the next times of a schedule',
    input: {
      cron: Type.String({ minLength: 1, maxLength: 100, description: 'Five fields.', examples: ['0 9 * * 1-5'] }),
      time_zone: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: 'An IANA name. Default: UTC.' }),
      ),
    },
    output: { times: Type.Array(Timestamp) },
    example: { cron: '0 9 * * 1-5', time_zone: 'Europe/Berlin' },
    run: async ({ jobs, now }, { cron, time_zone = 'UTC' }) => ({ times: nextTimes(jobs, cron, time_zone, now) }),
  }),
]

function playbooksOf(llm: LlmSettings): Playbooks {
  const model = chooseModel(llm, {})
  return {
    templates: [...playbookTemplates().values()].map(templateOf),
    variables: Object.entries(KNOWN).flatMap(([root, names]) =>
      (names === 'any' ? ['<property>'] : names).map((name) => ({
        name: `${root}.${name}`,
        is_any_property: names === 'any',
      })),
    ),
    capabilities: (Object.keys(CAPABILITIES) as Capability[]).map((name) => ({ name, types: [...CAPABILITIES[name]] })),
    default_model: model === null ? null : { provider: model.provider, model: model.model },
    configured_providers: configuredProviders(llm),
    max_contacts: MAX_CONTACTS,
  }
}

function templateOf({ name, title, description, capabilities, variables, prompt }: PlaybookTemplate) {
  return { name, title, description, capabilities, variables, prompt }
}

function configuredProviders({ openaiApiKey, anthropicApiKey, baseUrl }: LlmSettings): string[] {
  return [
    ...(openaiApiKey === null ? [] : ['openai']),
    ...(anthropicApiKey === null ? [] : ['anthropic']),
    ...(baseUrl === null ? [] : ['openai_compatible']),
  ]
}

/** @throws ServiceError 400 for an invalid schedule or time zone. */
function nextTimes(jobs: PlaybookServices['jobs'], cron: string, zone: string, now: Date): string[] {
  const problems = problemsOfZone('time_zone', zone)
  if (problems.length > 0) throw validationError(problems)
  const times: string[] = []
  let after = now
  while (times.length < TIMES) {
    const next = jobs.nextTime(cron, zone, after)
    if (next === null) break
    times.push(next.toISOString())
    after = next
  }
  if (times.length > 0) return times
  const message = 'must be a cron expression of five fields with a future time, such as 0 9 * * 1-5'
  throw validationError([{ path: 'cron', message }])
}
