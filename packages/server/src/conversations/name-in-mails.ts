import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'
import { keysOfContact } from './participants.ts'

/** The name beside the address in the last mail that a contact wrote; null if there is none. */
export async function nameInMailsOf(tenant: Tenant, contactId: string): Promise<string | null> {
  const addresses = (await keysOfContact(tenant, contactId)).flatMap(({ directory, key }) =>
    directory === EMAIL_DIRECTORY ? [key] : [],
  )
  if (addresses.length === 0) return null
  const row = await tenant.db
    .selectFrom('conversation_messages')
    .innerJoin('conversation_participants', 'conversation_participants.thread_id', 'conversation_messages.thread_id')
    .select(sql<string>`sender ->> 'name'`.as('name'))
    .where('conversation_participants.directory', '=', EMAIL_DIRECTORY)
    .where('conversation_participants.key', '=', sql<string>`any(${addresses}::text[])`)
    .where('sender_directory', '=', EMAIL_DIRECTORY)
    .where('sender_key', '=', sql<string>`any(${addresses}::text[])`)
    .where('is_automatic', '=', false)
    .where(sql<boolean>`sender ->> 'name' <> ''`)
    .orderBy('sent_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.name ?? null
}
