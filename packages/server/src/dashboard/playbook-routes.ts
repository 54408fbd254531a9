import Type from 'typebox'
import { ACTION_TYPES, CAPABILITIES, type Capability } from '../agents/action-types.ts'
import { isTimeZone } from '../agents/actions/local-time.ts'
import { MAX_CONTACTS } from '../agents/agent.ts'
import type { ConfigurationDependencies } from '../agents/configuration.ts'
import { ownVariables } from '../agents/playbooks/check.ts'
import { playbookTemplates } from '../agents/playbooks/templates.ts'
import { KNOWN, unknownVariables } from '../agents/playbooks/variables.ts'
import { chooseModel, type LlmSettings } from '../agents/reasoning/models.ts'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { Nullable, success, Timestamp } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { ADMIN, VIEWER } from './access.ts'

/** Moments of a schedule that are shown. */
const TIMES = 5
const PLAYBOOK_LENGTH_MAX = 50_000

const Template = Type.Object({
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
  capabilities: Type.Array(Type.String()),
  variables: Type.Record(Type.String(), Type.String()),
  prompt: Type.String(),
})
const KnownVariable = Type.Object({
  /** `contact.<property>` where any property may stand. */
  name: Type.String(),
  is_any_property: Type.Boolean(),
})
const ConfiguredModel = Type.Object({ provider: Type.String(), model: Type.String() })
const PlaybooksAnswer = Type.Object({
  templates: Type.Array(Template),
  variables: Type.Array(KnownVariable),
  capabilities: Type.Array(Type.Object({ name: Type.String(), types: Type.Array(Type.Enum([...ACTION_TYPES])) })),
  /** What thinks for an agent that names nothing; null: the playbook's own messages are filled in. */
  default_model: Nullable(ConfiguredModel),
  /** Providers that the service has what it needs for. */
  configured_providers: Type.Array(Type.String()),
  max_contacts: Type.Object({ min: Type.Integer(), max: Type.Integer(), default: Type.Integer() }),
})
export type Playbooks = Type.Static<typeof PlaybooksAnswer>

const CheckBody = Type.Object(
  {
    playbook_md: Type.String({ maxLength: PLAYBOOK_LENGTH_MAX }),
    playbook_template: Type.Optional(Type.String({ maxLength: 200 })),
    variables: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
  },
  { additionalProperties: false },
)

interface Dependencies extends Pick<ConfigurationDependencies, 'jobs'> {
  clock: Clock
  config: { llm: LlmSettings }
}

/** What an agent can be made of: templates, variables, capabilities, models; and what a schedule means. */
export function playbookRoutes(app: App, { jobs, clock, config }: Dependencies): void {
  app.get(
    '/api/playbooks',
    {
      config: { access: VIEWER },
      schema: { hide: true, response: { 200: success({ playbooks: PlaybooksAnswer }) } },
    },
    async () => {
      const model = chooseModel(config.llm, {})
      const playbooks: Playbooks = {
        templates: [...playbookTemplates().values()].map(
          ({ name, title, description, capabilities, variables, prompt }) => {
            return { name, title, description, capabilities, variables, prompt }
          },
        ),
        variables: Object.entries(KNOWN).flatMap(([root, names]) =>
          (names === 'any' ? ['<property>'] : names).map((name) => ({
            name: `${root}.${name}`,
            is_any_property: names === 'any',
          })),
        ),
        capabilities: (Object.keys(CAPABILITIES) as Capability[]).map((name) => ({
          name,
          types: [...CAPABILITIES[name]],
        })),
        default_model: model === null ? null : { provider: model.provider, model: model.model },
        configured_providers: configuredProviders(config.llm),
        max_contacts: MAX_CONTACTS,
      }
      return { status: 'success' as const, playbooks }
    },
  )

  app.post(
    '/api/playbooks/check',
    {
      config: { access: ADMIN },
      schema: { hide: true, body: CheckBody, response: { 200: success({ unknown: Type.Array(Type.String()) }) } },
    },
    async ({ body: { playbook_md: text, playbook_template: template = null, variables = [] } }) => {
      const own = ownVariables({ variables: Object.fromEntries(variables.map((name) => [name, ''])) }, template)
      return { status: 'success' as const, unknown: unknownVariables(text, own) }
    },
  )

  app.get(
    '/api/schedules',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({
          cron: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
          time_zone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        }),
        response: { 200: success({ times: Type.Array(Timestamp) }) },
      },
    },
    async ({ query: { cron, time_zone: zone = 'UTC' } }) => {
      if (cron === undefined) throw validationError([{ path: 'cron', message: 'is required' }])
      if (!isTimeZone(zone)) {
        throw validationError([{ path: 'time_zone', message: 'must be an IANA time zone such as Europe/Berlin' }])
      }
      const times: string[] = []
      let after = clock()
      while (times.length < TIMES) {
        const next = jobs.nextTime(cron, zone, after)
        if (next === null) break
        times.push(next.toISOString())
        after = next
      }
      if (times.length === 0) {
        const message = 'must be a cron expression of five fields that comes due some day, such as 0 9 * * 1-5'
        throw validationError([{ path: 'cron', message }])
      }
      return { status: 'success' as const, times }
    },
  )
}

function configuredProviders({ openaiApiKey, anthropicApiKey, baseUrl }: LlmSettings): string[] {
  return [
    ...(openaiApiKey === null ? [] : ['openai']),
    ...(anthropicApiKey === null ? [] : ['anthropic']),
    ...(baseUrl === null ? [] : ['openai_compatible']),
  ]
}
