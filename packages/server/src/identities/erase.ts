import { sql } from 'kysely'
import type { ErasureSubject } from '../contacts/erasure-subject.ts'
import type { Tenant } from '../platform/tenant.ts'
import { eraseSuppression } from './suppressions.ts'

/**
 * The recipients of mails, and the sandbox's copies of social messages. That a mail was sent stays, without its
 * recipient, because its identity's limits count it. That the address gets no more mail stays as a digest.
 * @param keys of the messages that agents sent to the contact.
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
