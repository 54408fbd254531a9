import { sql } from 'kysely'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { setSeenBefore } from '../contacts/keys.ts'
import { ownAddresses } from '../identities/email-accounts.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type CleanMessage, cleanMessage, EMAIL_DIRECTORY, keysOf, type ParticipantKey } from './clean.ts'
import { contactsConcerned, messageEvent } from './events.ts'
import type { IncomingMessage, Participant } from './message.ts'
import { type ContactsByKey, holdContacts, keyText, participantsOf } from './participants.ts'
import { findThread, growThread, linkedThreads, takeConversations } from './threads.ts'

/** A transaction holds the turn of all of the tenant's recording; it should be short. */
const MESSAGES_A_TRANSACTION = 50

/** What became of a message. */
export interface RecordedMessage {
  /**
   * `recorded`: it is new. `known`: it was stored before, by whomever. `left_out`: a mail of strangers in a mailbox,
   * which is not kept.
   */
  status: 'recorded' | 'known' | 'left_out'
  threadId: string | null
  /** Whether it began its thread. */
  isNewThread: boolean
}

/**
 * Stores messages, each in its thread, once however often and by however many at once they are recorded; each that is
 * new is an event of the contacts that it is from or to. A mail (channel `email` without a thread of a tool) is kept only
 * when a contact takes part in it or it belongs to a thread that is kept: what else is in a person's mailbox is nobody's
 * business here.
 * @returns what became of each, in their order.
 */
export async function recordMessages(
  tenant: Tenant,
  writing: WriteDependencies,
  messages: readonly IncomingMessage[],
): Promise<RecordedMessage[]> {
  const results: RecordedMessage[] = []
  for (let from = 0; from < messages.length; from += MESSAGES_A_TRANSACTION) {
    const now = writing.clock()
    const batch: CleanMessage[] = []
    for (const message of messages.slice(from, from + MESSAGES_A_TRANSACTION)) {
      batch.push(await cleanMessage(message, now))
    }
    results.push(...(await changeContacts(tenant, writing, (tx, log) => recordBatch(tx, log, batch, now))))
  }
  return results
}

interface Known {
  threadId: string
  direction: string
}

interface Batch {
  contacts: ContactsByKey
  own: ReadonlySet<string>
  known: Map<string, Known>
  now: Date
}

async function recordBatch(
  tx: Tenant,
  log: ChangeLog,
  messages: readonly CleanMessage[],
  now: Date,
): Promise<RecordedMessage[]> {
  const contacts = await holdContacts(tx, messages)
  await takeConversations(tx)
  const batch: Batch = { contacts, own: await ownAddresses(tx), known: await knownMessages(tx, messages), now }
  const results: RecordedMessage[] = []
  const firstSeen = new Map<string, Date>()
  for (const message of messages) {
    const { result, isNews } = await recordOne(tx, batch, message)
    results.push(result)
    if (!isNews || result.threadId === null) continue
    for (const contactId of contactsConcerned(message, contacts)) {
      log.records.push(messageEvent(tx.id, contactId, result.threadId, message, now))
      const before = firstSeen.get(contactId)
      if (!before || message.sentAt < before) firstSeen.set(contactId, message.sentAt)
    }
  }
  await noteFirstSeen(tx, log, firstSeen)
  return results
}

async function recordOne(
  tx: Tenant,
  batch: Batch,
  message: CleanMessage,
): Promise<{ result: RecordedMessage; isNews: boolean }> {
  const key = identityOf(message)
  const known = batch.known.get(key)
  if (known) {
    const result = { status: 'known', threadId: known.threadId, isNewThread: false } as const
    // A mail from one of the tenant's own people was met in another one's inbox first: now it is seen to be sent.
    const isSentAfterAll = known.direction === 'inbound' && message.direction === 'outbound'
    if (isSentAfterAll) {
      await markSent(tx, message)
      known.direction = 'outbound'
    }
    return { result, isNews: isSentAfterAll }
  }
  const isMail = message.threadKey === null
  const linked = isMail ? await linkedThreads(tx, message) : []
  if (isMail && linked.length === 0 && !concernsContact(message, batch)) {
    return { result: { status: 'left_out', threadId: null, isNewThread: false }, isNews: false }
  }
  const { threadId, isNew, gone } = await findThread(tx, message, linked, counterpartsOf(message, batch), batch.now)
  await storeMessage(tx, threadId, message, batch.now)
  await growThread(tx, threadId, message)
  batch.known.set(key, { threadId, direction: message.direction })
  for (const each of batch.known.values()) if (gone.includes(each.threadId)) each.threadId = threadId
  return { result: { status: 'recorded', threadId, isNewThread: isNew }, isNews: true }
}

/** Whether somebody who takes part, other than the tenant's own people, is a contact. */
function concernsContact(message: CleanMessage, batch: Batch): boolean {
  return contactKeysOf(participantsOf(message), message.source, batch).length > 0
}

/** The addresses of the contacts that a mail is with: who wrote it, or else everyone who takes part. */
function counterpartsOf({ direction, from, to, cc, source }: CleanMessage, batch: Batch): string[] {
  const writer = direction === 'inbound' ? contactKeysOf([from], source, batch) : []
  const keys = writer.length > 0 ? writer : contactKeysOf([from, ...to, ...cc], source, batch)
  return keys.flatMap(({ directory, key }) => (directory === EMAIL_DIRECTORY ? [key] : []))
}

/** The keys of those that are contacts and none of the tenant's own people. */
function contactKeysOf(people: readonly Participant[], source: string, { contacts, own }: Batch): ParticipantKey[] {
  return people
    .flatMap((participant) => keysOf(participant, source))
    .filter((key) => contacts.has(keyText(key)) && !(key.directory === EMAIL_DIRECTORY && own.has(key.key)))
}

async function knownMessages(tx: Tenant, messages: readonly CleanMessage[]): Promise<Map<string, Known>> {
  const known = new Map<string, Known>()
  for (const [source, ofSource] of Map.groupBy(messages, (message) => message.source)) {
    const rows = await tx.db
      .selectFrom('conversation_messages')
      .select(['message_id', 'thread_id', 'direction'])
      .where('source', '=', source)
      .where('message_id', '=', sql<string>`any(${ofSource.map(({ messageId }) => messageId)})`)
      .execute()
    for (const { message_id, thread_id, direction } of rows) {
      known.set(identityOf({ source, messageId: message_id }), { threadId: thread_id, direction })
    }
  }
  return known
}

function identityOf({ source, messageId }: Pick<CleanMessage, 'source' | 'messageId'>): string {
  return `${source}\n${messageId}`
}

async function storeMessage(tx: Tenant, threadId: string, message: CleanMessage, now: Date): Promise<void> {
  await tx.db
    .insertInto('conversation_messages')
    .values({
      source: message.source,
      message_id: message.messageId,
      thread_id: threadId,
      ...contentOf(message),
      recorded_at: now,
    })
    .execute()
}

function contentOf(message: CleanMessage) {
  const [sender] = keysOf(message.from, message.source)
  return {
    direction: message.direction,
    sender_directory: sender?.directory ?? message.source,
    sender_key: sender?.key ?? null,
    sender: JSON.stringify(shown(message.from)),
    recipients: JSON.stringify(message.to.map(shown)),
    cc: JSON.stringify(message.cc.map(shown)),
    sent_at: message.sentAt,
    text: message.text,
    html: message.html,
    attachments: JSON.stringify(message.attachments),
    is_automatic: message.isAutomatic,
    identity_id: message.identityId,
  }
}

/**
 * What the sender's own folder has is what was sent. What lay in an inbox under the same id may be anybody's: whoever got
 * the mail knows its id, and can put other words into the sender's mouth.
 */
async function markSent(tx: Tenant, message: CleanMessage): Promise<void> {
  const { source, messageId } = message
  await tx.db
    .updateTable('conversation_messages')
    .set(contentOf(message))
    .where('source', '=', source)
    .where('message_id', '=', messageId)
    .execute()
}

function shown({ address, name }: Participant) {
  return { address, name }
}

/** A contact has been seen when its first mail was written, if nothing is known of it before. */
async function noteFirstSeen(tx: Tenant, log: ChangeLog, earliest: ReadonlyMap<string, Date>): Promise<void> {
  for (const [contactId, at] of [...earliest].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (await setSeenBefore(tx, contactId, at)) log.noteChange(contactId, ['first_seen_at'])
  }
}
