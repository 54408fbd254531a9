import { isDeepStrictEqual } from 'node:util'
import { type Actor, audit } from '../operations/audit.ts'
import type { Context } from '../operations/declare.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { requireFewer } from '../platform/limits.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import { repeatOnCollision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { getAgentSettings } from './actions/settings.ts'
import {
  AGENT_COLUMNS,
  type AgentConfiguration,
  type AgentRow,
  configurationOf,
  etagOfAgent,
  toAgentObject,
} from './agent.ts'
import { applyInput, BLANK, checkBaseUrl, checkConfiguration } from './configuration.ts'
import { playbookTemplates } from './playbooks/templates.ts'
import type { AgentInput } from './requests.ts'

const AGENTS_MAX = 500

/** The services that storing an agent's settings needs. */
export interface ConfigurationServices {
  jobs: Pick<Jobs, 'nextTime'>
  /** Checks the address of a model server. */
  llmOutbound: Pick<ApiFetch, 'check'>
}

/** @throws ServiceError 400 naming every invalid field, 409 `too_many_agents`. */
export async function createAgent(
  tenant: Tenant,
  { jobs, llmOutbound }: ConfigurationServices,
  input: AgentInput & { name: string },
  actor: Actor,
  now: Date,
): Promise<AgentRow> {
  await checkBaseUrl(llmOutbound, input)
  return tenant.transaction(async (tx) => {
    const configuration = await newConfiguration(tx, jobs, input)
    await requireFewAgents(tx)
    const { enabled = false } = input
    const row = await tx.db
      .insertInto('agents')
      .values({
        agent_id: newId(),
        ...columnsOf(configuration),
        enabled,
        next_run_at: await nextRunOf(tx, jobs, configuration, enabled, now),
        created_at: now,
        updated_at: now,
      })
      .returning(AGENT_COLUMNS)
      .executeTakeFirstOrThrow()
    const entry = { action: 'agent.created', subjectKind: 'agent', subjectId: row.agent_id }
    await audit(tx, { actor, ...entry, details: { name: row.name } }, now)
    return row
  })
}

/** The settings of a new agent; its template's apply where the input has none. @throws ServiceError 400 */
export async function newConfiguration(
  tx: Tenant,
  jobs: Pick<Jobs, 'nextTime'>,
  input: AgentInput & { name: string },
): Promise<AgentConfiguration> {
  const template = input.playbook_template ? playbookTemplates().get(input.playbook_template) : undefined
  return checkConfiguration(tx, jobs, applyInput({ ...BLANK, capabilities: template?.capabilities ?? [] }, input))
}

/**
 * Changes the given fields; a call that changes nothing leaves no trace.
 * @param requireMatch checks the ETag of the agent once it is locked.
 * @throws ServiceError 404, 400 naming every invalid field.
 */
export async function updateAgent(
  tenant: Tenant,
  { jobs, llmOutbound }: ConfigurationServices,
  agentId: string,
  input: AgentInput,
  { actor, now, requireMatch }: Pick<Context, 'actor' | 'now' | 'requireMatch'>,
): Promise<AgentRow> {
  await checkBaseUrl(llmOutbound, input)
  return tenant.transaction(async (tx) => {
    const before = await tx.db
      .selectFrom('agents')
      .select(AGENT_COLUMNS)
      .where('agent_id', '=', agentId)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw notFound('agent')
    requireMatch(etagOfAgent(toAgentObject(before)))
    const configuration = await checkConfiguration(tx, jobs, applyInput(configurationOf(before), input))
    const enabled = input.enabled ?? before.enabled
    const was = configurationOf(before)
    if (enabled === before.enabled && isDeepStrictEqual(configuration, was)) return before
    const { schedule_cron, time_zone } = configuration.monitoring
    const changesSchedule =
      schedule_cron !== was.monitoring.schedule_cron ||
      time_zone !== was.monitoring.time_zone ||
      enabled !== before.enabled
    const row = await tx.db
      .updateTable('agents')
      .set({
        ...columnsOf(configuration),
        enabled,
        // A change of another setting must not delay a run that is due.
        ...(changesSchedule ? { next_run_at: await nextRunOf(tx, jobs, configuration, enabled, now) } : {}),
        updated_at: now,
      })
      .where('agent_id', '=', agentId)
      .returning(AGENT_COLUMNS)
      .executeTakeFirstOrThrow()
    const entry = { action: 'agent.updated', subjectKind: 'agent', subjectId: agentId }
    await audit(tx, { actor, ...entry, details: { changed: Object.keys(input).sort() } }, now)
    return row
  })
}

/** Deletes an agent with its runs and their actions; a run in progress stops. @throws ServiceError 404. */
export async function deleteAgent(
  tenant: Tenant,
  agentId: string,
  actor: Actor,
  now: Date,
  requireMatch: (etag: string) => void,
): Promise<void> {
  const remove = async (tx: Tenant) => {
    const deleting = tx.db.deleteFrom('agents').where('agent_id', '=', agentId)
    const row = await deleting.returning(AGENT_COLUMNS).executeTakeFirst()
    if (!row) throw notFound('agent')
    requireMatch(etagOfAgent(toAgentObject(row)))
    const entry = { action: 'agent.deleted', subjectKind: 'agent', subjectId: agentId }
    await audit(tx, { actor, ...entry, details: { name: row.name } }, now)
  }
  // It locks the run before its contacts, and a run in progress locks a contact before itself: they may deadlock.
  await repeatOnCollision(() => tenant.transaction(remove))
}

/** @throws ServiceError 404. */
export async function readAgent(tenant: Tenant, agentId: string): Promise<AgentRow> {
  const row = await tenant.db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  if (!row) throw notFound('agent')
  return row
}

export interface AgentFilters {
  enabled?: boolean
  playbookTemplate?: string
}

export interface Window {
  limit: number
  offset: number
}

/** One page of the agents, newest first, and their number. */
export async function listAgents(
  tenant: Tenant,
  { enabled, playbookTemplate }: AgentFilters,
  { limit, offset }: Window,
): Promise<{ rows: AgentRow[]; total: number }> {
  let query = tenant.db.selectFrom('agents')
  if (enabled !== undefined) query = query.where('enabled', '=', enabled)
  if (playbookTemplate !== undefined) query = query.where('playbook_template', '=', playbookTemplate)
  const [rows, counted] = await Promise.all([
    query
      .select(AGENT_COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('agent_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute(),
    query.select(({ fn }) => fn.countAll().as('count')).executeTakeFirst(),
  ])
  return { rows, total: Number(counted?.count ?? 0) }
}

/** The next time of the schedule after `now`; null without a schedule, and while the agent is disabled. */
export async function nextRunOf(
  tenant: Tenant,
  jobs: Pick<Jobs, 'nextTime'>,
  { monitoring }: AgentConfiguration,
  enabled: boolean,
  now: Date,
): Promise<Date | null> {
  const { schedule_cron: cron, time_zone: zone } = monitoring
  if (!enabled || cron === undefined) return null
  return jobs.nextTime(cron, zone ?? (await getAgentSettings(tenant)).time_zone, now)
}

function columnsOf({ playbook, monitoring, llm_config, ...plain }: AgentConfiguration) {
  return {
    ...plain,
    playbook: JSON.stringify(playbook),
    monitoring: JSON.stringify(monitoring),
    llm_config: JSON.stringify(llm_config),
  }
}

/** @throws ServiceError 409 `too_many_agents` */
async function requireFewAgents(tx: Tenant): Promise<void> {
  const all = tx.db.selectFrom('agents').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${AGENTS_MAX} agents. Delete an unused one.`
  await requireFewer(tx, 'agents', AGENTS_MAX, () => all.executeTakeFirstOrThrow(), message)
}
