import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { firstCharacters } from '../platform/characters.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { MessageObject } from './conversation-object.ts'
import type { MessageAttachment } from './message.ts'

/** The limit for the texts and HTML of a response. Messages beyond it are cut. */
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024
const CUT_TEXT_LENGTH = 1_000

/** The newest messages of each thread, newest first, by thread id. @param newer how many to leave out before them. */
export async function newestMessages(
  tenant: Tenant,
  threadIds: readonly string[],
  perThread: number,
  newer = 0,
): Promise<Map<string, MessageObject[]>> {
  if (threadIds.length === 0) return new Map()
  const threads = await tenant.db
    .selectFrom('conversation_threads')
    .select('thread_id')
    .select((from) =>
      // One index range per thread, because a thread may have any number of messages. The texts are read later: together they
      // could be gigabytes.
      jsonArrayFrom(
        from
          .selectFrom('conversation_messages')
          .select(['source', 'message_id'])
          .select(sql<number>`octet_length(text) + coalesce(octet_length(html), 0)`.as('bytes'))
          .whereRef('conversation_messages.thread_id', '=', 'conversation_threads.thread_id')
          .orderBy('conversation_messages.sent_at', 'desc')
          .orderBy('conversation_messages.message_id', 'desc')
          .limit(perThread)
          .offset(newer),
      ).as('messages'),
    )
    .where('thread_id', 'in', threadIds)
    .execute()
  const byThread = new Map(threads.map(({ thread_id, messages }) => [thread_id, messages]))
  const wanted = threadIds.flatMap((threadId) => byThread.get(threadId) ?? [])
  let bytes = 0
  const whole = wanted.filter((message) => {
    bytes += message.bytes
    return bytes <= RESPONSE_BYTES_MAX
  })
  return readMessages(tenant, wanted, new Set(whole.map(({ message_id }) => message_id)))
}

interface Wanted {
  source: string
  message_id: string
}

async function readMessages(
  tenant: Tenant,
  wanted: readonly Wanted[],
  whole: ReadonlySet<string>,
): Promise<Map<string, MessageObject[]>> {
  if (wanted.length === 0) return new Map()
  const isWhole = sql<boolean>`message_id = any(${[...whole]})`
  const sources = [...new Set(wanted.map(({ source }) => source))]
  const rows = await tenant.db
    .selectFrom('conversation_messages')
    .select(['thread_id', 'source', 'message_id', 'direction', 'sender', 'recipients', 'cc', 'sent_at', 'attachments'])
    .select(isWhole.as('is_whole'))
    .select(sql<string>`CASE WHEN ${isWhole} THEN text ELSE left(text, ${CUT_TEXT_LENGTH}) END`.as('text'))
    .select(sql<string | null>`CASE WHEN ${isWhole} THEN html END`.as('html'))
    .where('source', '=', sql<string>`any(${sources})`)
    .where('message_id', '=', sql<string>`any(${wanted.map(({ message_id }) => message_id)})`)
    .execute()
  const wantedIds = new Set(wanted.map(identityOf))
  let bytes = 0
  rows.sort((a, b) => b.sent_at.getTime() - a.sent_at.getTime() || (a.message_id < b.message_id ? 1 : -1))
  const messages = new Map<string, MessageObject[]>()
  for (const row of rows) {
    // Two tools may use the same id.
    if (!wantedIds.has(identityOf(row))) continue
    // JSON escapes may make the text longer.
    bytes += row.is_whole ? Buffer.byteLength(JSON.stringify([row.text, row.html])) : 0
    const isCut = !row.is_whole || bytes > RESPONSE_BYTES_MAX
    const ofThread = messages.get(row.thread_id) ?? []
    messages.set(row.thread_id, ofThread)
    ofThread.push({
      message_id: row.message_id,
      direction: row.direction as MessageObject['direction'],
      from: row.sender as unknown as MessageObject['from'],
      to: row.recipients as unknown as MessageObject['to'],
      cc: row.cc as unknown as MessageObject['cc'],
      sent_at: row.sent_at.toISOString(),
      text: isCut ? firstCharacters(row.text, CUT_TEXT_LENGTH) : row.text,
      ...(row.html === null || isCut ? {} : { html: row.html }),
      attachments: (row.attachments as unknown as MessageAttachment[]).map(({ filename, contentType, bytes }) => ({
        filename,
        content_type: contentType,
        bytes,
      })),
      ...(isCut ? { truncated: true as const } : {}),
    })
  }
  return messages
}

function identityOf({ source, message_id }: Wanted): string {
  return `${source}\n${message_id}`
}
