import { sql } from 'kysely'
import { type ContactName, namesOfContacts } from '../../contacts/names.ts'
import { namesIn } from '../../operations/audit.ts'
import { notFound } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { ACTION_COLUMNS, type ActionObject, toActionObject } from '../actions/action-object.ts'
import type { SkippedAction } from '../actions/same-waiting.ts'
import type { Window } from '../agents.ts'
import type { MadeCall } from '../reasoning/model-view.ts'
import {
  type ContactResultObject,
  hasStatus,
  RUN_COLUMNS,
  type RunObject,
  type RunStatus,
  toRunObject,
} from './run-object.ts'

/** Contacts that a run's detail shows. */
const CONTACTS_MAX = 25

/** A page of an agent's runs, newest first, and the total number. @throws ServiceError 404. */
export async function listRuns(
  tenant: Tenant,
  agentId: string,
  status: RunStatus | undefined,
  { limit, offset }: Window,
) {
  const agent = await tenant.db
    .selectFrom('agents')
    .select('agent_id')
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  if (!agent) throw notFound('agent')
  let query = tenant.db.selectFrom('agent_runs').where('agent_id', '=', agentId)
  if (status !== undefined) query = query.where(hasStatus(status))
  const [rows, counted] = await Promise.all([
    query
      .select(RUN_COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('run_id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute(),
    query.select(({ fn }) => fn.countAll().as('count')).executeTakeFirst(),
  ])
  const pending = await pendingOf(
    tenant,
    rows.map((row) => row.run_id),
  )
  return { runs: rows.map((row) => toRunObject(row, pending.get(row.run_id) ?? 0)), total: Number(counted?.count ?? 0) }
}

/** A run; in full mode with the results of its first contacts. @throws ServiceError 404. */
export async function readRun(tenant: Tenant, runId: string, mode: 'summary' | 'full') {
  const row = await tenant.db
    .selectFrom('agent_runs')
    .select(RUN_COLUMNS)
    .where('run_id', '=', runId)
    .executeTakeFirst()
  if (!row) throw notFound('run')
  const run = toRunObject(row, (await pendingOf(tenant, [runId])).get(runId) ?? 0)
  return mode === 'summary'
    ? run
    : { ...run, contact_results: await resultsOf(tenant, runId, { limit: CONTACTS_MAX, offset: 0 }) }
}

/**
 * A page of a run's contacts, in evaluation order, with the total number and the number that is done.
 * @throws ServiceError 404.
 */
export async function listRunContacts(
  tenant: Tenant,
  runId: string,
  window: Window,
): Promise<{ contacts: ContactResultObject[]; total: number; done: number }> {
  const run = await tenant.db.selectFrom('agent_runs').select('run_id').where('run_id', '=', runId).executeTakeFirst()
  if (!run) throw notFound('run')
  const [contacts, counted] = await Promise.all([
    resultsOf(tenant, runId, window),
    tenant.db
      .selectFrom('agent_run_contacts')
      .select(({ fn }) => [fn.countAll().as('count'), fn.countAll().filterWhere('status', '<>', 'pending').as('done')])
      .where('run_id', '=', runId)
      .executeTakeFirst(),
  ])
  return { contacts, total: Number(counted?.count ?? 0), done: Number(counted?.done ?? 0) }
}

/** The latest run of each of these agents that has run at all, by agent. Runs triggered by `proposal` do not count. */
export async function lastRuns(tenant: Tenant, agentIds: readonly string[]): Promise<Map<string, RunObject>> {
  const rows = await tenant.db
    .selectFrom('agent_runs')
    .distinctOn('agent_id')
    .select(RUN_COLUMNS)
    .where('agent_id', '=', anyOf(agentIds))
    .where('trigger', '<>', 'proposal')
    .orderBy('agent_id')
    .orderBy('created_at', 'desc')
    .orderBy('run_id', 'desc')
    .execute()
  const pending = await pendingOf(
    tenant,
    rows.map((row) => row.run_id),
  )
  return new Map(rows.map((row) => [row.agent_id, toRunObject(row, pending.get(row.run_id) ?? 0)]))
}

/** The names of the agents of runs, for the audit log. */
export function namesOfRuns({ db }: Tenant, ids: readonly string[]) {
  const runs = db.selectFrom('agent_runs').leftJoin('agents', 'agents.agent_id', 'agent_runs.agent_id')
  return namesIn(runs.select(['agent_runs.run_id as id', 'agents.name']).where('agent_runs.run_id', 'in', ids))
}

/** The number of actions of each run that wait for a decision. */
async function pendingOf(tenant: Tenant, runIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tenant.db
    .selectFrom('agent_actions')
    .select(['run_id', sql<string>`count(*)`.as('count')])
    .where('run_id', '=', anyOf(runIds))
    .where('status', '=', 'pending_approval')
    .groupBy('run_id')
    .execute()
  return new Map(rows.map((row) => [row.run_id, Number(row.count)]))
}

async function resultsOf(tenant: Tenant, runId: string, { limit, offset }: Window): Promise<ContactResultObject[]> {
  const rows = await tenant.db
    .selectFrom('agent_run_contacts')
    .select(['contact_id', 'status', 'reasoning', 'error', 'skipped_actions', 'tool_calls'])
    .where('run_id', '=', runId)
    .orderBy('position')
    .limit(limit)
    .offset(offset)
    .execute()
  const contactIds = rows.map((row) => row.contact_id)
  const [names, actions] = await Promise.all([
    namesOfContacts(tenant, contactIds),
    actionsOf(tenant, runId, contactIds),
  ])
  return rows.map((row) => ({
    contact_id: row.contact_id,
    contact: toRunContact(names.get(row.contact_id)),
    status: row.status as ContactResultObject['status'],
    reasoning: row.reasoning,
    error: row.error,
    proposed_actions: actions.filter((action) => action.contact_id === row.contact_id),
    skipped_actions: row.skipped_actions as unknown as SkippedAction[],
    tool_calls: row.tool_calls as unknown as MadeCall[],
  }))
}

function toRunContact(name: ContactName | undefined): ContactResultObject['contact'] {
  if (!name) return null
  const { jobtitle: _, ...shown } = name
  return { ...shown, _id: name.contact_id }
}

async function actionsOf(tenant: Tenant, runId: string, contactIds: readonly string[]): Promise<ActionObject[]> {
  const rows = await tenant.db
    .selectFrom('agent_actions')
    .select(ACTION_COLUMNS)
    .where('run_id', '=', runId)
    .where('contact_id', '=', anyOf(contactIds))
    .orderBy('contact_id')
    .orderBy('action_index')
    .execute()
  return rows.map(toActionObject)
}

function anyOf(ids: readonly string[]) {
  return sql<string>`any(${ids}::uuid[])`
}
