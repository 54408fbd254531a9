import type { CompanyOfGroup } from '../../companies/write.ts'
import type { PropertyChanges } from '../../contacts/properties.ts'
import type { Place } from '../../platform/places.ts'
import type { UserAgent } from '../track/user-agent.ts'
import type { SentEvent } from './event-fields.ts'

/** The person of a call, with at least one key. A `contactId` excludes `userId` and `email`. */
export interface Person {
  contactId: string | null
  /** The tenant's own id of the person. */
  userId: string | null
  /** Normalized, see platform/email.ts. */
  email: string | null
  visitorId: string | null
}

/** A call of a server or an SDK in the service's own form: who it is about, and what to write. */
export interface Call extends Person {
  /** Properties to write to the contact; null for none. */
  properties: PropertyChanges | null
  /** An earlier id of the visitor or the person; null for none. */
  previousId: string | null
  /** A company that the person belongs to; null for none. */
  company: CompanyOfGroup | null
  event: CallEvent | null
}

export interface CallEvent extends SentEvent {
  /** A UUID in lower case: within a day, a source's event with this id is recorded once. */
  sentId: string | null
  sessionId: string | null
  /** As in /track, with `user_agent` and `ip`, the person's address, which is looked up and not stored. Unknown fields are ignored. */
  context: Record<string, unknown>
  /** The device as the sender describes it. For a field with '', the user agent decides. */
  device?: Omit<UserAgent, 'isBot'>
  /** Where the person was, if the sender says so; else it is looked up. */
  place?: Place | undefined
  /** Milliseconds to add to the timestamp, because the sender's clock differs. */
  clockCorrection: number
}

/** A call without a person or an event, to be completed. */
export const EMPTY_CALL: Call = {
  contactId: null,
  userId: null,
  email: null,
  visitorId: null,
  properties: null,
  previousId: null,
  company: null,
  event: null,
}

/** Whether a call names its person by more than a visitor. */
export function isNamed({ contactId, userId, email }: Person): boolean {
  return contactId !== null || userId !== null || email !== null
}
