import type { ExpressionBuilder } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'
import { keysOfContact } from './participants.ts'
import { takesPart } from './read.ts'
import { takeConversations } from './threads.ts'

/**
 * Removes the conversations that only this contact, of all contacts, takes part in. Call it in the transaction that
 * removes the contact and holds its row.
 */
export async function forgetConversations(tx: Tenant, contactId: string): Promise<void> {
  const keys = await keysOfContact(tx, contactId)
  if (keys.length === 0) return
  await takeConversations(tx)
  await tx.db
    .deleteFrom('conversation_threads')
    .where((from) => takesPart(from as ExpressionBuilder<TenantTables, 'conversation_threads'>, keys))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversation_participants as other')
            .innerJoin('contacts', 'contacts.email', 'other.key')
            .select('contacts.contact_id')
            .whereRef('other.thread_id', '=', 'conversation_threads.thread_id')
            .where('other.directory', '=', EMAIL_DIRECTORY)
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
    .execute()
}
