import type { UpdateObject } from 'kysely'
import type { SystemEvent } from '../../journal/append.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { isClaimed, leaseLeftMs, newClaim } from '../../platform/postgres/lease.ts'
import { lock } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS, laterOf } from '../../platform/time.ts'
import type { ActionType } from '../action-types.ts'
import type { ActionError, ActionStatus } from './action-object.ts'
import type { GuardedAction, Guardrail } from './guardrail.ts'
import { checkGuardrails } from './guardrails.ts'
import { hashOfParams } from './params-hash.ts'
import { type ActionRef, queueAction } from './queue.ts'
import { finishAction } from './record.ts'

/** An approval expires after this time, because a late message is no longer expected. */
const APPROVAL_DAYS = 30
const APPROVAL_MS = APPROVAL_DAYS * DAY_MS

/** The stored state of an execution, so that another process can continue it after a crash. */
export interface Execution {
  /** Started attempts to send. A started one may have arrived. */
  attempts: number
  /** Attempts that failed for an unknown or temporary reason. */
  failures: number
  /** The Message-ID or idempotency key, with which it is accepted only once. */
  key: string
  /** false: the last attempt ended and definitely sent nothing. */
  may_have_been_sent: boolean
}

/** An approved action that this process has claimed. */
export interface ClaimedAction extends GuardedAction {
  claim: string
  params: unknown
  execution: Execution
  /** An earlier attempt started to send and did not store its result. */
  mayHaveBeenSent: boolean
  /** The guardrail that would stop it; set only if it may already have been sent. */
  blockedBy: Guardrail | null
}

/** The result of one attempt to send. */
export type SendOutcome =
  | { outcome: 'sent'; result: Record<string, unknown> }
  /** Permanent. */
  | { outcome: 'failed'; error: ActionError; mayHaveArrived?: boolean }
  /** Temporary: retried with backoff, or at a given time. */
  | { outcome: 'later'; error: ActionError; mayHaveBeenSent: boolean; until?: Date }

/**
 * Claims an approved outreach for execution. The transaction stores what the guardrails count before anything is sent, so
 * that of two actions for one contact, one finds the other.
 * @returns null if there is nothing to do now: the action has ended, or it is delayed and queued again.
 */
export async function claimAction(
  tx: Tenant,
  events: SystemEvent[],
  ref: ActionRef,
  {
    jobs,
    now,
    keyOf,
  }: {
    jobs: Pick<Jobs, 'send'>
    now: Date
    /** Returns the idempotency key of an action. */
    keyOf(action: GuardedAction): Promise<string> | string
  },
): Promise<ClaimedAction | null> {
  // Serializes the claims of a tenant, so that each sees what the others are about to send.
  await lock(tx.db, 'action_claims', tx.id)
  const row = await lockApproved(tx, ref)
  if (!row) return null
  const action: GuardedAction = { ...ref, agentId: row.agent_id, identityId: row.identity_id, type: row.type }
  const earlier = row.execution
  const claimedUntil = row.lease_left_ms === null ? null : new Date(now.getTime() + row.lease_left_ms)
  const restsUntil = laterOf(row.due_at, claimedUntil)
  if (restsUntil !== null && restsUntil > now) {
    await queueAction(tx, jobs, ref, restsUntil, now)
    return null
  }
  const mayHaveBeenSent = earlier?.may_have_been_sent ?? false
  const fail = async (error: ActionError) => {
    // However it ends, a message that an earlier attempt may have sent counts as outreach.
    await finishAction(tx, events, action, { status: 'failed', error, mayHaveArrived: mayHaveBeenSent }, now)
    return null
  }
  if (row.params_hash !== hashOfParams(row.params)) {
    return fail({ code: 'params_changed', message: 'The params have changed since they were approved.' })
  }
  if (row.decided_at !== null && now.getTime() - row.decided_at.getTime() > APPROVAL_MS) {
    return fail({ code: 'approval_expired', message: `The approval is older than ${APPROVAL_DAYS} days.` })
  }
  if (action.identityId === null) {
    return fail({ code: 'identity_deleted', message: 'The identity that should send it has been deleted.' })
  }
  const { guardrails, blockedBy, waitUntil } = await checkGuardrails(tx, action, 'execution', now)
  await showGuardrails(tx, ref, [...row.guardrails.filter(({ checked }) => checked === 'proposal'), ...guardrails])
  if (!mayHaveBeenSent && blockedBy) return fail(errorOf(blockedBy))
  // Another attempt may be the one that arrives, so it is delayed like the first. A mere search for the message is not.
  if (!blockedBy && waitUntil) {
    await update(tx, ref, { due_at: waitUntil })
    await queueAction(tx, jobs, ref, waitUntil, now)
    return null
  }
  const execution: Execution = {
    attempts: (earlier?.attempts ?? 0) + 1,
    failures: earlier?.failures ?? 0,
    key: earlier?.key ?? (await keyOf(action)),
    may_have_been_sent: true,
  }
  const claim = newId()
  await update(tx, ref, { ...newClaim('agent_action', claim), execution: JSON.stringify(execution) })
  if (!blockedBy) await countOutreach(tx, { ...action, identityId: action.identityId }, now)
  return { ...action, claim, params: row.params, execution, mayHaveBeenSent, blockedBy }
}

/** The error of an action that a guardrail stopped. */
export function errorOf({ rule, message }: Guardrail): ActionError {
  return rule === 'contact_exists' ? { code: 'contact_deleted', message } : { code: 'guardrail', rule, message }
}

/** An update of an approved action that applies only while this process has claimed it. */
export function whereClaimed(tenant: Tenant, { runId, contactId, actionIndex, claim }: ActionRef & { claim: string }) {
  return tenant.db
    .updateTable('agent_actions')
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .where('status', '=', 'approved')
    .where(isClaimed(claim))
}

/** Reads an approved action and locks it until the transaction ends. */
export async function lockApproved(tx: Tenant, { runId, contactId, actionIndex }: ActionRef) {
  const row = await tx.db
    .selectFrom('agent_actions')
    .select(['agent_id', 'identity_id', 'type', 'params', 'params_hash', 'guardrails', 'due_at', 'execution'])
    .select(['decided_at', leaseLeftMs.as('lease_left_ms')])
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .where('status', '=', 'approved' satisfies ActionStatus)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return null
  return {
    ...row,
    type: row.type as ActionType,
    guardrails: row.guardrails as unknown as Guardrail[],
    execution: row.execution as Execution | null,
  }
}

async function showGuardrails(tx: Tenant, ref: ActionRef, guardrails: readonly Guardrail[]): Promise<void> {
  await update(tx, ref, { guardrails: JSON.stringify(guardrails) })
}

async function update(
  tx: Tenant,
  { runId, contactId, actionIndex }: ActionRef,
  changes: UpdateObject<TenantTables, 'agent_actions'>,
): Promise<void> {
  await tx.db
    .updateTable('agent_actions')
    .set(changes)
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .execute()
}

async function countOutreach(tx: Tenant, action: GuardedAction & { identityId: string }, now: Date): Promise<void> {
  await tx.db
    .insertInto('agent_outreach')
    .values({
      run_id: action.runId,
      contact_id: action.contactId,
      action_index: action.actionIndex,
      agent_id: action.agentId,
      identity_id: action.identityId,
      type: action.type,
      at: now,
    })
    .onConflict((existing) => existing.columns(['run_id', 'contact_id', 'action_index']).doUpdateSet({ at: now }))
    .execute()
}
