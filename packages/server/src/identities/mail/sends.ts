import type { Selectable } from 'kysely'
import { consentOf } from '../../contacts/consent.ts'
import { keepContacts } from '../../contacts/locks.ts'
import { propertiesOfContacts } from '../../contacts/read.ts'
import { notFound } from '../../platform/errors.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { leaseEnd, leaseLeftMs } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { EmailAccount } from '../email-account.ts'
import { suppressionOf } from '../suppressions.ts'
import { identityWithoutEmail, limitReached, messageIdTaken, recipientOptedOut, recipientSuppressed } from './errors.ts'
import { nextSend } from './limits.ts'
import type { OutgoingMail } from './outgoing.ts'

const RETENTION_MS = 400 * DAY_MS

export type MailSend = Selectable<TenantTables['mail_sends']>

/** A new claim, or the record of an earlier one. */
export type SendClaim = { isNew: true } | { isNew: false; send: MailSend; leaseLeftMs: number | null }

/**
 * Claims the sending of a mail, which then counts towards the identity's limits. The claims of an identity are
 * serialized across processes, so that its limits hold and only one process sends a mail.
 * @throws ServiceError `identity_without_email`, `recipient_suppressed`, `recipient_opted_out`, `mail_daily_limit`,
 *   `mail_spacing`, `message_id_taken`.
 */
export async function claimSend(
  tenant: Tenant,
  account: EmailAccount,
  mail: OutgoingMail,
  unsubscribeHash: string | null,
  now: Date,
): Promise<SendClaim> {
  return tenant.transaction(async (tx) => {
    const locked = await tx.db
      .selectFrom('email_accounts')
      .select('identity_id')
      .where('identity_id', '=', account.identityId)
      .forUpdate()
      .executeTakeFirst()
    if (!locked) throw identityWithoutEmail()
    const earlier = await findSend(tx, mail.messageId)
    if (earlier) {
      const { lease_left_ms, ...send } = earlier
      if (send.identity_id !== account.identityId || send.recipient !== mail.to) throw messageIdTaken()
      return { isNew: false, send, leaseLeftMs: lease_left_ms }
    }
    const suppression = await suppressionOf(tx, mail.to)
    if (suppression) throw recipientSuppressed(suppression)
    await requireLimits(tx, account, now)
    const [contactId] = await keepContacts(tx, [mail.contactId])
    if (contactId === undefined) throw notFound('contact')
    const consent = consentOf((await propertiesOfContacts(tx, [contactId])).get(contactId) ?? {})
    if (consent) throw recipientOptedOut(consent)
    await deleteOldSends(tx, account.identityId, now)
    await tx.db
      .insertInto('mail_sends')
      .values({
        message_id: mail.messageId,
        identity_id: account.identityId,
        contact_id: contactId,
        recipient: mail.to,
        status: 'sending',
        claimed_at: now,
        claimed_until: leaseEnd('mail_send'),
        unsubscribe_hash: unsubscribeHash,
      })
      .execute()
    return { isNew: true }
  })
}

/** Releases a claim: the mail was definitely not sent. */
export async function releaseSend(tenant: Tenant, messageId: string): Promise<void> {
  await tenant.db.deleteFrom('mail_sends').where('message_id', '=', messageId).where('status', '=', 'sending').execute()
}

/** Records that the server accepted the mail. */
export async function markSent(tenant: Tenant, messageId: string, sentAt: Date, response: string): Promise<MailSend> {
  return tenant.db
    .updateTable('mail_sends')
    .set({ status: 'sent', sent_at: sentAt, response })
    .where('message_id', '=', messageId)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Records that the outcome is unknown. */
export async function markUnknown(tenant: Tenant, messageId: string): Promise<void> {
  await tenant.db
    .updateTable('mail_sends')
    .set({ status: 'unknown' })
    .where('message_id', '=', messageId)
    .where('status', '=', 'sending')
    .execute()
}

/** Records that the mail is stored as a message of its contact. */
export async function markRecorded(tenant: Tenant, messageId: string, now: Date): Promise<void> {
  await tenant.db.updateTable('mail_sends').set({ recorded_at: now }).where('message_id', '=', messageId).execute()
}

async function findSend(tx: Tenant, messageId: string) {
  const sends = tx.db.selectFrom('mail_sends').where('message_id', '=', messageId)
  return sends.selectAll().select(leaseLeftMs.as('lease_left_ms')).executeTakeFirst()
}

async function requireLimits(tx: Tenant, account: EmailAccount, now: Date): Promise<void> {
  const reached = await nextSend(tx, account, now)
  if (reached) throw limitReached(reached.code, reached.at, now)
}

/** After this time the unsubscribe link has expired, and no caller retries the mail. */
async function deleteOldSends(tx: Tenant, identityId: string, now: Date): Promise<void> {
  await tx.db
    .deleteFrom('mail_sends')
    .where('identity_id', '=', identityId)
    .where('claimed_at', '<', new Date(now.getTime() - RETENTION_MS))
    .execute()
}
