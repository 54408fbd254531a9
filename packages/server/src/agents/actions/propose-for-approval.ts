import { missingContact } from '../../contacts/aliases.ts'
import { lockContact } from '../../contacts/locks.ts'
import { changeContacts } from '../../contacts/writing/transaction.ts'
import type { Actor } from '../../operations/audit.ts'
import { conflict, notFound, validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ActionType, checkActionParams, typesOf } from '../action-types.ts'
import { AGENT_COLUMNS, type AgentRow, configurationOf } from '../agent.ts'
import type { ActionObject } from './action-object.ts'
import { proposeAction } from './propose.ts'
import type { ActionRef, ActionServices } from './queue.ts'
import { readAction } from './read.ts'
import { waitingOf } from './same-waiting.ts'

/** Characters. */
export const PROPOSAL_REASON_MAX = 2_000

/** An action that a caller proposes for an agent, for a person to approve. */
export interface ProposalRequest {
  agentId: string
  contactId: string
  type: ActionType
  params: unknown
  /** Shown to the person who decides. It is not in the audit log, which outlives the erasure of the contact. */
  reason: string
  actor: Actor
}

/**
 * Proposes an action that the agent did not think of itself. It is stored like one of the agent's, in a run of its own
 * that has already ended, so whoever lists, decides, executes or erases actions finds it without knowing the difference.
 * What the agent may do limits it, and no playbook can approve it.
 * @throws ServiceError 404, 400 for invalid params, 409 `agent_disabled`, `capability_required` or `already_proposed`.
 */
export async function proposeForApproval(
  tenant: Tenant,
  services: ActionServices,
  request: ProposalRequest,
  now: Date,
): Promise<ActionObject> {
  const { contactId, type, params, actor } = request
  const problems = checkActionParams(type, params)
  if (problems.length > 0) throw validationError(problems)
  return changeContacts(tenant, services, async (tx, log) => {
    const agent = await enabledAgent(tx, request)
    // Locked against a deletion or an erasure, which would not see what is inserted here.
    if (!(await lockContact(tx, contactId))) throw await missingContact(tx, contactId)
    const ref: ActionRef = { runId: newId(), contactId, actionIndex: 0 }
    await requireNoneWaiting(tx, request, ref)
    const configuration = configurationOf(agent)
    const proposal = {
      ...ref,
      type,
      params,
      agentId: agent.agent_id,
      agentName: agent.name,
      identityId: agent.identity_id,
      requireApproval: true,
      proposedBy: actor,
    }
    await insertRun(tx, request, ref, configuration, now)
    const { status } = await proposeAction(tx, log.events, services.jobs, proposal, now)
    if (status === 'pending_approval') await countWaiting(tx, ref)
    return readAction(tx, ref)
  })
}

/** Locks the agent against changes. @throws ServiceError 404, 409 */
async function enabledAgent(tx: Tenant, { agentId, type }: ProposalRequest): Promise<AgentRow> {
  const agent = await tx.db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .where('agent_id', '=', agentId)
    .forShare()
    .executeTakeFirst()
  if (!agent) throw notFound('agent')
  if (!agent.enabled) {
    const message = 'The agent is disabled. Enable it, or propose the action for another agent.'
    throw conflict('agent_disabled', message)
  }
  const types = typesOf(agent.capabilities)
  if (!types.includes(type)) {
    const allowed = types.length === 0 ? 'nothing' : types.join(', ')
    const message = `The agent's capabilities do not allow ${type}. They allow: ${allowed}.`
    throw conflict('capability_required', message)
  }
  return agent
}

/** The rule of runs: a second proposal of the same type would ask the person twice. @throws ServiceError 409 */
async function requireNoneWaiting(
  tx: Tenant,
  { agentId, contactId, type }: ProposalRequest,
  { runId }: ActionRef,
): Promise<void> {
  const waiting = (await waitingOf(tx, { agentId, runId }, contactId)).get(type)
  if (!waiting) return
  const message = `An action of the type ${type} already waits for approval for this contact and agent. Approve or reject it first.`
  throw conflict('already_proposed', message, [
    { path: 'run_id', message: waiting.run_id },
    { path: 'action_index', message: String(waiting.action_index) },
  ])
}

/** The run of a proposal: it has ended, and has cost nothing. */
async function insertRun(
  tx: Tenant,
  { agentId, reason, actor }: ProposalRequest,
  { runId, contactId }: ActionRef,
  configuration: ReturnType<typeof configurationOf>,
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('agent_runs')
    .values({
      run_id: runId,
      agent_id: agentId,
      status: 'completed',
      trigger: 'proposal',
      requested_by: JSON.stringify(actor),
      requested_contact_ids: [contactId],
      configuration: JSON.stringify(configuration),
      actions_proposed: 1,
      created_at: now,
      finished_at: now,
    })
    .execute()
  // Without `evaluated_at`: when runs choose contacts, the agent has not evaluated this one.
  await tx.db
    .insertInto('agent_run_contacts')
    .values({ run_id: runId, contact_id: contactId, position: 0, status: 'proposed', reasoning: reason })
    .execute()
}

async function countWaiting(tx: Tenant, { runId }: ActionRef): Promise<void> {
  await tx.db.updateTable('agent_runs').set({ actions_pending_approval: 1 }).where('run_id', '=', runId).execute()
}
