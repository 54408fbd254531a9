import { sql } from 'kysely'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { eraseSuppression } from './suppressions.ts'

/**
 * Erases the recipients of mails and the sandbox's copies of social messages. The record that a mail was sent stays,
 * without its recipient, because the identity's limits count it. A suppression of the address stays as a digest.
 * @param keys idempotency keys of the messages that agents sent to the contact.
 */
export async function eraseMails(tx: Tenant, { email }: ErasureSubject, keys: readonly string[]) {
  const mails = await tx.db
    .updateTable('mail_sends')
    .set({ recipient: '', response: null, contact_id: null, unsubscribe_hash: null })
    .where((eb) =>
      eb.or([
        ...(email === null ? [] : [eb('recipient', '=', email)]),
        eb.and([sql<boolean>`message_id = any(${keys}::text[])`, eb('recipient', '<>', '')]),
      ]),
    )
    .executeTakeFirst()
  const messages = await tx.db
    .deleteFrom('social_sandbox_outbox')
    .where(sql<boolean>`idempotency_key = any(${keys}::text[])`)
    .executeTakeFirst()
  return {
    mails: Number(mails.numUpdatedRows),
    social_messages: Number(messages.numDeletedRows),
    suppressions: email === null ? 0 : await eraseSuppression(tx, email),
  }
}
