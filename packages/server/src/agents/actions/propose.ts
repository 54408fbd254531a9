import { lockIdentity } from '../../identities/identities.ts'
import type { SystemEvent } from '../../journal/append.ts'
import type { Actor } from '../../operations/audit.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ActionType, isOutbound } from '../action-types.ts'
import type { ActionError, ActionStatus } from './action-object.ts'
import { auditAction } from './audit.ts'
import { actionEvent } from './events.ts'
import type { GuardedAction, Guardrail, Verdict } from './guardrail.ts'
import { checkGuardrails } from './guardrails.ts'
import { hashOfParams } from './params-hash.ts'
import { queueAction } from './queue.ts'
import { lasting } from './record.ts'

export interface Proposal extends GuardedAction {
  type: ActionType
  /** Checked with `checkActionParams`. */
  params: unknown
  /** The playbook's setting. Internal actions never need approval. */
  requireApproval: boolean
  agentName: string
  /** Who proposes it, if not the agent. It then waits for approval whatever its type and the playbook say. */
  proposedBy?: Actor
}

export interface Proposed {
  /** `rejected`: a guardrail stopped it. It is shown in the run and never executes. */
  status: Extract<ActionStatus, 'pending_approval' | 'approved' | 'rejected'>
  guardrails: Guardrail[]
}

/**
 * Stores a proposed action with the results of the guardrails in the caller's transaction and, if it needs no approval,
 * queues its execution.
 * @param events receives the event that the transaction must record.
 */
export async function proposeAction(
  tx: Tenant,
  events: SystemEvent[],
  jobs: Pick<Jobs, 'send'>,
  sent: Proposal,
  now: Date,
): Promise<Proposed> {
  const proposal = { ...sent, identityId: await existingIdentity(tx, sent.identityId) }
  const { status, guardrails, error, waitUntil } = await assess(tx, proposal, now)
  const decider = deciderOf(proposal, status)
  const dueAt = status === 'approved' ? (waitUntil ?? now) : null
  const { runId, contactId, actionIndex, agentId, identityId, type } = proposal
  await tx.db
    .insertInto('agent_actions')
    .values({
      run_id: runId,
      contact_id: contactId,
      action_index: actionIndex,
      agent_id: agentId,
      identity_id: identityId,
      type,
      params: JSON.stringify(proposal.params),
      params_hash: status === 'approved' ? hashOfParams(proposal.params) : null,
      status,
      auto_approved: status === 'approved',
      proposed_by: sent.proposedBy === undefined ? null : JSON.stringify(sent.proposedBy),
      playbook_version: ({ selectFrom }) =>
        selectFrom('agent_runs').select('playbook_version').where('agent_runs.run_id', '=', runId),
      guardrails: JSON.stringify(guardrails),
      decided_by: decider && JSON.stringify(decider),
      decided_at: decider && now,
      due_at: dueAt,
      error: error && JSON.stringify(error),
      created_at: now,
      updated_at: now,
    })
    .execute()
  if (dueAt !== null) await queueAction(tx, jobs, proposal, dueAt, now)
  if (decider) {
    const details = { type, automatic: true, ...lasting(null, error) }
    await auditAction(tx, status === 'approved' ? 'approved' : 'rejected', proposal, decider, details, now)
  }
  events.push(actionEvent('proposed', proposal, { status, ...(error ? { error } : {}) }, now))
  return { status, guardrails }
}

export interface Assessment extends Proposed {
  /** Why it is rejected. */
  error: ActionError | null
  /** When it may execute; null: now. */
  waitUntil: Date | null
}

/** Checks the guardrails of a proposal, and decides whether it waits for a person. It stores nothing. */
export async function assess(
  tenant: Tenant,
  proposal: GuardedAction & Pick<Proposal, 'requireApproval' | 'proposedBy'>,
  now: Date,
): Promise<Assessment> {
  const verdict = await checkGuardrails(tenant, proposal, 'proposal', now)
  const { guardrails, blockedBy, waitUntil } = verdict
  const error = blockedBy && { code: 'guardrail', rule: blockedBy.rule, message: blockedBy.message }
  return { status: statusOf(proposal, verdict), guardrails, error, waitUntil }
}

/** Without an identity, an action waits for a person even if the playbook requires no approval. */
function statusOf(
  {
    type,
    requireApproval,
    identityId,
    proposedBy,
  }: Pick<Proposal, 'type' | 'requireApproval' | 'identityId' | 'proposedBy'>,
  { blockedBy }: Verdict,
): Proposed['status'] {
  if (blockedBy) return 'rejected'
  if (proposedBy !== undefined) return 'pending_approval'
  if (!isOutbound(type)) return 'approved'
  return requireApproval || identityId === null ? 'pending_approval' : 'approved'
}

function deciderOf({ agentId, agentName }: Proposal, status: Proposed['status']): Actor | null {
  if (status === 'pending_approval') return null
  return status === 'approved' ? { kind: 'agent', id: agentId, name: agentName } : { kind: 'service' }
}

/** Locks an identity against deletion until the commit; null if it was deleted. */
export async function existingIdentity(tx: Tenant, identityId: string | null): Promise<string | null> {
  return identityId !== null && (await lockIdentity(tx, identityId)) ? identityId : null
}
