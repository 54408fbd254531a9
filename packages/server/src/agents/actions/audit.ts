import { type Actor, audit } from '../../operations/audit.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionRef } from './queue.ts'

/** The id of an action in the audit log. */
export function subjectOf({ runId, contactId, actionIndex }: ActionRef): string {
  return `${runId}/${contactId}/${actionIndex}`
}

/** Records a decision about an action, its undoing, or its result. */
export async function auditAction(
  tx: Tenant,
  verb: 'approved' | 'rejected' | 'undone' | 'executed' | 'failed',
  ref: ActionRef,
  actor: Actor,
  details: Record<string, unknown>,
  now: Date,
): Promise<void> {
  const entry = { actor, action: `action.${verb}`, subjectKind: 'action', subjectId: subjectOf(ref), details }
  await audit(tx, entry, now)
}
