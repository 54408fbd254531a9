import type { ActionError } from './action-object.ts'

/** The result of one attempt to send. */
export type SendOutcome =
  | { outcome: 'sent'; result: Record<string, unknown> }
  /** Permanent. */
  | { outcome: 'failed'; error: ActionError; mayHaveArrived?: boolean }
  /** Temporary: retried with backoff, or at a given time. */
  | { outcome: 'later'; error: ActionError; mayHaveBeenSent: boolean; until?: Date }
