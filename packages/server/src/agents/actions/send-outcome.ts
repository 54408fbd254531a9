import type { ActionError } from './action-object.ts'

/** What came of one attempt to send. */
export type SendOutcome =
  | { outcome: 'sent'; result: Record<string, unknown> }
  /** Trying again is useless. */
  | { outcome: 'failed'; error: ActionError; mayHaveArrived?: boolean }
  /** It should pass: tried again after a growing pause, or at a moment that was named. */
  | { outcome: 'later'; error: ActionError; mayHaveBeenSent: boolean; until?: Date }
