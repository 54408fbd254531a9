import type { IncomingMessage, MessageAttachment, Participant } from '../../conversations/message.ts'
import { isObject } from '../../platform/is-object.ts'
import { objectsOf, textOf } from '../client.ts'
import type { ContactRecord } from '../connector.ts'

/** Parts that are messages if they have a body. Notes are internal; other parts record actions such as assignments. */
const MESSAGE_PARTS = ['comment', 'quick_reply', 'open', 'close']
const CONTACT_AUTHORS = ['user', 'lead', 'contact']

type Json = Record<string, unknown>

/** A message without its source, which is the connection's. */
export type SourceMessage = Omit<IncomingMessage, 'source'>

/** Converts an Intercom contact to a record of the source; null if it has no id. */
export function contactRecord(contact: Json): ContactRecord | null {
  const id = textOf(contact.id)
  if (id === null) return null
  const [firstname, ...rest] = (textOf(contact.name) ?? '').split(/\s+/).filter(Boolean)
  const location = isObject(contact.location) ? contact.location : {}
  const properties = Object.entries({
    firstname,
    lastname: rest.join(' '),
    phone: textOf(contact.phone),
    city: textOf(location.city),
    state: textOf(location.region),
    country: textOf(location.country),
  }).filter(([, value]) => value)
  const updatedAt = secondsOf(contact.updated_at)
  return {
    external_id: id,
    email: textOf(contact.email),
    properties: { ...Object.fromEntries(properties), ...consentIn(contact) },
    raw: contact,
    ...(updatedAt === null ? {} : { updated_at: updatedAt.toISOString() }),
  }
}

const CONSENT = ['unsubscribed_from_emails', 'marked_email_as_spam', 'has_hard_bounced']

/** Also if they are false: a person may subscribe again. */
function consentIn(contact: Json): Record<string, boolean> {
  return Object.fromEntries(
    CONSENT.flatMap((name) => (typeof contact[name] === 'boolean' ? [[name, contact[name]] as const] : [])),
  )
}

/** The messages of a conversation, oldest first. */
export function conversationMessages(conversation: Json): SourceMessage[] {
  const id = textOf(conversation.id)
  if (id === null) return []
  const source = isObject(conversation.source) ? conversation.source : {}
  const parts = listOf(conversation.conversation_parts, 'conversation_parts').filter((part) =>
    MESSAGE_PARTS.includes(textOf(part.part_type) ?? ''),
  )
  const people = knownPeople([source, ...parts])
  const contacts = listOf(conversation.contacts, 'contacts').flatMap((contact) => {
    const contactId = textOf(contact.id)
    return contactId === null ? [] : [people.get(contactId) ?? { address: null, name: null, externalId: contactId }]
  })
  const subject = textOf(conversation.title) ?? textOf(source.subject)?.replace(/<[^>]*>/g, '') ?? null
  const common = { threadKey: id, subject: subject === '' ? null : subject, contacts }
  const messages = [
    toMessage(`source-${id}`, { ...source, created_at: conversation.created_at }, common),
    ...parts.map((part) => {
      const partId = textOf(part.id)
      return partId === null ? null : toMessage(`part-${partId}`, part, common)
    }),
  ]
  return messages.filter((message) => message !== null)
}

interface Common {
  threadKey: string
  subject: string | null
  contacts: Participant[]
}

function toMessage(messageId: string, part: Json, { threadKey, subject, contacts }: Common): SourceMessage | null {
  const body = textOf(part.body)
  const attachments = objectsOf(part.attachments).map(toAttachment)
  const sentAt = secondsOf(part.created_at)
  if ((body === null && attachments.length === 0) || sentAt === null || part.redacted === true) return null
  const author = isObject(part.author) ? part.author : {}
  const isInbound = isContact(author)
  return {
    channel: 'chat',
    messageId,
    threadKey,
    inReplyTo: null,
    references: [],
    subject,
    from: personOf(author),
    to: isInbound ? [] : contacts,
    cc: [],
    sentAt,
    direction: isInbound ? 'inbound' : 'outbound',
    // The body is HTML; the text is derived from it later.
    text: '',
    html: body,
    attachments,
    identityId: null,
    isAutomatic: textOf(author.type) === 'bot',
  }
}

/** The authors who are contacts, by id. */
function knownPeople(parts: readonly Json[]): Map<string, Participant> {
  const people = new Map<string, Participant>()
  for (const { author } of parts) {
    const id = isObject(author) && isContact(author) ? textOf(author.id) : null
    if (id !== null && isObject(author)) people.set(id, personOf(author))
  }
  return people
}

function personOf(author: Json): Participant {
  const person = { address: textOf(author.email), name: textOf(author.name) }
  return isContact(author) ? { ...person, externalId: textOf(author.id) } : person
}

function isContact(author: Json): boolean {
  return CONTACT_AUTHORS.includes(textOf(author.type) ?? '')
}

function toAttachment(attachment: Json): MessageAttachment {
  const bytes = Number(attachment.filesize)
  return {
    filename: textOf(attachment.name),
    contentType: textOf(attachment.content_type) ?? 'application/octet-stream',
    bytes: Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0,
  }
}

/** Lists are wrapped in an object with a field of the same name. */
function listOf(value: unknown, name: string): Json[] {
  return objectsOf(isObject(value) ? value[name] : value)
}

function secondsOf(value: unknown): Date | null {
  const date = typeof value === 'number' ? new Date(value * 1000) : null
  return date === null || Number.isNaN(date.getTime()) ? null : date
}
