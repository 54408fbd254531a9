import type { Tenant } from '../../platform/tenant.ts'
import type { ActionError } from './action-object.ts'
import type { ClaimedAction } from './claim.ts'
import type { GuardedAction } from './guardrails.ts'

/** What came of one attempt to send. */
export type SendOutcome =
  | { outcome: 'sent'; result: Record<string, unknown> }
  /** Trying again is useless. */
  | { outcome: 'failed'; error: ActionError; mayHaveArrived?: boolean }
  /** It should pass: tried again after a growing pause, or at a moment that was named. */
  | { outcome: 'later'; error: ActionError; mayHaveBeenSent: boolean; until?: Date }

export interface Senders {
  /** The key under which an action is sent: always the same for the same action. */
  keyOf(tenant: Tenant, action: GuardedAction): Promise<string>
  /** Looks whether an earlier attempt arrived; null when it did not, or when nobody can say. */
  find(tenant: Tenant, action: ClaimedAction): Promise<Record<string, unknown> | null>
  send(tenant: Tenant, action: ClaimedAction, signal: AbortSignal): Promise<SendOutcome>
}
