import { sql } from 'kysely'
import { setSeenBefore } from '../contacts/writing/first-touch.ts'
import { openSet } from '../contacts/writing/keys.ts'
import { storeSet } from '../contacts/writing/store.ts'
import {
  type ChangeLog,
  changeContacts,
  type EnrichContacts,
  type WriteDependencies,
} from '../contacts/writing/transaction.ts'
import { ownAddresses } from '../identities/email-accounts.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type CleanMessage, cleanMessage, EMAIL_DIRECTORY, keysOf, type ParticipantKey } from './clean.ts'
import { contactsWithEvent, messageEvent, nameIn } from './events.ts'
import type { IncomingMessage, Participant } from './message.ts'
import { type ContactsByKey, keyText, lockContacts, participantsOf } from './participants.ts'
import { addToThread, findThread, linkedThreads, lockConversations } from './threads.ts'

/** Keeps transactions short, because each one locks all recording of the tenant. */
const MESSAGES_PER_TRANSACTION = 50

/** The result for one message. */
export interface RecordedMessage {
  /**
   * `recorded`: it is new. `known`: it was already stored. `ignored`: a mail that involves no contact, which is not
   * stored.
   */
  status: 'recorded' | 'known' | 'ignored'
  threadId: string | null
  /** Whether it started its thread. */
  isNewThread: boolean
}

/**
 * Stores messages in their threads, each once, even if they are recorded repeatedly or concurrently. A new message is an
 * event of the contacts that it is from or to. A mail (channel `email`, without a tool's thread) is stored only if it
 * involves a contact or belongs to a stored thread: the rest of a person's mailbox is private.
 * @returns the result of each, in order.
 */
export async function recordMessages(
  tenant: Tenant,
  writing: WriteDependencies,
  messages: readonly IncomingMessage[],
): Promise<RecordedMessage[]> {
  const results: RecordedMessage[] = []
  for (let from = 0; from < messages.length; from += MESSAGES_PER_TRANSACTION) {
    const now = writing.clock()
    const cleaned: CleanMessage[] = []
    for (const message of messages.slice(from, from + MESSAGES_PER_TRANSACTION)) {
      cleaned.push(await cleanMessage(message, now))
    }
    results.push(...(await changeContacts(tenant, writing, (tx, log) => recordAll(tx, log, cleaned, writing, now))))
  }
  return results
}

interface Known {
  threadId: string
  direction: string
}

/** What recording messages needs to know, read once for all of them. */
interface RecordContext {
  contacts: ContactsByKey
  own: ReadonlySet<string>
  known: Map<string, Known>
  now: Date
}

async function recordAll(
  tx: Tenant,
  log: ChangeLog,
  messages: readonly CleanMessage[],
  { enrich }: WriteDependencies,
  now: Date,
): Promise<RecordedMessage[]> {
  const contacts = await lockContacts(tx, messages)
  await lockConversations(tx)
  const context: RecordContext = {
    contacts,
    own: await ownAddresses(tx),
    known: await knownMessages(tx, messages),
    now,
  }
  const results: RecordedMessage[] = []
  const seen = new Map<string, Seen>()
  for (const message of messages) {
    const { result, isEvent } = await recordOne(tx, context, message)
    results.push(result)
    if (!isEvent || result.threadId === null) continue
    for (const contactId of contactsWithEvent(message, contacts)) {
      log.records.push(messageEvent(tx.id, contactId, result.threadId, message, now))
      const before = seen.get(contactId)
      const at = before && before.at < message.sentAt ? before.at : message.sentAt
      seen.set(contactId, { at, name: nameIn(message, contactId, contacts) ?? before?.name ?? null })
    }
  }
  await noteSeen(tx, log, seen, enrich, now)
  return results
}

/** What messages show of a contact: the time of the earliest, and the name beside the address in the last mail. */
interface Seen {
  at: Date
  name: string | null
}

async function recordOne(
  tx: Tenant,
  context: RecordContext,
  message: CleanMessage,
): Promise<{ result: RecordedMessage; isEvent: boolean }> {
  const key = identityOf(message)
  const known = context.known.get(key)
  if (known) {
    const result = { status: 'known', threadId: known.threadId, isNewThread: false } as const
    // A mail between the tenant's own people was found in the recipient's inbox first, and now in the sender's folder.
    const isNowOutbound = known.direction === 'inbound' && message.direction === 'outbound'
    if (isNowOutbound) {
      await markSent(tx, message)
      known.direction = 'outbound'
    }
    return { result, isEvent: isNowOutbound }
  }
  const isMail = message.threadKey === null
  const linked = isMail ? await linkedThreads(tx, message) : []
  if (isMail && linked.length === 0 && !involvesContact(message, context)) {
    return { result: { status: 'ignored', threadId: null, isNewThread: false }, isEvent: false }
  }
  const { threadId, isNew, mergedIds } = await findThread(
    tx,
    message,
    linked,
    counterpartsOf(message, context),
    context.now,
  )
  await storeMessage(tx, threadId, message, context.now)
  await addToThread(tx, threadId, message)
  context.known.set(key, { threadId, direction: message.direction })
  for (const each of context.known.values()) if (mergedIds.includes(each.threadId)) each.threadId = threadId
  return { result: { status: 'recorded', threadId, isNewThread: isNew }, isEvent: true }
}

/** Whether a participant other than the tenant's own people is a contact. */
function involvesContact(message: CleanMessage, context: RecordContext): boolean {
  return contactKeysOf(participantsOf(message), message.source, context).length > 0
}

/** The addresses of the contacts that a mail is with: its sender if that is a contact, else all participants. */
function counterpartsOf({ direction, from, to, cc, source }: CleanMessage, context: RecordContext): string[] {
  const writer = direction === 'inbound' ? contactKeysOf([from], source, context) : []
  const keys = writer.length > 0 ? writer : contactKeysOf([from, ...to, ...cc], source, context)
  return keys.flatMap(({ directory, key }) => (directory === EMAIL_DIRECTORY ? [key] : []))
}

/** The keys of people who are contacts and not the tenant's own people. */
function contactKeysOf(
  people: readonly Participant[],
  source: string,
  { contacts, own }: RecordContext,
): ParticipantKey[] {
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
    sender: JSON.stringify(addressAndName(message.from)),
    recipients: JSON.stringify(message.to.map(addressAndName)),
    cc: JSON.stringify(message.cc.map(addressAndName)),
    sent_at: message.sentAt,
    text: message.text,
    html: message.html,
    attachments: JSON.stringify(message.attachments),
    is_automatic: message.isAutomatic,
    identity_id: message.identityId,
  }
}

/**
 * The copy in the sender's folder is authoritative. One with the same id in an inbox may be forged: every recipient knows
 * the id and could send different content under it.
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

function addressAndName({ address, name }: Participant) {
  return { address, name }
}

/** Moves `first_seen_at` of contacts back to their earliest message, and lets contacts without a name have that of their mails. */
async function noteSeen(
  tx: Tenant,
  log: ChangeLog,
  seen: ReadonlyMap<string, Seen>,
  enrich: EnrichContacts,
  now: Date,
): Promise<void> {
  if (seen.size === 0) return
  const set = await openSet(tx, [{ contactIds: [...seen.keys()] }])
  for (const [contactId, { at, name }] of seen) {
    const state = set.contact(contactId)
    if (!state) continue
    setSeenBefore(set, state, at)
    if (name !== null) set.addFacts(state, { nameInMail: name })
  }
  await enrich(tx, set, now)
  await storeSet(tx, log, set)
}
