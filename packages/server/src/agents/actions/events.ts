import { appendRecords, type JournalRow, type SystemEvent, toRecord } from '../../journal/append.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionError, ActionStatus } from './action-object.ts'

interface ActionEvent {
  runId: string
  contactId: string
  actionIndex: number
  agentId: string
  type: string
  identityId: string | null
  status: ActionStatus
  error?: ActionError
}

const NAMES = {
  proposed: 'agent_action_proposed',
  executed: 'agent_action_executed',
  failed: 'agent_action_failed',
} as const

/** The service's own event of what became of an action. What it says to the contact stays out of it. */
export function actionEvent(what: keyof typeof NAMES, action: ActionEvent, at: Date): SystemEvent {
  const { runId, contactId, actionIndex, agentId, type, identityId, status, error } = action
  return {
    event: NAMES[what],
    at,
    contactId,
    data: {
      agent_id: agentId,
      run_id: runId,
      action_index: actionIndex,
      type,
      identity_id: identityId,
      status,
      ...(error ? { error } : {}),
    },
  }
}

/** Appends it to the journal in the caller's transaction. @returns what the projector is given after the commit. */
export async function recordActionEvent(tx: Tenant, event: SystemEvent): Promise<JournalRow> {
  return appendRecords(tx, [toRecord(tx.id, event)])
}
