import type { Selectable } from 'kysely'
import Type from 'typebox'
import type { SegmentFilter } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { etagOf } from '../operations/etag.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { bag, TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { ActionType, Capability } from './action-types.ts'
import { AgentGoal, type Goal } from './outcomes/goal.ts'
import { AgentTrigger, COOLDOWN_HOURS, type Trigger } from './triggers/trigger.ts'

/** A provider of models, or `template`, which fills in the playbook's messages without a model. */
export const PROVIDERS = ['openai', 'anthropic', 'openai_compatible', 'template'] as const

export type Provider = (typeof PROVIDERS)[number]

export const MAX_CONTACTS = { min: 1, max: 1_000, default: 25 }

/** An agent's instructions. */
export interface Playbook {
  playbook_md?: string
  /** Whether outbound actions need approval. Default: true. */
  require_approval?: boolean
  /** The maximum cost of a run, in US dollars. Default: no cap. */
  max_cost_usd_per_run?: number
  /** The playbook's own variables, `{{variables.<name>}}`. */
  variables?: Record<string, string>
  /** Messages by action type that replace those of the playbook template, for the template provider. */
  messages?: Partial<Record<ActionType, Record<string, unknown>>>
  /** Further settings, passed to the model unchanged. */
  config?: Record<string, unknown>
}

/** Which contacts an agent evaluates, and when. */
export interface Monitoring {
  filter?: SegmentFilter | { segment_id: string }
  schedule_cron?: string
  /** What has the agent look at a contact as it happens. */
  triggers?: Trigger[]
  /** Triggers look at a contact at most once in this time. */
  cooldown_hours?: number
  /** An IANA name. Default: the tenant's time zone. */
  time_zone?: string
  max_contacts_per_run?: number
}

export interface LlmConfig {
  provider?: Provider
  model?: string
  /** The base URL of an OpenAI-compatible server. */
  base_url?: string
  temperature?: number
  max_tokens?: number
}

/** An agent's settings, as stored with the agent and copied into each run. */
export interface AgentConfiguration {
  name: string
  description: string | null
  playbook_template: string | null
  playbook: Playbook
  capabilities: Capability[]
  identity_id: string | null
  monitoring: Monitoring
  llm_config: LlmConfig
  goal: Goal | null
}

export const AGENT_COLUMNS = [
  'agent_id',
  'name',
  'description',
  'playbook_template',
  'playbook',
  'capabilities',
  'identity_id',
  'monitoring',
  'llm_config',
  'goal',
  'playbook_version',
  'enabled',
  'next_run_at',
  'created_at',
  'updated_at',
] as const

export type AgentRow = Pick<Selectable<TenantTables['agents']>, (typeof AGENT_COLUMNS)[number]>

const Settings = <T>(description: string) =>
  Type.Unsafe<T>({ type: 'object', additionalProperties: true, description, ...bag('template') })

/** An agent as the API returns it. */
export const Agent = Type.Object(
  {
    agent_id: Id,
    _id: Id,
    name: Type.String(TEXT),
    description: Nullable(Type.String(TEXT)),
    playbook_template: Nullable(Type.String({ examples: ['cold_outreach'], ...WORD })),
    playbook: Settings<Playbook>('As sent.'),
    capabilities: Type.Array(Type.String(WORD), { examples: [['email', 'notes']] }),
    identity_id: Nullable(Id),
    monitoring: Type.Object({
      filter: Type.Optional(Type.Union([SegmentFilterSchema, Type.Object({ segment_id: Id })])),
      schedule_cron: Type.Optional(Type.String({ examples: ['0 9 * * 1-5'], ...WORD })),
      time_zone: Type.Optional(Type.String({ examples: ['Europe/Berlin'], ...WORD })),
      triggers: Type.Optional(Type.Array(AgentTrigger)),
      cooldown_hours: Type.Integer(),
      max_contacts_per_run: Type.Integer(),
    }),
    llm_config: Settings<LlmConfig>('As sent. API keys are never stored here.'),
    goal: Nullable(AgentGoal),
    playbook_version: Type.Integer({ description: 'Counts the changes of what the playbook says, from 1.' }),
    enabled: Type.Boolean(),
    next_run_at: Nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Agent' },
)

export function toAgentObject(row: AgentRow): Type.Static<typeof Agent> {
  const { monitoring, ...configuration } = configurationOf(row)
  return {
    agent_id: row.agent_id,
    _id: row.agent_id,
    ...configuration,
    monitoring: {
      ...monitoring,
      cooldown_hours: monitoring.cooldown_hours ?? COOLDOWN_HOURS.default,
      max_contacts_per_run: monitoring.max_contacts_per_run ?? MAX_CONTACTS.default,
    },
    playbook_version: row.playbook_version,
    enabled: row.enabled,
    next_run_at: row.next_run_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The version of an agent: its settings, but not its next run, which the schedule moves. */
export function etagOfAgent(agent: Type.Static<typeof Agent>): string {
  const { name, description, playbook_template, playbook, capabilities } = agent
  const { identity_id, monitoring, llm_config, goal, enabled } = agent
  return etagOf(
    ...[name, description, playbook_template, playbook, capabilities],
    ...[identity_id, monitoring, llm_config, goal, enabled],
  )
}

/** The settings of a stored agent. */
export function configurationOf(row: AgentRow): AgentConfiguration {
  return {
    name: row.name,
    description: row.description,
    playbook_template: row.playbook_template,
    playbook: row.playbook as Playbook,
    capabilities: row.capabilities as Capability[],
    identity_id: row.identity_id,
    monitoring: row.monitoring as Monitoring,
    llm_config: row.llm_config as LlmConfig,
    goal: row.goal as Goal | null,
  }
}
