import type { Tenant } from '../platform/tenant.ts'
import { eraseFromDeliveries } from '../webhooks/erase.ts'
import { eraseFromConversations } from './from-conversations.ts'
import { eraseFromMails } from './from-mails.ts'
import { eraseFromNotes } from './from-notes.ts'
import { eraseFromRuns } from './from-runs.ts'
import { eraseFromSegments } from './from-segments.ts'
import { eraseFromVisitors } from './from-visitors.ts'
import { type ErasureSubject, mentionPattern } from './subject.ts'

/**
 * Removes what one part of the service keeps of a person, in the transaction it is given. It is called again and again,
 * also after the contact itself has gone, and removes what is left each time.
 * @returns how many rows it removed or changed, by what they were.
 */
export type Eraser = (tx: Tenant, subject: ErasureSubject) => Promise<Record<string, number>>

/** Everything in PostgreSQL that holds personal data beside the contact's own row. A feature that keeps some adds itself. */
export const ERASERS: readonly Eraser[] = [
  eraseFromVisitors,
  eraseFromNotes,
  eraseFromSegments,
  eraseFromConversations,
  // Before the runs, whose actions say which mails and messages went to the contact.
  eraseFromMails,
  eraseFromRuns,
  // Last, because it locks queue rows, which workers need to record attempts.
  (tx, { contactId, email }) => eraseFromDeliveries(tx, contactId, email === null ? null : mentionPattern(email)),
]
