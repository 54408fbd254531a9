import { type ExpressionBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { missingContact } from '../contacts/aliases.ts'
import { identifiersOf } from '../contacts/identifiers.ts'
import { notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ParticipantKey } from './clean.ts'
import type { ConversationObject, EmailThreadObject } from './conversation-object.ts'
import { newestMessages } from './messages.ts'
import { keysIn, keysOfContact } from './participants.ts'

const THREAD_COLUMNS = [
  'thread_id',
  'channel',
  'source',
  'subject',
  'participants',
  'message_count',
  'last_message_at',
] as const

export interface ConversationOptions {
  includeMessages: boolean
  messagesPerThread: number
  page: Page
}

/**
 * The conversations in which a contact takes part, by its address or its id in a tool, latest first.
 * @returns one page and the total number.
 * @throws ServiceError 404 for an unknown contact.
 */
export async function conversationsOf(
  tenant: Tenant,
  contactId: string,
  { includeMessages, messagesPerThread, page }: ConversationOptions,
): Promise<{ conversations: ConversationObject[]; total: number }> {
  const keys = await keysOfExistingContact(tenant, contactId)
  if (keys.length === 0) return { conversations: [], total: 0 }
  const rows = await tenant.db
    .selectFrom('conversation_threads')
    .select(THREAD_COLUMNS)
    .where((from) => hasParticipant(from, keys))
    .orderBy('last_message_at', 'desc')
    .orderBy('thread_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const threadIds = rows.map(({ thread_id }) => thread_id)
  const [total, messages] = await Promise.all([
    page.page === 1 && rows.length < page.limit ? rows.length : countThreads(tenant, keys),
    includeMessages ? newestMessages(tenant, threadIds, messagesPerThread) : null,
  ])
  const conversations = rows.map((row) => ({
    ...toConversation(row),
    ...(messages ? { messages: messages.get(row.thread_id) ?? [] } : {}),
  }))
  return { conversations, total }
}

/**
 * A conversation in which a contact takes part, with one page of its messages, newest first.
 * @throws ServiceError 404 for an unknown contact, and for a conversation of others.
 */
export async function readConversation(
  tenant: Tenant,
  contactId: string,
  threadId: string,
  page: Page,
): Promise<ConversationObject> {
  const keys = await keysOfExistingContact(tenant, contactId)
  const row = await tenant.db
    .selectFrom('conversation_threads')
    .select(THREAD_COLUMNS)
    .where('thread_id', '=', threadId)
    .where((from) => (keys.length === 0 ? from.lit(false) : hasParticipant(from, keys)))
    .executeTakeFirst()
  if (!row) throw notFound('conversation')
  const messages = await newestMessages(tenant, [threadId], page.limit, offsetOf(page))
  return { ...toConversation(row), messages: messages.get(threadId) ?? [] }
}

/**
 * One page of the email threads of a contact, latest first, and the total number.
 * @throws ServiceError 404 for an unknown contact.
 */
export async function emailThreadsOf(
  tenant: Tenant,
  contactId: string,
  page: Page,
): Promise<{ emailThreads: EmailThreadObject[]; total: number }> {
  const keys = await keysOfExistingContact(tenant, contactId)
  if (keys.length === 0) return { emailThreads: [], total: 0 }
  const emailThreads = await tenant.db
    .selectFrom('conversation_threads')
    .select(['thread_id', 'last_message_id', 'subject'])
    .where('channel', '=', 'email')
    .where((from) => hasParticipant(from, keys))
    .orderBy('last_message_at', 'desc')
    .orderBy('thread_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const isAll = page.page === 1 && emailThreads.length < page.limit
  return { emailThreads, total: isAll ? emailThreads.length : await countThreads(tenant, keys, 'email') }
}

export interface InboundMessage {
  threadId: string
  messageId: string
  sentAt: Date
}

/** The latest message that a contact wrote at or after a time, without automatic replies. */
export async function lastInboundFrom(tenant: Tenant, contactId: string, since: Date): Promise<InboundMessage | null> {
  const keys = await keysOfContact(tenant, contactId)
  if (keys.length === 0) return null
  const row = await tenant.db
    .selectFrom('conversation_messages')
    .innerJoin('conversation_participants', 'conversation_participants.thread_id', 'conversation_messages.thread_id')
    .select(['conversation_messages.thread_id', 'message_id', 'sent_at'])
    .where(({ or, and, eb }) =>
      or(
        keys.map(({ directory, key }) =>
          and([
            eb('conversation_participants.directory', '=', directory),
            eb('conversation_participants.key', '=', key),
            eb('sender_directory', '=', directory),
            eb('sender_key', '=', key),
          ]),
        ),
      ),
    )
    .where('direction', '=', 'inbound')
    .where('is_automatic', '=', false)
    .where('sent_at', '>=', since)
    .orderBy('sent_at', 'desc')
    .orderBy('message_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? { threadId: row.thread_id, messageId: row.message_id, sentAt: row.sent_at } : null
}

function toConversation(
  row: Pick<Selectable<TenantTables['conversation_threads']>, (typeof THREAD_COLUMNS)[number]>,
): ConversationObject {
  return {
    thread_id: row.thread_id,
    channel: row.channel as ConversationObject['channel'],
    source: row.source,
    subject: row.subject,
    participants: row.participants as unknown as ConversationObject['participants'],
    message_count: row.message_count,
    last_message_at: row.last_message_at.toISOString(),
  }
}

/** A condition on threads: one of the keys is a participant. */
export function hasParticipant(
  from: ExpressionBuilder<TenantTables, 'conversation_threads'>,
  keys: readonly ParticipantKey[],
) {
  return from(
    'conversation_threads.thread_id',
    'in',
    from
      .selectFrom('conversation_participants')
      .select('conversation_participants.thread_id')
      .where(({ or }) => or(keysByDirectory(keys))),
  )
}

function keysByDirectory(keys: readonly ParticipantKey[]) {
  return [...Map.groupBy(keys, ({ directory }) => directory)].map(
    ([directory, ofDirectory]) =>
      sql<SqlBool>`(conversation_participants.directory = ${directory}
        AND conversation_participants.key = any(${ofDirectory.map(({ key }) => key)}))`,
  )
}

async function countThreads(tenant: Tenant, keys: readonly ParticipantKey[], channel?: 'email'): Promise<number> {
  let query = tenant.db
    .selectFrom('conversation_threads')
    .select(({ fn }) => fn.countAll().as('threads'))
    .where((from) => hasParticipant(from, keys))
  if (channel) query = query.where('channel', '=', channel)
  const { threads } = await query.executeTakeFirstOrThrow()
  return Number(threads)
}

async function keysOfExistingContact(tenant: Tenant, contactId: string): Promise<ParticipantKey[]> {
  const identifiers = await identifiersOf(tenant, contactId)
  if (identifiers === null) throw await missingContact(tenant, contactId)
  return keysIn(identifiers)
}
