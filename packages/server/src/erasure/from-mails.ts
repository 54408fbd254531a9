import { sql } from 'kysely'
import { eraseSuppression } from '../identities/suppressions.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ErasureSubject } from './subject.ts'

/**
 * Whom mails went to, and what the sandbox keeps of social messages. That a mail was sent stays, without its recipient:
 * its identity's limits count it. That the address gets no more mail stays as a digest.
 */
export async function eraseFromMails(tx: Tenant, { contactId, email }: ErasureSubject) {
  const actions = await tx.db
    .selectFrom('agent_actions')
    .select(sql<string | null>`execution ->> 'key'`.as('key'))
    .where('contact_id', '=', contactId)
    .execute()
  const keys = actions.flatMap(({ key }) => key ?? [])
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
  const letters = await tx.db
    .deleteFrom('social_sandbox_outbox')
    .where(sql<boolean>`idempotency_key = any(${keys}::text[])`)
    .executeTakeFirst()
  return {
    mails: Number(mails.numUpdatedRows),
    social_messages: Number(letters.numDeletedRows),
    suppressions: email === null ? 0 : await eraseSuppression(tx, email),
  }
}
