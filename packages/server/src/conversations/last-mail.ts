import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'
import { keysOfContact } from './participants.ts'

/** When mail was last exchanged with a contact; automatic replies do not count. */
export interface LastMail {
  sentAt: Date | null
  receivedAt: Date | null
}

export async function lastMailWith(tenant: Tenant, contactId: string): Promise<LastMail> {
  const addresses = (await keysOfContact(tenant, contactId)).flatMap(({ directory, key }) =>
    directory === EMAIL_DIRECTORY ? [key] : [],
  )
  if (addresses.length === 0) return { sentAt: null, receivedAt: null }
  const rows = await tenant.db
    .selectFrom('conversation_messages')
    .innerJoin('conversation_participants', 'conversation_participants.thread_id', 'conversation_messages.thread_id')
    .innerJoin('conversation_threads', 'conversation_threads.thread_id', 'conversation_messages.thread_id')
    .select(['direction', ({ fn }) => fn.max('sent_at').as('at')])
    .where('channel', '=', 'email')
    .where('is_automatic', '=', false)
    .where('conversation_participants.directory', '=', EMAIL_DIRECTORY)
    .where('conversation_participants.key', '=', sql<string>`any(${addresses}::text[])`)
    .where(({ or, eb }) =>
      or([eb('direction', '=', 'outbound'), eb('sender_key', '=', sql<string>`any(${addresses}::text[])`)]),
    )
    .groupBy('direction')
    .execute()
  const at = (direction: string) => rows.find((row) => row.direction === direction)?.at ?? null
  return { sentAt: at('outbound'), receivedAt: at('inbound') }
}
