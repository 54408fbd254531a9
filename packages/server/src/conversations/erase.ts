import { type RawBuilder, sql } from 'kysely'
import { mentionPattern, replacedPattern } from '../contacts/erasure-subject.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { lockConversations } from './threads.ts'

/**
 * Erases a contact from conversations with others: the content of its messages, its names, and its address where others
 * mention it. Conversations of the contact alone are deleted with it. The emptied messages stay, so that a mailbox that
 * is read again recognizes their ids and does not restore them.
 */
export async function eraseFromConversations(
  tx: Tenant,
  { keys, email }: ErasureSubject,
): Promise<Record<string, number>> {
  if (keys.length === 0) return {}
  await lockConversations(tx)
  const isOfSubject = (directory: string, key: string) => {
    const each = keys.map((known) => sql`${sql.ref(directory)} = ${known.directory} AND ${sql.ref(key)} = ${known.key}`)
    return sql<boolean>`(${sql.join(each, sql` OR `)})`
  }
  const found = await tx.db
    .selectFrom('conversation_participants')
    .select('thread_id')
    .distinct()
    .where(isOfSubject('directory', 'key'))
    .execute()
  const threads = sql<boolean>`thread_id = any(${found.map(({ thread_id }) => thread_id)}::uuid[])`
  const written = await tx.db
    .updateTable('conversation_messages')
    .set({ text: '[erased]', html: null, attachments: '[]', sender: ERASED_SENDER, sender_key: null })
    .where(threads)
    .where(isOfSubject('sender_directory', 'sender_key'))
    .executeTakeFirst()
  await tx.db
    .updateTable('conversation_messages')
    .set({ recipients: withoutSubject('recipients', email), cc: withoutSubject('cc', email) })
    .where(threads)
    .execute()
  await tx.db
    .updateTable('conversation_threads')
    .set({ participants: withoutSubject('participants', email) })
    .where(threads)
    .execute()
  await tx.db.deleteFrom('conversation_participants').where(isOfSubject('directory', 'key')).execute()
  return { messages: Number(written.numUpdatedRows), mentions_in_messages: await eraseMentions(tx, email) }
}

const ERASED_SENDER = '{"name": null, "address": null}'

/** A person without an address is erased too: it may be the contact, known only by a tool's id. */
function withoutSubject(column: string, email: string | null): RawBuilder<string> {
  return sql<string>`(SELECT coalesce(jsonb_agg(CASE
      WHEN person ->> 'address' IS NULL OR person ->> 'address' = ${email}::text THEN ${ERASED_SENDER}::jsonb
      ELSE person END), '[]')
    FROM (SELECT jsonb_array_elements(${sql.ref(column)}) AS person) AS listed)`
}

/** Erases the address from texts and names of others. */
async function eraseMentions(tx: Tenant, email: string | null): Promise<number> {
  if (email === null) return 0
  const replaced = <Value>(column: string, type: 'text' | 'jsonb') =>
    sql<Value>`regexp_replace(${sql.ref(column)}::text, ${replacedPattern(email)}, '\\1[erased]', 'gi')::${sql.raw(type)}`
  const mentions = (column: string) => sql<boolean>`${sql.ref(column)}::text ~* ${mentionPattern(email)}`
  const messages = await tx.db
    .updateTable('conversation_messages')
    .set({
      text: replaced<string>('text', 'text'),
      html: replaced<string | null>('html', 'text'),
      sender: replaced<string>('sender', 'jsonb'),
      recipients: replaced<string>('recipients', 'jsonb'),
      cc: replaced<string>('cc', 'jsonb'),
      attachments: replaced<string>('attachments', 'jsonb'),
    })
    .where((eb) => eb.or(['text', 'html', 'sender', 'recipients', 'cc', 'attachments'].map(mentions)))
    .executeTakeFirst()
  await tx.db
    .updateTable('conversation_threads')
    .set({ subject: replaced<string | null>('subject', 'text'), subject_key: replaced<string>('subject_key', 'text') })
    .where((eb) => eb.or([mentions('subject'), mentions('subject_key')]))
    .execute()
  await tx.db
    .updateTable('conversation_threads')
    .set({ participants: replaced<string>('participants', 'jsonb') })
    .where(mentions('participants'))
    .execute()
  return Number(messages.numUpdatedRows)
}
