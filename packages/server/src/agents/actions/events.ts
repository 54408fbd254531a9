import { appendRecords, type SystemEvent, toRecord, toRecords } from '../../journal/append.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionError, ActionStatus } from './action-object.ts'
import type { GuardedAction } from './guardrails.ts'

const NAMES = {
  proposed: 'agent_action_proposed',
  executed: 'agent_action_executed',
  failed: 'agent_action_failed',
} as const

/** The service's own event of what became of an action. What it says to the contact stays out of it. */
export function actionEvent(
  what: keyof typeof NAMES,
  { runId, contactId, actionIndex, agentId, type, identityId }: GuardedAction,
  more: { status: ActionStatus; error?: ActionError },
  at: Date,
): SystemEvent {
  const action = { agent_id: agentId, run_id: runId, action_index: actionIndex, type, identity_id: identityId }
  return { event: NAMES[what], at, contactId, data: { ...action, ...more } }
}

/** Appends it to the journal in the caller's transaction. */
export async function recordActionEvent(tx: Tenant, event: SystemEvent): Promise<void> {
  await appendRecords(tx, [toRecord(tx.id, event)])
}

/** Runs a transaction and records the events that it hands over, in itself. */
export async function recording<T>(
  tenant: Tenant,
  work: (tx: Tenant, events: SystemEvent[]) => Promise<T>,
): Promise<T> {
  return tenant.transaction(async (tx) => {
    const events: SystemEvent[] = []
    const result = await work(tx, events)
    await appendRecords(tx, toRecords(tx.id, events))
    return result
  })
}
