import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { OUTBOUND_TYPES } from '../action-types.ts'

/** What became of an action, in the words of an agent's outcomes. An action may be several. */
export const ACTION_OUTCOMES = [
  'waiting',
  'approved',
  'auto_approved',
  'edited',
  'rejected',
  'stopped_by_guardrails',
  'failed',
  'sent',
] as const

export type ActionOutcome = (typeof ACTION_OUTCOMES)[number]

/** The condition on a row of `agent_actions` that it became this. */
export function hasOutcome(outcome: ActionOutcome): RawBuilder<SqlBool> {
  switch (outcome) {
    case 'waiting':
      return sql`status = 'pending_approval'`
    case 'approved':
      return sql`status IN ('approved', 'executed', 'failed')`
    case 'auto_approved':
      return sql`${hasOutcome('approved')} AND auto_approved`
    case 'edited':
      return sql`${hasOutcome('approved')} AND edited`
    case 'rejected':
      return sql`status = 'rejected'`
    // Only a guardrail gives a rejected action an error.
    case 'stopped_by_guardrails':
      return sql`status = 'rejected' AND error IS NOT NULL`
    case 'failed':
      return sql`status = 'failed'`
    case 'sent':
      return sql`status = 'executed' AND type = any(${[...OUTBOUND_TYPES]}::text[])`
  }
}
