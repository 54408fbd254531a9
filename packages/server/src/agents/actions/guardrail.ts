import type { ActionType, Check } from '../action-types.ts'

export type GuardrailRule =
  | 'contact_exists'
  | 'do_not_contact'
  | 'unsubscribed'
  | 'bounced'
  | 'reachable'
  | 'identity'
  | 'mailbox'
  | 'social_profile'
  | 'outreach_interval'
  | 'replied'
  | 'quiet_hours'
  | 'daily_limit'
  | 'mailbox_limit'
  | Check['rule']

/** The result of one rule. */
export interface Guardrail {
  rule: GuardrailRule
  /**
   * false: the rule stops the action, or, of a check of a text, the action waits for a person. A rule that only delays it
   * passes, with the time until which it waits.
   */
  passed: boolean
  message: string
  /** Until when it delays the action; null if it does not. */
  waits_until: string | null
  checked: 'proposal' | 'execution'
  at: string
}

/** The action to check. */
export interface GuardedAction {
  runId: string
  contactId: string
  actionIndex: number
  agentId: string
  identityId: string | null
  type: ActionType
}

export interface Verdict {
  guardrails: Guardrail[]
  /** The first rule that stops the action permanently, even as a proposal. */
  blockedBy: Guardrail | null
  /** When it may execute; null: now. */
  waitUntil: Date | null
}

/** Whether a result is of a check of the text: it was made when the model wrote it and cannot be repeated. */
export function isCheck({ rule }: Pick<Guardrail, 'rule'>): boolean {
  return rule === 'facts' || rule === 'other_people'
}

/** What a rule found. */
export interface Finding {
  rule: GuardrailRule
  passed: boolean
  message: string
  waitUntil?: Date | null
}
