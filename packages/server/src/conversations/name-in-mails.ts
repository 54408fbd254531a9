import { sql } from 'kysely'
import { emailsOf } from '../contacts/identifiers.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'

/** The names beside the addresses in the last mails that some contacts wrote. Those without a name are missing. */
export async function namesInMailsOf(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, string>> {
  const contacts = await emailsOf(tenant, contactIds)
  if (contacts.size === 0) return new Map()
  const isOne = sql<string>`any(${[...contacts.keys()]}::text[])`
  const rows = await tenant.db
    .selectFrom('conversation_messages')
    .innerJoin('conversation_participants', 'conversation_participants.thread_id', 'conversation_messages.thread_id')
    .distinctOn('sender_key')
    .select(['sender_key', 'sent_at', sql<string>`sender ->> 'name'`.as('name')])
    .where('conversation_participants.directory', '=', EMAIL_DIRECTORY)
    .where('conversation_participants.key', '=', isOne)
    .where('sender_directory', '=', EMAIL_DIRECTORY)
    .where('sender_key', '=', isOne)
    .whereRef('sender_key', '=', 'conversation_participants.key')
    .where('is_automatic', '=', false)
    .where(sql<boolean>`sender ->> 'name' <> ''`)
    .orderBy('sender_key')
    .orderBy('sent_at', 'desc')
    .execute()
  const names = new Map<string, string>()
  // A contact may have the addresses of others that were merged into it.
  for (const { sender_key, name } of rows.toSorted((a, b) => a.sent_at.getTime() - b.sent_at.getTime())) {
    const contactId = sender_key === null ? undefined : contacts.get(sender_key)
    if (contactId !== undefined) names.set(contactId, name)
  }
  return names
}
