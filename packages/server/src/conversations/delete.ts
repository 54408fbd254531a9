import { type ExpressionBuilder, sql } from 'kysely'
import { ownAddresses } from '../identities/email-accounts.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'
import { keysOfContact } from './participants.ts'
import { hasParticipant } from './read.ts'
import { lockConversations } from './threads.ts'

/**
 * Deletes the conversations in which no other contact takes part. Call it in the transaction that deletes the contact
 * and has locked its row.
 */
export async function deleteConversations(tx: Tenant, contactId: string): Promise<void> {
  const keys = await keysOfContact(tx, contactId)
  if (keys.length === 0) return
  await lockConversations(tx)
  // The tenant's own people may be contacts too. They do not count as other participants.
  const own = [...(await ownAddresses(tx))]
  await tx.db
    .deleteFrom('conversation_threads')
    .where((from) => hasParticipant(from as ExpressionBuilder<TenantTables, 'conversation_threads'>, keys))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversation_participants as other')
            .innerJoin('contacts', 'contacts.email', 'other.key')
            .select('contacts.contact_id')
            .whereRef('other.thread_id', '=', 'conversation_threads.thread_id')
            .where('other.directory', '=', EMAIL_DIRECTORY)
            .where(sql<boolean>`other.key <> all(${own}::text[])`)
            .where('contacts.contact_id', '<>', contactId),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversation_participants as other')
            .innerJoin('contact_sources', (join) =>
              join
                .onRef('contact_sources.source', '=', 'other.directory')
                .onRef('contact_sources.external_id', '=', 'other.key'),
            )
            .select('contact_sources.contact_id')
            .whereRef('other.thread_id', '=', 'conversation_threads.thread_id')
            .where('other.directory', '<>', EMAIL_DIRECTORY)
            .where('contact_sources.contact_id', '<>', contactId),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversation_participants as other')
            .innerJoin('contact_source_ids', (join) =>
              join
                .onRef('contact_source_ids.source', '=', 'other.directory')
                .onRef('contact_source_ids.external_id', '=', 'other.key'),
            )
            .select('contact_source_ids.contact_id')
            .whereRef('other.thread_id', '=', 'conversation_threads.thread_id')
            .where('other.directory', '<>', EMAIL_DIRECTORY)
            .where('contact_source_ids.contact_id', '<>', contactId),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversation_participants as other')
            .innerJoin('contact_aliases', 'contact_aliases.key', 'other.key')
            .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
            .select('contact_merges.survivor_id')
            .whereRef('other.thread_id', '=', 'conversation_threads.thread_id')
            .where(sql<boolean>`other.directory = CASE contact_aliases.kind
              WHEN 'email' THEN ${EMAIL_DIRECTORY} WHEN 'source' THEN contact_aliases.source END`)
            .where(sql<boolean>`other.key <> all(${own}::text[])`)
            .where('contact_merges.survivor_id', '<>', contactId),
        ),
      ),
    )
    .execute()
}
