import { EMPTY_RECORD, type EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { type CleanMessage, keysOf } from './clean.ts'
import type { Participant } from './message.ts'
import { type ContactsByKey, keyText } from './participants.ts'

/** Event data stays small, however many a mail went to. */
const RECIPIENTS_MAX = 20

const EVENTS = {
  email: { inbound: 'email_received', outbound: 'email_sent' },
  chat: { inbound: 'chat_message_received', outbound: 'chat_message_sent' },
} as const

/**
 * The contacts whose activity a message is: who wrote it when it came in, all whom it went to when it went out. Others
 * who take part see it in their conversations only.
 */
export function contactsConcerned(message: CleanMessage, contacts: ContactsByKey): string[] {
  const people = message.direction === 'inbound' ? [message.from] : [...message.to, ...message.cc]
  const keys = people.flatMap((participant) => keysOf(participant, message.source))
  return [...new Set(keys.flatMap((key) => contacts.get(keyText(key)) ?? []))]
}

/** What a message is in the activity of one contact. */
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
