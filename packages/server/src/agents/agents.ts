import { isDeepStrictEqual } from 'node:util'
import { namesIn } from '../operations/audit.ts'
import type { Context } from '../operations/declare.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { requireFewer } from '../platform/limits.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { readAgentSettings } from './actions/settings.ts'
import {
  AGENT_COLUMNS,
  type AgentConfiguration,
  type AgentRow,
  configurationOf,
  etagOfAgent,
  toAgentObject,
} from './agent.ts'
import { applyInput, BLANK, checkConfiguration } from './configuration.ts'
import { playbookTemplates } from './playbooks/templates.ts'
import { addVersion, textOf } from './playbooks/versions.ts'
import type { AgentInput } from './requests.ts'

const AGENTS_MAX = 500

/** @throws ServiceError 400 naming every invalid field, 409 `too_many_agents`. */
export async function createAgent(
  tenant: Tenant,
  jobs: Pick<Jobs, 'nextTime'>,
  input: AgentInput & { name: string },
  now: Date,
): Promise<AgentRow> {
  return tenant.transaction(async (tx) => {
    const configuration = await newConfiguration(tx, jobs, input)
    await requireFewAgents(tx)
    const { enabled = false } = input
    await announceChange(tx.db)
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
    await addVersion(tx, row, now)
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
 * Changes the given fields.
 * @param requireMatch checks the ETag of the agent once it is locked.
 * @returns the names of the given fields; none if nothing changed.
 * @throws ServiceError 404, 400 naming every invalid field.
 */
export async function updateAgent(
  tenant: Tenant,
  jobs: Pick<Jobs, 'nextTime'>,
  agentId: string,
  input: AgentInput,
  { now, requireMatch }: Pick<Context, 'now' | 'requireMatch'>,
): Promise<{ row: AgentRow; changed: string[] }> {
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
    if (enabled === before.enabled && isDeepStrictEqual(configuration, was)) return { row: before, changed: [] }
    const { schedule_cron, time_zone } = configuration.monitoring
    const changesSchedule =
      schedule_cron !== was.monitoring.schedule_cron ||
      time_zone !== was.monitoring.time_zone ||
      enabled !== before.enabled
    const isNewText = !isDeepStrictEqual(textOf(configuration), textOf(was))
    const row = await tx.db
      .updateTable('agents')
      .set({
        ...columnsOf(configuration),
        enabled,
        playbook_version: before.playbook_version + (isNewText ? 1 : 0),
        // A change of another setting must not delay a run that is due.
        ...(changesSchedule ? { next_run_at: await nextRunOf(tx, jobs, configuration, enabled, now) } : {}),
        updated_at: now,
      })
      .where('agent_id', '=', agentId)
      .returning(AGENT_COLUMNS)
      .executeTakeFirstOrThrow()
    if (isNewText) await addVersion(tx, row, now)
    await announceChange(tx.db)
    return { row, changed: Object.keys(input).sort() }
  })
}

/**
 * Deletes an agent with its runs and their actions; a run in progress stops. This locks the run before its contacts, and a
 * run in progress locks a contact before itself, so they may deadlock: the transaction must be repeated on collision.
 * @param requireMatch checks the ETag of the agent; call this in a transaction, which a mismatch undoes.
 * @returns its name. @throws ServiceError 404.
 */
export async function deleteAgent(
  tenant: Tenant,
  agentId: string,
  requireMatch: (etag: string) => void,
): Promise<string> {
  const deleting = tenant.db.deleteFrom('agents').where('agent_id', '=', agentId)
  const row = await deleting.returning(AGENT_COLUMNS).executeTakeFirst()
  if (!row) throw notFound('agent')
  requireMatch(etagOfAgent(toAgentObject(row)))
  await tenant.db.deleteFrom('agent_looks').where('agent_id', '=', agentId).execute()
  await announceChange(tenant.db)
  return row.name
}

/** @throws ServiceError 404. */
export async function readAgent(tenant: Tenant, agentId: string): Promise<AgentRow> {
  const row = await findAgent(tenant, agentId)
  if (!row) throw notFound('agent')
  return row
}

export function findAgent({ db }: Tenant, agentId: string): Promise<AgentRow | undefined> {
  return db.selectFrom('agents').select(AGENT_COLUMNS).where('agent_id', '=', agentId).executeTakeFirst()
}

/** The agents that write as an identity. */
export async function agentsOfIdentity({ db }: Tenant, identityId: string) {
  const agents = db.selectFrom('agents').select(['agent_id', 'name', 'enabled'])
  return agents.where('identity_id', '=', identityId).orderBy('name').orderBy('agent_id').execute()
}

/** The names of agents, for the audit log. */
export function namesOfAgents({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('agents').select(['agent_id as id', 'name']).where('agent_id', 'in', ids))
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
  return jobs.nextTime(cron, zone ?? (await readAgentSettings(tenant)).time_zone, now)
}

function columnsOf({ playbook, monitoring, llm_config, goal, ...plain }: AgentConfiguration) {
  return {
    ...plain,
    playbook: JSON.stringify(playbook),
    monitoring: JSON.stringify(monitoring),
    llm_config: JSON.stringify(llm_config),
    goal: goal && JSON.stringify(goal),
  }
}

/** @throws ServiceError 409 `too_many_agents` */
async function requireFewAgents(tx: Tenant): Promise<void> {
  const all = tx.db.selectFrom('agents').select(({ fn }) => fn.countAll<number>().as('count'))
  const message = `A tenant can have at most ${AGENTS_MAX} agents. Delete an unused one.`
  await requireFewer(tx, 'agents', AGENTS_MAX, () => all.executeTakeFirstOrThrow(), message)
}
