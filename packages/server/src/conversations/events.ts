import { EMPTY_RECORD, type EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { type CleanMessage, keysOf, type ParticipantKey } from './clean.ts'
import type { Participant } from './message.ts'
import { type ContactsByKey, keyText } from './participants.ts'

/** Keeps event data small for mails to many recipients. */
const RECIPIENTS_MAX = 20

const EVENTS = {
  email: { inbound: 'email_received', outbound: 'email_sent' },
  chat: { inbound: 'chat_message_received', outbound: 'chat_message_sent' },
} as const

/**
 * The contacts that get an event for a message: the sender of an inbound one, the recipients of an outbound one. Other
 * participants have it only in their conversations.
 */
export function contactsWithEvent(message: CleanMessage, contacts: ContactsByKey): string[] {
  const keys = counterparts(message).flatMap((participant) => keysOf(participant, message.source))
  return [...new Set(keys.flatMap((key) => contacts.get(keyText(key)) ?? []))]
}

function counterparts({ direction, from, to, cc }: CleanMessage): Participant[] {
  return direction === 'inbound' ? [from] : [...to, ...cc]
}

/** The name that a mail has beside a contact's address; null if it has none, or a program wrote it. */
export function nameIn(message: CleanMessage, contactId: string, contacts: ContactsByKey): string | null {
  if (message.channel !== 'email' || message.isAutomatic) return null
  const isContact = (key: ParticipantKey) => contacts.get(keyText(key)) === contactId
  return counterparts(message).find((each) => keysOf(each, message.source).some(isContact))?.name ?? null
}

/** The event of a message for one contact. */
export function messageEvent(
  tenantId: string,
  contactId: string,
  threadId: string,
  message: CleanMessage,
  now: Date,
): EventRecord {
  const { channel, source, direction, subject, messageId, from, to, cc } = message
  return {
    ...EMPTY_RECORD,
    tenant_id: tenantId,
    event_id: newId(),
    event: EVENTS[channel][direction],
    timestamp: Math.min(message.sentAt.getTime(), now.getTime()),
    received_at: now.getTime(),
    owner_id: contactId,
    is_anonymous: false,
    data: JSON.stringify({
      source,
      subject,
      thread_id: threadId,
      message_id: messageId,
      direction,
      from: named(from),
      to: [...to, ...cc].slice(0, RECIPIENTS_MAX).map(named),
    }),
  }
}

function named({ address, name }: Participant): string | null {
  return address ?? name
}
