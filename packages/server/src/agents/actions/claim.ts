import { sql } from 'kysely'
import type { SystemEvent } from '../../journal/append.ts'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { lock } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionType } from '../action-types.ts'
import type { ActionError, ActionStatus } from './action-object.ts'
import { checkGuardrails, type GuardedAction, type Guardrail } from './guardrails.ts'
import { hashOfParams } from './params-hash.ts'
import { type ActionRef, queueAction } from './queue.ts'
import { finish } from './record.ts'

/** How long a claim holds unless it is renewed; after a crash the action rests for so long. */
export const LEASE_MS = 30_000
/** What could not be sent for so long is not sent any more: nobody expects it now. */
const APPROVAL_DAYS = 30
const APPROVAL_MS = APPROVAL_DAYS * 86_400_000

/** What is kept of an execution, so that another process can go on after a crash. */
export interface Execution {
  /** Whose turn it is. */
  claim: string
  claimed_until: string
  /** Sendings begun; one that was begun may have arrived. */
  attempts: number
  /** Attempts that failed without our knowing why, or for a reason that should pass. */
  failures: number
  /** The Message-ID or the key under which the other side takes it once. */
  key: string
  /** false: the last attempt ended, and certainly nothing was sent. */
  may_have_been_sent: boolean
}

/** An approved action that this process alone may execute now. */
export interface ClaimedAction extends GuardedAction {
  params: unknown
  execution: Execution
  /** An earlier attempt began to send and did not write down how it ended. */
  mayHaveBeenSent: boolean
  /** Guardrail that would stop it; set only when it may have been sent already. */
  blockedBy: Guardrail | null
}

interface Dependencies {
  jobs: Pick<Jobs, 'send'>
  now: Date
  /** The key under which an action is sent. */
  keyOf(action: GuardedAction): Promise<string> | string
}

/**
 * Takes an approved outreach for execution, in a transaction: what the guardrails count is written down before anything is
 * sent, so that of two actions for one contact one finds the other.
 * @returns null when there is nothing to do now: it is executed or failed, or it waits and comes again.
 */
export async function claimAction(
  tx: Tenant,
  events: SystemEvent[],
  ref: ActionRef,
  { jobs, now, keyOf }: Dependencies,
): Promise<ClaimedAction | null> {
  // One claim of a tenant at a time: each sees what the others are about to send.
  await lock(tx.db, 'action_claims', tx.id)
  const row = await lockApproved(tx, ref)
  if (!row) return null
  const action: GuardedAction = { ...ref, agentId: row.agent_id, identityId: row.identity_id, type: row.type }
  const earlier = row.execution
  const restsUntil = laterOf(row.due_at, earlier ? new Date(earlier.claimed_until) : null)
  if (restsUntil !== null && restsUntil > now) {
    await queueAction(tx, jobs, ref, restsUntil, now)
    return null
  }
  const mayHaveBeenSent = earlier?.may_have_been_sent ?? false
  const fail = async (error: ActionError) => {
    // Whatever ends it now: what an earlier attempt may have sent counts as outreach.
    await finish(tx, events, action, { status: 'failed', error, mayHaveArrived: mayHaveBeenSent }, now)
    return null
  }
  if (row.params_hash !== hashOfParams(row.params)) {
    return fail({ code: 'params_changed', message: 'The params are no longer the ones that were approved.' })
  }
  if (row.decided_at !== null && now.getTime() - row.decided_at.getTime() > APPROVAL_MS) {
    return fail({ code: 'approval_expired', message: `The approval is older than ${APPROVAL_DAYS} days.` })
  }
  if (action.identityId === null) {
    return fail({ code: 'identity_deleted', message: 'The identity that it was to be sent from has been deleted.' })
  }
  const { guardrails, blockedBy, waitUntil } = await checkGuardrails(tx, action, 'execution', now)
  await showGuardrails(tx, ref, [...row.guardrails.filter(({ checked }) => checked === 'proposal'), ...guardrails])
  if (!mayHaveBeenSent && blockedBy) return fail(errorOf(blockedBy))
  // Another attempt may be the one that arrives, so it waits like the first. One that is only looked for need not.
  if (!blockedBy && waitUntil) {
    await update(tx, ref, { due_at: waitUntil })
    await queueAction(tx, jobs, ref, waitUntil, now)
    return null
  }
  const execution: Execution = {
    claim: newId(),
    claimed_until: new Date(now.getTime() + LEASE_MS).toISOString(),
    attempts: (earlier?.attempts ?? 0) + 1,
    failures: earlier?.failures ?? 0,
    key: earlier?.key ?? (await keyOf(action)),
    may_have_been_sent: true,
  }
  await update(tx, ref, { execution: JSON.stringify(execution) })
  if (!blockedBy) await countOutreach(tx, { ...action, identityId: action.identityId }, now)
  return { ...action, params: row.params, execution, mayHaveBeenSent, blockedBy }
}

/** What is said of an action that a guardrail stops. */
export function errorOf({ rule, message }: Guardrail): ActionError {
  return rule === 'contact_exists' ? { code: 'contact_deleted', message } : { code: 'guardrail', rule, message }
}

/** Keeps a claim while its sending takes long. @returns false when it is somebody else's. */
export async function renewClaim(tenant: Tenant, ref: ActionRef, execution: Execution, now: Date): Promise<boolean> {
  const until = new Date(now.getTime() + LEASE_MS).toISOString()
  const { numUpdatedRows } = await tenant.db
    .updateTable('agent_actions')
    .set({ execution: JSON.stringify({ ...execution, claimed_until: until }) })
    .where('run_id', '=', ref.runId)
    .where('contact_id', '=', ref.contactId)
    .where('action_index', '=', ref.actionIndex)
    .where('status', '=', 'approved')
    .where(sql<string>`execution ->> 'claim'`, '=', execution.claim)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** An approved action, held until the transaction ends. */
export async function lockApproved(tx: Tenant, { runId, contactId, actionIndex }: ActionRef) {
  const row = await tx.db
    .selectFrom('agent_actions')
    .select(['agent_id', 'identity_id', 'type', 'params', 'params_hash', 'guardrails', 'due_at', 'execution'])
    .select('decided_at')
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
  changes: { guardrails?: string; due_at?: Date; execution?: string },
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

function laterOf(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
