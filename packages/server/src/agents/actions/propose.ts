import type { SystemEvent } from '../../journal/append.ts'
import type { Actor } from '../../operations/audit.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ActionType, isOutbound } from '../action-types.ts'
import type { ActionError, ActionStatus } from './action-object.ts'
import { auditAction } from './audit.ts'
import { actionEvent } from './events.ts'
import { checkGuardrails, type GuardedAction, type Guardrail, type Verdict } from './guardrails.ts'
import { hashOfParams } from './params-hash.ts'
import { queueAction } from './queue.ts'
import { lasting } from './record.ts'

export interface Proposal extends GuardedAction {
  type: ActionType
  /** Checked with `checkActionParams`. */
  params: unknown
  /** Of the agent's playbook; internal actions are approved in any case. */
  requireApproval: boolean
  agentName: string
}

export interface Proposed {
  /** `rejected`: a guardrail forbids it; it is shown in the run and can never execute. */
  status: Extract<ActionStatus, 'pending_approval' | 'approved' | 'rejected'>
  guardrails: Guardrail[]
}

/**
 * Stores an action that an agent proposes, in the caller's transaction: with what the guardrails say and, where nobody
 * has to be asked, with the job that executes it.
 * @param events gets the event that the transaction is to record with it.
 */
export async function proposeAction(
  tx: Tenant,
  events: SystemEvent[],
  { jobs }: { jobs: Pick<Jobs, 'send'> },
  sent: Proposal,
  now: Date,
): Promise<Proposed> {
  const proposal = { ...sent, identityId: await existingIdentity(tx, sent.identityId) }
  const verdict = await checkGuardrails(tx, proposal, 'proposal', now)
  const { guardrails, blockedBy, waitUntil } = verdict
  const status = statusOf(proposal, verdict)
  const decider = deciderOf(proposal, status)
  const dueAt = status === 'approved' ? (waitUntil ?? now) : null
  const error: ActionError | null = blockedBy && {
    code: 'guardrail',
    rule: blockedBy.rule,
    message: blockedBy.message,
  }
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

/** Without an identity nobody but a person can help: it waits for one, whatever the playbook says. */
function statusOf({ type, requireApproval, identityId }: Proposal, { blockedBy }: Verdict): Proposed['status'] {
  if (blockedBy) return 'rejected'
  if (!isOutbound(type)) return 'approved'
  return requireApproval || identityId === null ? 'pending_approval' : 'approved'
}

function deciderOf({ agentId, agentName }: Proposal, status: Proposed['status']): Actor | null {
  if (status === 'pending_approval') return null
  return status === 'approved' ? { kind: 'agent', id: agentId, name: agentName } : { kind: 'service' }
}

/** An identity, kept from being deleted until the commit; null when it has been. */
export async function existingIdentity(tx: Tenant, identityId: string | null): Promise<string | null> {
  if (identityId === null) return null
  const row = await tx.db
    .selectFrom('identities')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .forKeyShare()
    .executeTakeFirst()
  return row?.identity_id ?? null
}
