import type { Tenant } from '../../platform/tenant.ts'
import type { EmailAccount } from '../email-account.ts'
import { openEmailAccount } from '../email-accounts.ts'
import { suppress } from '../suppressions.ts'
import { newUnsubscribeToken } from '../unsubscribe/token.ts'
import { type ComposedMail, composeMail } from './compose.ts'
import { type Delivery, deliver } from './deliver.ts'
import type { MailDependencies } from './dependencies.ts'
import { beingSent, identityWithoutEmail, mailRefused, mailUnavailable, outcomeUnknown } from './errors.ts'
import { checkOutgoing, type OutgoingMail } from './outgoing.ts'
import { claimSend, type MailSend, markRecorded, markSent, markUnknown, releaseSend, type SendClaim } from './sends.ts'
import { findSentMessage, type SentFolderEntry, saveToSentFolder } from './sent-folder.ts'

/** A mail that the identity's mail server accepted. */
export interface SentMail {
  messageId: string
  sentAt: Date
  /** The accepted recipients. */
  accepted: string[]
  /** The server's final reply. */
  response: string
}

/** Status codes for a mailbox that does not exist (RFC 3463: 5.1.x addresses, 5.2.1 disabled). */
const NO_SUCH_MAILBOX = /\b5\.(1\.\d{1,3}|2\.1)\b/

/**
 * Sends a mail as an identity, at most once per message id, within the identity's limits, and records it as a message
 * of its contact.
 * @throws ServiceError 404; 400; `identity_without_email`, `recipient_suppressed`, `recipient_opted_out`, `mail_daily_limit`
 *   and `mail_spacing` (`retryAtOf` returns when to retry), `mail_refused` (permanent), `mail_unavailable` (temporary);
 *   `mail_in_progress`; `mail_outcome_unknown` if it may have been sent, in which case it is never resent.
 */
export async function sendMail(
  tenant: Tenant,
  dependencies: MailDependencies,
  wanted: OutgoingMail,
): Promise<SentMail> {
  const mail = checkOutgoing(wanted)
  const account = await openEmailAccount(tenant, dependencies, mail.identityId)
  if (!account) throw identityWithoutEmail()
  const now = dependencies.clock()
  const unsubscribe = mail.isOutreach ? newUnsubscribeToken(tenant.id) : null
  const url = unsubscribe ? `${dependencies.publicUrl}/unsubscribe/${unsubscribe.token}` : null
  const composed = await composeMail(account, mail, url, now)
  const claim = await claimSend(tenant, account, mail, unsubscribe?.hash ?? null, now)
  const send = claim.isNew
    ? await transmit(tenant, dependencies, account, mail, composed)
    : await resolveEarlier(tenant, dependencies, account, claim)
  const sentAt = send.sent_at ?? now
  if (send.recorded_at === null) {
    const { text, html } = composed
    await dependencies.recordSent(tenant, { account, mail, text, html, sentAt })
    await markRecorded(tenant, mail.messageId, dependencies.clock())
  }
  if (claim.isNew) await saveCopy(dependencies, account, { messageId: mail.messageId, sentAt }, composed)
  return { messageId: mail.messageId, sentAt, accepted: [mail.to], response: send.response ?? '' }
}

async function transmit(
  tenant: Tenant,
  dependencies: MailDependencies,
  account: EmailAccount,
  mail: OutgoingMail,
  { raw }: ComposedMail,
): Promise<MailSend> {
  const { connector, clock } = dependencies
  const delivery = await deliver(connector, account, mail.to, raw)
  if (delivery.outcome !== 'accepted') return handleFailure(tenant, dependencies, account, mail, delivery)
  return markSent(tenant, mail.messageId, clock(), delivery.response)
}

/** The mail has been sent, so a failure to save the copy is only logged. */
async function saveCopy(
  dependencies: MailDependencies,
  account: EmailAccount,
  sent: SentFolderEntry,
  { raw }: ComposedMail,
): Promise<void> {
  await saveToSentFolder(dependencies, account, sent, raw).catch((error) =>
    dependencies.log.warn(
      { err: error, identityId: account.identityId },
      'a sent mail could not be saved to the Sent folder',
    ),
  )
}

/**
 * Releases the claim of a mail that was not sent, or marks one that may have been sent as unknown. @throws ServiceError
 */
async function handleFailure(
  tenant: Tenant,
  dependencies: MailDependencies,
  account: EmailAccount,
  mail: OutgoingMail,
  delivery: Exclude<Delivery, { outcome: 'accepted' }>,
): Promise<MailSend> {
  if (delivery.outcome === 'unknown') {
    await markUnknown(tenant, mail.messageId)
    return findInSentFolder(tenant, dependencies, account, mail.messageId, delivery.cause)
  }
  await releaseSend(tenant, mail.messageId)
  const { error, stage, cause } = delivery
  if (stage === 'login') await noteLoginProblem(tenant, account, cause, error.text)
  if (delivery.outcome === 'unavailable') throw mailUnavailable(error.text, cause)
  if (stage === 'recipient' && NO_SUCH_MAILBOX.test(error.text)) {
    await suppress(tenant, { address: mail.to, reason: 'bounced', details: error.text }, dependencies.clock())
  }
  throw mailRefused(error.text, cause)
}

/** Stores a rejected login, so that the identity no longer counts as connected. */
async function noteLoginProblem(
  tenant: Tenant,
  { identityId, address }: EmailAccount,
  cause: unknown,
  reply: string,
): Promise<void> {
  const { code } = cause as { code?: string }
  // Other errors, such as an unavailable server, say nothing about the password.
  if (code !== 'EAUTH') return
  await tenant.db
    .updateTable('email_accounts')
    .set({ error: `SMTP: ${reply}` })
    .where('identity_id', '=', identityId)
    .where('address', '=', address)
    .execute()
}

/** Determines the outcome of an earlier send. */
async function resolveEarlier(
  tenant: Tenant,
  dependencies: MailDependencies,
  account: EmailAccount,
  { send, leaseLeftMs }: Extract<SendClaim, { isNew: false }>,
): Promise<MailSend> {
  if (send.status === 'sent') return send
  if (send.status === 'sending' && leaseLeftMs !== null) throw beingSent(leaseLeftMs, dependencies.clock())
  await markUnknown(tenant, send.message_id)
  return findInSentFolder(tenant, dependencies, account, send.message_id)
}

/**
 * Some providers store sent mail themselves, so the Sent folder can confirm a mail. @throws ServiceError
 * `mail_outcome_unknown`.
 */
async function findInSentFolder(
  tenant: Tenant,
  dependencies: MailDependencies,
  { identityId }: EmailAccount,
  messageId: string,
  cause?: unknown,
): Promise<MailSend> {
  const found = await findSentMessage(tenant, dependencies, identityId, messageId).catch(() => null)
  if (!found) throw outcomeUnknown(cause)
  return markSent(tenant, messageId, found.sentAt, 'found in the Sent folder')
}
