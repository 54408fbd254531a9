import { sql } from 'kysely'
import type { KeyOfContact } from '../contacts/identifiers-of-many.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'

/** A contact, and a time in which a message of theirs counts as a reply. */
export interface AwaitedReply {
  contactId: string
  after: Date
  /** Inclusive. */
  until: Date
}

/**
 * Which of some awaited replies came, by their place in the list: a message from the contact in any conversation, apart from
 * automatic ones.
 * @param keys those of the contacts
 */
export async function repliesThatCame(
  tenant: Tenant,
  awaited: readonly AwaitedReply[],
  keys: readonly KeyOfContact[],
): Promise<Set<number>> {
  const keysOf = Map.groupBy(
    // The directory `email` is reserved for addresses.
    keys.filter(({ source }) => source !== EMAIL_DIRECTORY),
    ({ contactId }) => contactId,
  )
  const asked = awaited.flatMap(({ contactId, after, until }, place) =>
    (keysOf.get(contactId) ?? []).map(({ source, key }) => ({
      ...{ place, directory: source ?? EMAIL_DIRECTORY, key },
      ...{ after: after.toISOString(), until: until.toISOString() },
    })),
  )
  if (asked.length === 0) return new Set()
  const column = (name: keyof (typeof asked)[number]) => asked.map((each) => each[name])
  const rows = await tenant.db
    .selectFrom(
      sql<{ place: number; directory: string; key: string; after: Date; until: Date }>`unnest(${column('place')}::int[],
        ${column('directory')}::text[], ${column('key')}::text[], ${column('after')}::timestamptz[],
        ${column('until')}::timestamptz[])`.as<'asked'>(sql`asked (place, directory, key, after, until)`),
    )
    .innerJoin('conversation_participants', (join) =>
      join
        .onRef('conversation_participants.directory', '=', 'asked.directory')
        .onRef('conversation_participants.key', '=', 'asked.key'),
    )
    .innerJoin('conversation_messages', 'conversation_messages.thread_id', 'conversation_participants.thread_id')
    .select('asked.place')
    .distinct()
    .where('conversation_messages.direction', '=', 'inbound')
    .where('conversation_messages.is_automatic', '=', false)
    .whereRef('conversation_messages.sender_directory', '=', 'asked.directory')
    .whereRef('conversation_messages.sender_key', '=', 'asked.key')
    .whereRef('conversation_messages.sent_at', '>', 'asked.after')
    .whereRef('conversation_messages.sent_at', '<=', 'asked.until')
    .execute()
  return new Set(rows.map(({ place }) => place))
}
