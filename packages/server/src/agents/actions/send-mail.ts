import { domainToASCII } from 'node:url'
import { findContact } from '../../contacts/read.ts'
import { describeEmailAccount } from '../../identities/email-accounts.ts'
import type { MailDependencies } from '../../identities/mail/dependencies.ts'
import { retryAtOf } from '../../identities/mail/errors.ts'
import { sendMail } from '../../identities/mail/send.ts'
import { findSentMessage } from '../../identities/mail/sent-folder.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ActionParams } from '../action-types.ts'
import type { ClaimedAction, SendOutcome } from './claim.ts'

/** Used if the identity's domain is not valid in a Message-ID. */
const OTHER_DOMAIN = 'mail.invalid'
const DOMAIN_LENGTH_MAX = 120

/** The Message-ID of an action's mail: the digest of the action at the sender's domain. */
export async function messageIdOf(tenant: Tenant, identityId: string, digest: string): Promise<string> {
  const account = await describeEmailAccount(tenant, identityId)
  const domain = domainToASCII(account?.address.split('@').at(-1) ?? '')
  return `${digest}@${domain !== '' && domain.length <= DOMAIN_LENGTH_MAX ? domain : OTHER_DOMAIN}`
}

/** Searches the Sent folder for a mail that may have been sent; null if it is not found or cannot be searched for. */
export async function findMail(
  tenant: Tenant,
  dependencies: MailDependencies,
  { identityId, execution }: ClaimedAction,
): Promise<Record<string, unknown> | null> {
  if (identityId === null) return null
  const found = await findSentMessage(tenant, dependencies, identityId, execution.key).catch(() => null)
  return found && { message_id: execution.key, sent_at: found.sentAt.toISOString() }
}

/** Sends the mail of an action to the contact's address, at most once per Message-ID. */
export async function sendMailOf(
  tenant: Tenant,
  dependencies: MailDependencies,
  action: ClaimedAction,
): Promise<SendOutcome> {
  const { identityId, contactId, execution, mayHaveBeenSent } = action
  const contact = await findContact(tenant, contactId)
  if (!contact?.email || identityId === null) {
    const error = { code: 'no_recipient', message: 'The contact no longer has an email address.' }
    return { outcome: 'failed', error, mayHaveArrived: mayHaveBeenSent }
  }
  const { subject, message } = action.params as ActionParams<'email_message'>
  const mail = { identityId, contactId, to: contact.email, subject, markdown: message, isOutreach: true }
  try {
    const sent = await sendMail(tenant, dependencies, { ...mail, messageId: execution.key })
    return {
      outcome: 'sent',
      result: { message_id: sent.messageId, recipient: contact.email, sent_at: sent.sentAt.toISOString() },
    }
  } catch (failure) {
    if (!(failure instanceof ServiceError)) throw failure
    return outcomeOf(failure, mayHaveBeenSent)
  }
}

function outcomeOf(failure: ServiceError, mayHaveBeenSent: boolean): SendOutcome {
  const { code, message, status } = failure
  const error = { code, message }
  const until = retryAtOf(failure)
  if (until) return { outcome: 'later', error, mayHaveBeenSent: code === 'mail_in_progress', until }
  // The server replied or was never reached, so this mail was definitely not sent.
  if (code === 'mail_unavailable') return { outcome: 'later', error, mayHaveBeenSent: false }
  if (status >= 500) return { outcome: 'later', error, mayHaveBeenSent }
  if (code === 'not_found') {
    const deleted = { code: 'contact_deleted', message: 'The contact has been deleted.' }
    return { outcome: 'failed', error: deleted, mayHaveArrived: mayHaveBeenSent }
  }
  const isUnclear = code === 'mail_outcome_unknown' || code === 'message_id_taken'
  return { outcome: 'failed', error, mayHaveArrived: isUnclear || mayHaveBeenSent }
}
