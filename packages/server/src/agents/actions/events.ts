import type { SystemEvent } from '../../journal/append.ts'
import type { ActionError, ActionStatus } from './action-object.ts'
import type { GuardedAction } from './guardrail.ts'

const NAMES = {
  proposed: 'agent_action_proposed',
  executed: 'agent_action_executed',
  failed: 'agent_action_failed',
} as const

/** The system event of an action's result, without the content of its message. */
export function actionEvent(
  what: keyof typeof NAMES,
  { runId, contactId, actionIndex, agentId, type, identityId }: GuardedAction,
  more: { status: ActionStatus; error?: ActionError },
  at: Date,
): SystemEvent {
  const action = { agent_id: agentId, run_id: runId, action_index: actionIndex, type, identity_id: identityId }
  return { event: NAMES[what], at, contactId, data: { ...action, ...more } }
}
