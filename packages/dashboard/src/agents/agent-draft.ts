import type { Agent, AgentModel, AgentPlaybook, CreateAgentInput, Playbooks, SegmentFilter } from '../api/types.ts'
import type { FieldTypes } from '../filters/draft-filter.ts'
import { type EventDraft, eventDraft, eventOf, type TriggerDraft, triggerDraft, triggerOf } from './trigger-draft.ts'

/** The default of the service. */
const COOLDOWN_HOURS = 24

export type Provider = NonNullable<AgentModel['provider']>

/** The state of the agent form: every value as its field has it. */
export interface AgentDraft {
  name: string
  description: string
  template: string | null
  instructions: string
  variables: { id: number; name: string; value: string }[]
  capabilities: string[]
  identityId: string
  audience: 'nobody' | 'segment' | 'filter'
  segmentId: string
  cron: string
  timeZone: string
  triggers: TriggerDraft[]
  cooldownHours: number | string
  maxContacts: number | string
  requiresApproval: boolean
  maxCost: number | string
  provider: Provider | ''
  model: string
  baseUrl: string
  temperature: number | string
  maxTokens: number | string
  /** Without a name, there is none. */
  goal: EventDraft
}

let ids = 0
export const newVariable = (name = '', value = '') => ({ id: ++ids, name, value })

/** A new agent with the template's values. @param segmentId its audience @param hasFilter whether a filter is its audience */
export function newDraft(
  playbooks: Playbooks,
  template: string | null,
  segmentId?: string,
  hasFilter = false,
): AgentDraft {
  const known = playbooks.templates.find(({ name }) => name === template)
  return {
    name: known?.title ?? '',
    description: '',
    ...templateFields(known),
    identityId: '',
    audience: segmentId !== undefined ? 'segment' : hasFilter ? 'filter' : 'nobody',
    segmentId: segmentId ?? '',
    cron: '',
    timeZone: '',
    triggers: [],
    cooldownHours: COOLDOWN_HOURS,
    maxContacts: playbooks.max_contacts.default,
    requiresApproval: true,
    maxCost: '',
    provider: '',
    model: '',
    baseUrl: '',
    temperature: '',
    maxTokens: '',
    goal: eventDraft(null),
  }
}

/** The fields that a template sets. */
export function templateFields(template: Playbooks['templates'][number] | undefined) {
  return {
    template: template?.name ?? null,
    instructions: template?.prompt ?? '',
    variables: Object.entries(template?.variables ?? {}).map(([name, value]) => newVariable(name, value)),
    capabilities: template?.capabilities ?? [],
  }
}

/** The form's state for a stored agent. */
export function draftOf(agent: Agent, playbooks: Playbooks): AgentDraft {
  const { monitoring } = agent
  // They are stored as they were sent.
  const playbook = agent.playbook as AgentPlaybook
  const llm = agent.llm_config as AgentModel
  const template = playbooks.templates.find(({ name }) => name === agent.playbook_template)
  const variables = { ...template?.variables, ...playbook.variables }
  const filter = monitoring.filter
  return {
    name: agent.name,
    description: agent.description ?? '',
    template: agent.playbook_template,
    instructions: playbook.playbook_md ?? template?.prompt ?? '',
    variables: Object.entries(variables).map(([name, value]) => newVariable(name, String(value))),
    capabilities: agent.capabilities,
    identityId: agent.identity_id ?? '',
    audience: filter === undefined ? 'nobody' : 'segment_id' in filter ? 'segment' : 'filter',
    segmentId: filter !== undefined && 'segment_id' in filter ? filter.segment_id : '',
    cron: monitoring.schedule_cron ?? '',
    timeZone: monitoring.time_zone ?? '',
    triggers: (monitoring.triggers ?? []).map(triggerDraft),
    cooldownHours: monitoring.cooldown_hours,
    maxContacts: monitoring.max_contacts_per_run,
    requiresApproval: playbook.require_approval ?? true,
    maxCost: playbook.max_cost_usd_per_run ?? '',
    provider: llm.provider ?? '',
    model: llm.model ?? '',
    baseUrl: llm.base_url ?? '',
    temperature: llm.temperature ?? '',
    maxTokens: llm.max_tokens ?? '',
    goal: eventDraft(agent.goal ?? null),
  }
}

/** The request body for a draft; an empty field removes its setting. @param types of what its triggers compare */
export function inputOf(
  draft: AgentDraft,
  filter: SegmentFilter,
  playbooks: Playbooks,
  types: FieldTypes,
): CreateAgentInput {
  const template = playbooks.templates.find(({ name }) => name === draft.template)
  // Unchanged template text is not sent, so that the agent follows later improvements of the template.
  const isOwnText = draft.instructions.trim() !== '' && draft.instructions !== template?.prompt
  const own = draft.variables.filter(({ name, value }) => name.trim() !== '' && template?.variables[name] !== value)
  const variables = Object.fromEntries(own.map(({ name, value }) => [name.trim(), value]))
  return {
    name: draft.name.trim(),
    description: draft.description.trim() || null,
    playbook_template: draft.template,
    playbook: {
      playbook_md: isOwnText ? draft.instructions : null,
      require_approval: draft.requiresApproval,
      max_cost_usd_per_run: numberOf(draft.maxCost),
      variables: own.length === 0 ? null : variables,
    },
    capabilities: draft.capabilities as NonNullable<CreateAgentInput['capabilities']>,
    identity_id: draft.identityId || null,
    monitoring: {
      filter: audienceOf(draft, filter),
      schedule_cron: draft.cron.trim() || null,
      time_zone: draft.timeZone.trim() || null,
      triggers: draft.triggers.length === 0 ? null : draft.triggers.map((each) => triggerOf(each, types)),
      cooldown_hours: numberOf(draft.cooldownHours),
      max_contacts_per_run: numberOf(draft.maxContacts),
    },
    llm_config: {
      provider: draft.provider || null,
      model: draft.model.trim() || null,
      base_url: draft.provider === 'openai_compatible' ? draft.baseUrl.trim() || null : null,
      temperature: numberOf(draft.temperature),
      max_tokens: numberOf(draft.maxTokens),
    },
    goal: draft.goal.event.trim() === '' ? null : eventOf(draft.goal, types),
  }
}

function audienceOf({ audience, segmentId }: AgentDraft, filter: SegmentFilter) {
  if (audience === 'nobody') return null
  return audience === 'segment' ? { segment_id: segmentId } : filter
}

function numberOf(field: number | string): number | null {
  return field === '' ? null : Number(field)
}
