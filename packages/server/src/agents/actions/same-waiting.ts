import { lock } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionType } from '../action-types.ts'

/** An action that a run did not propose, and the waiting one that is equivalent. */
export interface SkippedAction {
  type: ActionType
  reason: 'waits_for_approval'
  run_id: string
  action_index: number
}

/**
 * The actions of an agent's other runs that wait for a decision about a contact, the oldest of each type. Concurrent runs
 * that propose for the same contact are serialized until the caller's commit.
 */
export async function waitingOf(
  tx: Tenant,
  { agentId, runId }: { agentId: string; runId: string },
  contactId: string,
): Promise<Map<string, SkippedAction>> {
  await lock(tx.db, 'proposals', tx.id, agentId, contactId)
  const rows = await tx.db
    .selectFrom('agent_actions')
    .select(['type', 'run_id', 'action_index'])
    .where('contact_id', '=', contactId)
    .where('agent_id', '=', agentId)
    .where('run_id', '<>', runId)
    .where('status', '=', 'pending_approval')
    .orderBy('created_at', 'desc')
    .orderBy('action_index', 'desc')
    .execute()
  return new Map(
    rows.map(({ type, run_id, action_index }) => [
      type,
      { type: type as ActionType, reason: 'waits_for_approval', run_id, action_index },
    ]),
  )
}
