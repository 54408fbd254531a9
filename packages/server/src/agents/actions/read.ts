import { notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionParams, ActionType } from '../action-types.ts'
import { ACTION_COLUMNS, type ActionObject, type ActionStatus, toActionObject } from './action-object.ts'
import { type ActionOutcome, hasOutcome } from './outcome.ts'
import type { ActionRef } from './queue.ts'

/** Filters of an agent's actions; all must match. */
interface ActionFilters {
  status: ActionStatus | undefined
  contactId: string | undefined
  /** Of the playbook. */
  version: number | undefined
  outcome: ActionOutcome | undefined
  /** When they were proposed, inclusive. */
  after: Date | undefined
  before: Date | undefined
}

/** A page of an agent's actions, newest first, and the total number. @throws ServiceError 404 for an unknown agent. */
export async function listActions(
  tenant: Tenant,
  agentId: string,
  { status, contactId, version, outcome, after, before }: ActionFilters,
  page: Page,
): Promise<{ actions: ActionObject[]; total: number }> {
  const agent = tenant.db.selectFrom('agents').select('agent_id').where('agent_id', '=', agentId)
  if (!(await agent.executeTakeFirst())) throw notFound('agent')
  let query = tenant.db.selectFrom('agent_actions').where('agent_id', '=', agentId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (contactId !== undefined) query = query.where('contact_id', '=', contactId)
  if (version !== undefined) query = query.where('playbook_version', '=', version)
  if (outcome !== undefined) query = query.where(hasOutcome(outcome))
  if (after !== undefined) query = query.where('created_at', '>=', after)
  if (before !== undefined) query = query.where('created_at', '<=', before)
  const [rows, counted] = await Promise.all([
    query
      .select(ACTION_COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('run_id', 'desc')
      .orderBy('contact_id')
      .orderBy('action_index')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    query.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
  ])
  return { actions: rows.map(toActionObject), total: Number(counted.total) }
}

/** @throws ServiceError 404 */
export async function readAction(tenant: Tenant, ref: ActionRef): Promise<ActionObject> {
  const row = await selectAction(tenant, ref).executeTakeFirst()
  if (!row) throw notFound('proposed action')
  return toActionObject(row)
}

/** The text that an executed note or mail has stored or sent; null for other actions. */
export async function executedText(tenant: Tenant, ref: ActionRef) {
  const row = await selectAction(tenant, ref).executeTakeFirst()
  if (row?.type === 'note') {
    const { content } = row.params as ActionParams<'note'>
    return { kind: 'note' as const, subject: null, content }
  }
  if (row?.type !== 'email_message') return null
  const { subject, message } = row.params as ActionParams<'email_message'>
  return { kind: 'email' as const, subject, content: message }
}

/** The types of those actions that exist. */
export async function typesOfActions({ db }: Tenant, refs: readonly ActionRef[]): Promise<ActionType[]> {
  const rows = await db
    .selectFrom('agent_actions')
    .select('type')
    .where(({ and, eb, or }) =>
      or(
        refs.map(({ runId, contactId, actionIndex }) =>
          and([eb('run_id', '=', runId), eb('contact_id', '=', contactId), eb('action_index', '=', actionIndex)]),
        ),
      ),
    )
    .execute()
  return rows.map(({ type }) => type as ActionType)
}

export function selectAction(tenant: Tenant, { runId, contactId, actionIndex }: ActionRef) {
  return tenant.db
    .selectFrom('agent_actions')
    .select(ACTION_COLUMNS)
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
}
