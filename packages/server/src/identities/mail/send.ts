import type { Tenant } from '../../platform/tenant.ts'
import type { EmailAccount } from '../email-account.ts'
import { openEmailAccount } from '../email-accounts.ts'
import { suppress } from '../suppressions.ts'
import { newUnsubscribeToken } from '../unsubscribe/token.ts'
import { type ComposedMail, composeMail } from './compose.ts'
import { type Delivery, deliver } from './deliver.ts'
import type { MailDependencies } from './dependencies.ts'
import { beingSent, identityWithoutEmail, mailRefused, mailUnavailable, outcomeUnknown } from './errors.ts'
import { noteLoginProblem } from './login-problem.ts'
import { checkOutgoing, type OutgoingMail } from './outgoing.ts'
import { type MailSend, markRecorded, markSent, markUnknown, releaseSend, reserveSend } from './reservation.ts'
import { type FoundMail, findSentMessage, keepInSent } from './sent-folder.ts'

/** A mail that the identity's mail server took. */
export interface SentMail {
  messageId: string
  sentAt: Date
  /** Addresses that it took the mail for. */
  accepted: string[]
  /** The server's last answer. */
  response: string
}

/** What a server answers about a mailbox that is not there (RFC 3463: 5.1.x addresses, 5.2.1 disabled). */
const NO_SUCH_MAILBOX = /\b5\.(1\.\d{1,3}|2\.1)\b/

/**
 * Sends a mail in the name of an identity, once for each message id however often it is called, within the identity's
 * limits, and keeps it as a message of its contact.
 * @throws ServiceError 404; 400; `identity_without_email`, `recipient_suppressed`, `mail_daily_limit` and
 *   `mail_spacing` (`retryAtOf` says until when), `mail_refused` for good, `mail_unavailable` for now;
 *   `mail_in_progress`, `mail_outcome_unknown` when it may have been sent, which is not tried again.
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
  const reservation = await reserveSend(tenant, account, mail, unsubscribe?.hash ?? null, now)
  const send = reservation.isNew
    ? await handOver(tenant, dependencies, account, mail, composed)
    : await settle(tenant, dependencies, account, reservation.send)
  const sentAt = send.sent_at ?? now
  if (send.recorded_at === null) {
    const { text, html } = composed
    await dependencies.recordSent(tenant, { account, mail, text, html, sentAt })
    await markRecorded(tenant, mail.messageId, dependencies.clock())
  }
  if (reservation.isNew) await keepCopy(dependencies, account, { messageId: mail.messageId, sentAt }, composed)
  return { messageId: mail.messageId, sentAt, accepted: [mail.to], response: send.response ?? '' }
}

async function handOver(
  tenant: Tenant,
  dependencies: MailDependencies,
  account: EmailAccount,
  mail: OutgoingMail,
  { raw }: ComposedMail,
): Promise<MailSend> {
  const { connector, clock } = dependencies
  const delivery = await deliver(connector, account, mail.to, raw)
  if (delivery.outcome !== 'accepted') return explain(tenant, dependencies, account, mail, delivery)
  return markSent(tenant, mail.messageId, clock(), delivery.response)
}

/** The mail is out: a copy that cannot be kept is no reason to call that a failure. */
async function keepCopy(
  dependencies: MailDependencies,
  account: EmailAccount,
  sent: FoundMail,
  { raw }: ComposedMail,
): Promise<void> {
  await keepInSent(dependencies, account, sent, raw).catch((error) =>
    dependencies.log.warn(
      { err: error, identityId: account.identityId },
      'a sent mail could not be put into the Sent folder',
    ),
  )
}

/** @throws ServiceError for a mail that did not go out, or may not have. */
async function explain(
  tenant: Tenant,
  dependencies: MailDependencies,
  account: EmailAccount,
  mail: OutgoingMail,
  delivery: Exclude<Delivery, { outcome: 'accepted' }>,
): Promise<MailSend> {
  if (delivery.outcome === 'unknown') {
    await markUnknown(tenant, mail.messageId)
    return lookUp(tenant, dependencies, account, mail.messageId, delivery.cause)
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

/** What became of a mail that was begun before. */
async function settle(
  tenant: Tenant,
  dependencies: MailDependencies,
  account: EmailAccount,
  send: MailSend,
): Promise<MailSend> {
  if (send.status === 'sent') return send
  const now = dependencies.clock()
  if (send.status === 'sending' && send.lease_until > now) throw beingSent(send.lease_until, now)
  await markUnknown(tenant, send.message_id)
  return lookUp(tenant, dependencies, account, send.message_id)
}

/** The Sent folder knows of a mail that its provider keeps there by itself. @throws ServiceError `mail_outcome_unknown`. */
async function lookUp(
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
