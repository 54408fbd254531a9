import { sql } from 'kysely'
import { newId } from '../platform/ids.ts'
import { lock } from '../platform/postgres/locks.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { type CleanMessage, EMAIL_DIRECTORY, keysOf } from './clean.ts'
import type { Participant } from './message.ts'
import { participantsOf } from './participants.ts'

/** Mails with the same subject and a common participant belong to one thread if they are no further apart. */
const SUBJECT_WINDOW_DAYS = 30
/** A mail that refers to more threads joins the nearest one and merges none. */
const MERGED_MAX = 8
const LISTED_PARTICIPANTS_MAX = 100

/** Serializes the recording of a tenant's messages, so that concurrent messages find the same thread. */
export async function lockConversations(tx: Tenant): Promise<void> {
  await lock(tx.db, 'conversations', tx.id)
}

/** The threads of a mail's own id and its references, nearest reference first. */
export async function linkedThreads(tx: Tenant, { source, messageId, links }: CleanMessage): Promise<string[]> {
  const ids = [messageId, ...links.toReversed()]
  const rows = await tx.db
    .selectFrom('conversation_references')
    .select(['message_id', 'thread_id'])
    .where('source', '=', source)
    .where('message_id', '=', sql<string>`any(${ids})`)
    .execute()
  const byId = new Map(rows.map((row) => [row.message_id, row.thread_id]))
  return [...new Set(ids.flatMap((id) => byId.get(id) ?? []))]
}

export interface FoundThread {
  threadId: string
  isNew: boolean
  /** Threads that were merged into this one. */
  mergedIds: readonly string[]
}

/**
 * Finds or creates the thread of a message.
 * @param linked the result of `linkedThreads`.
 * @param counterparts addresses of the contacts that the mail is with. A thread with the same subject must have one of
 * them. Other common addresses, such as one that receives all the tenant's mail, do not count.
 */
export async function findThread(
  tx: Tenant,
  message: CleanMessage,
  linked: readonly string[],
  counterparts: readonly string[],
  now: Date,
): Promise<FoundThread> {
  const joined = await mergeLinked(tx, linked)
  if (joined !== null) return joined
  const known =
    message.threadKey === null
      ? await threadOfSubject(tx, message, counterparts)
      : await threadOfKey(tx, message.source, message.threadKey)
  if (known !== null) return { threadId: known, isNew: false, mergedIds: [] }
  const threadId = newId()
  await tx.db
    .insertInto('conversation_threads')
    .values({
      thread_id: threadId,
      channel: message.channel,
      source: message.source,
      thread_key: message.threadKey,
      subject: message.subject,
      subject_key: message.subjectKey,
      participants: '[]',
      message_count: 0,
      last_message_at: message.sentAt,
      last_message_id: message.messageId,
      created_at: now,
    })
    .execute()
  return { threadId, isNew: true, mergedIds: [] }
}

/** Updates a thread with a newly stored message. */
export async function addToThread(tx: Tenant, threadId: string, message: CleanMessage): Promise<void> {
  const thread = await tx.db
    .selectFrom('conversation_threads')
    .select(['subject', 'thread_key', 'participants', 'last_message_at', 'last_message_id', 'subject_key'])
    .where('thread_id', '=', threadId)
    .executeTakeFirstOrThrow()
  const isLast =
    message.sentAt > thread.last_message_at ||
    (message.sentAt.getTime() === thread.last_message_at.getTime() && message.messageId >= thread.last_message_id)
  // A tool's thread takes the tool's latest title; a mail thread keeps its first subject.
  const isRenamed = message.subject !== null && (thread.subject === null || thread.thread_key !== null)
  await tx.db
    .updateTable('conversation_threads')
    .set(({ eb }) => ({
      message_count: eb('message_count', '+', 1),
      participants: JSON.stringify(
        mergeParticipants(thread.participants as unknown as Participant[], participantsOf(message)),
      ),
      ...(isRenamed ? { subject: message.subject, subject_key: message.subjectKey } : {}),
      ...(isLast ? { last_message_at: message.sentAt, last_message_id: message.messageId } : {}),
    }))
    .where('thread_id', '=', threadId)
    .execute()
  const keys = participantsOf(message).flatMap((participant) => keysOf(participant, message.source))
  if (keys.length > 0) {
    await tx.db
      .insertInto('conversation_participants')
      .values(keys.map((each) => ({ ...each, thread_id: threadId })))
      .onConflict((row) => row.columns(['directory', 'key', 'thread_id']).doNothing())
      .execute()
  }
  if (message.threadKey !== null) return
  await tx.db
    .insertInto('conversation_references')
    .values([message.messageId, ...message.links].map((id) => referenceOf(message.source, id, threadId)))
    .onConflict((row) => row.columns(['source', 'message_id']).doNothing())
    .execute()
}

function referenceOf(source: string, messageId: string, threadId: string) {
  return { source, message_id: messageId, thread_id: threadId }
}

async function threadOfKey(tx: Tenant, source: string, threadKey: string): Promise<string | null> {
  const thread = await tx.db
    .selectFrom('conversation_threads')
    .select('thread_id')
    .where('source', '=', source)
    .where('thread_key', '=', threadKey)
    .executeTakeFirst()
  return thread?.thread_id ?? null
}

async function threadOfSubject(
  tx: Tenant,
  message: CleanMessage,
  counterparts: readonly string[],
): Promise<string | null> {
  if (message.subjectKey === '' || counterparts.length === 0) return null
  const windowMs = SUBJECT_WINDOW_DAYS * DAY_MS
  const thread = await tx.db
    .selectFrom('conversation_threads')
    .select('thread_id')
    .where('source', '=', message.source)
    .where('thread_key', 'is', null)
    .where('subject_key', '=', message.subjectKey)
    .where('last_message_at', '>=', new Date(message.sentAt.getTime() - windowMs))
    .where('last_message_at', '<=', new Date(message.sentAt.getTime() + windowMs))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('conversation_participants')
          .select('conversation_participants.thread_id')
          .whereRef('conversation_participants.thread_id', '=', 'conversation_threads.thread_id')
          .where('directory', '=', EMAIL_DIRECTORY)
          .where('key', '=', sql<string>`any(${counterparts})`),
      ),
    )
    .orderBy('last_message_at', 'desc')
    .orderBy('thread_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return thread?.thread_id ?? null
}

/**
 * Merges the threads that a mail links into the oldest one. They are separate if a reply arrived before the mail that it
 * replies to.
 */
async function mergeLinked(tx: Tenant, linked: readonly string[]): Promise<FoundThread | null> {
  const [nearest] = linked
  if (nearest === undefined) return null
  if (linked.length === 1 || linked.length > MERGED_MAX) return { threadId: nearest, isNew: false, mergedIds: [] }
  const threads = await tx.db
    .selectFrom('conversation_threads')
    .selectAll()
    .where('thread_id', 'in', linked)
    .orderBy('thread_id')
    .execute()
  const [kept, ...others] = threads
  if (!kept) return null
  for (const other of others) {
    await moveRows(tx, other.thread_id, kept.thread_id)
    await tx.db.deleteFrom('conversation_threads').where('thread_id', '=', other.thread_id).execute()
  }
  const latest = threads.reduce((a, b) => (b.last_message_at > a.last_message_at ? b : a))
  const participants = threads.flatMap((thread) => thread.participants as unknown as Participant[])
  await tx.db
    .updateTable('conversation_threads')
    .set({
      message_count: threads.reduce((sum, { message_count }) => sum + message_count, 0),
      participants: JSON.stringify(mergeParticipants([], participants)),
      last_message_at: latest.last_message_at,
      last_message_id: latest.last_message_id,
    })
    .where('thread_id', '=', kept.thread_id)
    .execute()
  return { threadId: kept.thread_id, isNew: false, mergedIds: others.map(({ thread_id }) => thread_id) }
}

async function moveRows(tx: Tenant, from: string, to: string): Promise<void> {
  for (const table of ['conversation_messages', 'conversation_references'] as const) {
    await tx.db.updateTable(table).set({ thread_id: to }).where('thread_id', '=', from).execute()
  }
  const keys = await tx.db
    .selectFrom('conversation_participants')
    .select(['directory', 'key'])
    .where('thread_id', '=', from)
    .execute()
  if (keys.length === 0) return
  await tx.db
    .insertInto('conversation_participants')
    .values(keys.map((each) => ({ ...each, thread_id: to })))
    .onConflict((row) => row.columns(['directory', 'key', 'thread_id']).doNothing())
    .execute()
}

/** Lists each participant once, with the first known name. */
function mergeParticipants(before: readonly Participant[], more: readonly Participant[]) {
  const all = new Map<string, { address: string | null; name: string | null }>()
  for (const { address, name, externalId } of [...before, ...more]) {
    // A participant with only an id has nothing to display.
    if (address === null && name === null) continue
    const identity = address ?? externalId ?? name ?? ''
    const known = all.get(identity)
    if (known) known.name ??= name
    else if (all.size < LISTED_PARTICIPANTS_MAX) all.set(identity, { address, name })
  }
  return [...all.values()]
}
