import { type ExpressionBuilder, sql } from 'kysely'
import { contactsLedToBy } from '../contacts/identifiers.ts'
import { ownAddresses } from '../identities/email-accounts.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL_DIRECTORY } from './clean.ts'
import { keysOfContact } from './participants.ts'
import { hasParticipant } from './read.ts'
import { lockConversations } from './threads.ts'

const IS_EMAIL = sql`other.directory = ${EMAIL_DIRECTORY}`
const EMAIL = sql<string | null>`CASE WHEN ${IS_EMAIL} THEN other.key END`
const EXTERNAL_ID = sql<string | null>`CASE WHEN NOT ${IS_EMAIL} THEN other.key END`

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
  const contacts = contactsLedToBy(tx, {
    email: EMAIL,
    source: sql<string>`other.directory`,
    externalId: EXTERNAL_ID,
  })
  await tx.db
    .deleteFrom('conversation_threads')
    .where((from) => hasParticipant(from as ExpressionBuilder<TenantTables, 'conversation_threads'>, keys))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('conversation_participants as other')
            .select('other.key')
            .whereRef('other.thread_id', '=', 'conversation_threads.thread_id')
            .where(sql<boolean>`(NOT ${IS_EMAIL} OR other.key <> all(${own}::text[]))`)
            .where(sql<boolean>`${contactId}::uuid <> any ${contacts}`),
        ),
      ),
    )
    .execute()
}
