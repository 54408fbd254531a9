import type { Actor } from '../../operations/audit.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { ACTION_COLUMNS, type ActionObject, type ActionRow, toActionObject } from './action-object.ts'
import { auditAction } from './audit.ts'
import type { ActionRef } from './queue.ts'
import { selectAction } from './read.ts'

/** A rejection is final after this time, so that nobody revives what another person has turned down. */
const REJECTION_FINAL_AFTER_MS = MINUTE_MS

/**
 * Undoes a person's decision: the action waits for approval again, with the params that were approved. An approval can be
 * undone until the service begins to execute the action; a lock decides which of the two comes first.
 * @throws ServiceError 404, 409 `invalid_action_state`.
 */
export async function undoDecision(tenant: Tenant, ref: ActionRef, actor: Actor, now: Date): Promise<ActionObject> {
  return tenant.transaction(async (tx) => {
    const row = await selectAction(tx, ref).select('execution').forUpdate().executeTakeFirst()
    if (!row) throw notFound('proposed action')
    const reason = whyNot(row, now)
    if (reason !== null) throw conflict('invalid_action_state', reason, [{ path: 'status', message: row.status }])
    const waiting = await tx.db
      .updateTable('agent_actions')
      // A job for the approval may be queued; it finds nothing to execute.
      .set({ status: 'pending_approval', params_hash: null, decided_by: null, decided_at: null, due_at: null })
      .set({ reason: null, updated_at: now })
      .where('run_id', '=', ref.runId)
      .where('contact_id', '=', ref.contactId)
      .where('action_index', '=', ref.actionIndex)
      .returning(ACTION_COLUMNS)
      .executeTakeFirstOrThrow()
    await auditAction(tx, 'undone', ref, actor, { type: row.type, undone: row.status }, now)
    return toActionObject(waiting)
  })
}

/** Why a decision cannot be undone; null if it can. */
function whyNot(row: ActionRow & { execution: unknown }, now: Date): string | null {
  const { status, decided_by, decided_at, execution } = row
  if (status === 'pending_approval') return 'The action still waits for approval, so there is nothing to undo.'
  const by = decided_by as Actor | null
  if (by === null || decided_at === null || by.kind === 'agent' || by.kind === 'service') {
    return 'No person decided this action, so there is nothing to undo.'
  }
  if (status === 'rejected') {
    const isFinal = now.getTime() - decided_at.getTime() > REJECTION_FINAL_AFTER_MS
    return isFinal ? 'The action was rejected more than a minute ago, which is final.' : null
  }
  if (status === 'approved' && execution === null) return null
  return 'The service has begun to execute this action, so its approval can no longer be undone.'
}
