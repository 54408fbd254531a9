import { lockIdentity } from '../identities/identities.ts'
import { shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import { RefusedAddress } from '../platform/outbound/urls.ts'
import type { Tenant } from '../platform/tenant.ts'
import { problemsOfZone } from '../platform/time-zone.ts'
import { parseContactFilter } from '../segments/contact-filters.ts'
import { requireKnownSegments } from '../segments/named-segments.ts'
import { findSegment } from '../segments/segments.ts'
import type { AgentConfiguration, LlmConfig, Monitoring } from './agent.ts'
import { checkGoal } from './outcomes/goal.ts'
import { checkPlaybook } from './playbooks/check.ts'
import { playbookTemplates } from './playbooks/templates.ts'
import type { AgentInput } from './requests.ts'
import { checkTriggers } from './triggers/trigger.ts'

/** The defaults of a new agent. */
export const BLANK: AgentConfiguration = {
  name: '',
  description: null,
  playbook_template: null,
  playbook: {},
  capabilities: [],
  identity_id: null,
  monitoring: {},
  llm_config: {},
  goal: null,
}

/** Applies the given fields: those of playbook, monitoring and llm_config one by one; null removes a field. */
export function applyInput(current: AgentConfiguration, input: AgentInput): AgentConfiguration {
  const { enabled: _, playbook, monitoring, llm_config, capabilities, ...plain } = input
  return {
    ...current,
    ...plain,
    playbook: merge(current.playbook, playbook),
    monitoring: merge(current.monitoring, monitoring),
    llm_config: merge(current.llm_config, llm_config),
    capabilities: capabilities ? [...new Set(capabilities)] : current.capabilities,
  }
}

/**
 * Checks what the schema of an agent's settings cannot express, and converts them to the stored form. Call it in the
 * transaction that stores them.
 * @throws ServiceError 400 naming every invalid field.
 */
export async function checkConfiguration(
  tenant: Tenant,
  jobs: Pick<Jobs, 'nextTime'>,
  configuration: AgentConfiguration,
): Promise<AgentConfiguration> {
  const { playbook_template: template, playbook, identity_id, monitoring, llm_config, goal: sentGoal } = configuration
  const details: ErrorDetail[] = []
  const name = configuration.name.trim()
  if (name === '') details.push({ path: 'name', message: 'must not be blank' })
  if (template !== null && !playbookTemplates().has(template)) {
    const names = [...playbookTemplates().keys()].join(', ')
    details.push({ path: 'playbook_template', message: `must be one of ${names}` })
  }
  details.push(...checkPlaybook(playbook, template))
  const filter = await checkFilter(tenant, monitoring.filter, details)
  const triggers = monitoring.triggers && (await checkTriggers(tenant, monitoring.triggers, details))
  const goal = sentGoal && checkGoal(sentGoal, details)
  details.push(...checkSchedule(jobs, monitoring))
  details.push(...checkLlmConfig(llm_config))
  const identityId = identity_id?.toLowerCase() ?? null
  if (identityId !== null && !(await lockIdentity(tenant, identityId))) {
    details.push({ path: 'identity_id', message: 'is not the id of one of your identities' })
  }
  if (details.length > 0) throw validationError(details)
  return {
    ...configuration,
    name,
    identity_id: identityId,
    goal,
    monitoring: {
      ...monitoring,
      ...(filter === undefined ? {} : { filter }),
      ...(triggers === undefined ? {} : { triggers }),
    },
  }
}

function merge<Settings extends object>(
  current: Settings,
  changes: { [Key in keyof Settings]?: Settings[Key] | null } | undefined,
): Settings {
  const entries = Object.entries({ ...current, ...changes }).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as Settings
}

async function checkFilter(
  tenant: Tenant,
  filter: Monitoring['filter'],
  details: ErrorDetail[],
): Promise<Monitoring['filter']> {
  if (filter === undefined) return undefined
  if (!('segment_id' in filter)) {
    try {
      const parsed = parseContactFilter(filter, { path: 'monitoring.filter' })
      await requireKnownSegments(tenant, parsed)
      return parsed
    } catch (error) {
      // Problems in other fields are reported in the same response.
      details.push(...((error as { details?: ErrorDetail[] }).details ?? []))
      return undefined
    }
  }
  const { segment_id: id, ...more } = filter as { segment_id: unknown }
  for (const name of Object.keys(more)) {
    details.push({ path: `monitoring.filter.${shown(name)}`, message: 'cannot be combined with segment_id' })
  }
  const segment = typeof id === 'string' ? await findSegment(tenant, id) : undefined
  if (segment) return { segment_id: segment.segment_id }
  details.push({ path: 'monitoring.filter.segment_id', message: 'is not the id of one of your segments' })
  return undefined
}

function checkSchedule(
  jobs: Pick<Jobs, 'nextTime'>,
  { schedule_cron: cron, time_zone: zone }: Monitoring,
): ErrorDetail[] {
  const details = problemsOfZone('monitoring.time_zone', zone)
  if (cron !== undefined && jobs.nextTime(cron, 'UTC', new Date()) === null) {
    const message = 'must be a cron expression of five fields with a future time, such as 0 9 * * 1-5'
    details.push({ path: 'monitoring.schedule_cron', message })
  }
  return details
}

function checkLlmConfig({ provider, model, base_url }: LlmConfig): ErrorDetail[] {
  if (base_url === undefined) return []
  if (provider !== 'openai_compatible') {
    return [{ path: 'llm_config.base_url', message: 'is only for the provider openai_compatible; remove it' }]
  }
  return model === undefined ? [{ path: 'llm_config.model', message: 'is required with base_url' }] : []
}

/** Checks the address of a model server. It may query DNS, so call it outside transactions. @throws ServiceError 400. */
export async function checkBaseUrl(llmOutbound: Pick<ApiFetch, 'check'>, { llm_config }: AgentInput): Promise<void> {
  const url = llm_config?.base_url
  if (typeof url !== 'string') return
  await llmOutbound.check(url).catch((error: unknown) => {
    if (!(error instanceof RefusedAddress)) throw error
    throw validationError([{ path: 'llm_config.base_url', message: error.message }])
  })
}
