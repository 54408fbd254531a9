import type { SystemEvent } from '../../journal/append.ts'
import { isClaimed } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { isOutbound } from '../action-types.ts'
import type { ActionError } from './action-object.ts'
import { auditAction } from './audit.ts'
import { actionEvent } from './events.ts'
import type { GuardedAction } from './guardrail.ts'
import type { ActionRef } from './queue.ts'

/** How an execution ended. */
export type Ending =
  | { status: 'executed'; result: Record<string, unknown> }
  /** `mayHaveArrived`: the contact may have received it nevertheless, so it counts as outreach. */
  | { status: 'failed'; error: ActionError; mayHaveArrived?: boolean }

/**
 * Records the result of an approved action, with its event and audit entry, in the caller's transaction.
 * @param claim the claim of the execution. Nothing is recorded if another process has claimed the action.
 * @returns false if the action is no longer approved or is claimed by another process.
 */
export async function finishAction(
  tx: Tenant,
  events: SystemEvent[],
  action: GuardedAction,
  ending: Ending,
  now: Date,
  claim?: string,
): Promise<boolean> {
  const { status } = ending
  const result = status === 'executed' ? ending.result : null
  const error = status === 'failed' ? ending.error : null
  const { numUpdatedRows } = await tx.db
    .updateTable('agent_actions')
    .set({
      status,
      result: result && JSON.stringify(result),
      error: error && JSON.stringify(error),
      executed_at: status === 'executed' ? now : null,
      updated_at: now,
    })
    .where('run_id', '=', action.runId)
    .where('contact_id', '=', action.contactId)
    .where('action_index', '=', action.actionIndex)
    .where('status', '=', 'approved')
    .$if(claim !== undefined, (query) => query.where(isClaimed(claim ?? '')))
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  const nothingArrived = status === 'failed' && ending.mayHaveArrived !== true
  if (nothingArrived && isOutbound(action.type)) await deleteOutreach(tx, action)
  events.push(actionEvent(status, action, { status, ...(error ? { error } : {}) }, now))
  await auditAction(tx, status, action, { kind: 'service' }, { type: action.type, ...lasting(result, error) }, now)
  return true
}

/**
 * The part of a result that goes into the audit log. Audit entries outlive the erasure of the contact, so they contain
 * neither its address nor a server's reply, which may contain the address.
 */
export function lasting(result: Record<string, unknown> | null, error: ActionError | null): Record<string, unknown> {
  const { recipient: _, ...kept } = result ?? {}
  return error ? { ...kept, error: { code: error.code, ...(error.rule ? { rule: error.rule } : {}) } } : kept
}

/** Removes the outreach that was counted before an attempt that definitely sent nothing. */
export async function deleteOutreach(tx: Tenant, { runId, contactId, actionIndex }: ActionRef): Promise<void> {
  await tx.db
    .deleteFrom('agent_outreach')
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .execute()
}
