import { createHash } from 'node:crypto'
import type { MailDependencies } from '../../identities/mail/dependencies.ts'
import type { SendDependencies } from '../../identities/social/send.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ClaimedAction, SendOutcome } from './claim.ts'
import type { GuardedAction } from './guardrail.ts'
import type { ActionServices } from './queue.ts'
import { findMail, messageIdOf, sendMailOf } from './send-mail.ts'
import { sendSocial } from './send-social.ts'

/** Services for executing actions. */
export interface ExecutionDependencies extends ActionServices {
  senders: Senders
}

/** Sends actions to contacts. */
export interface Senders {
  /** The idempotency key of an action: always the same for the same action. */
  keyOf(tenant: Tenant, action: GuardedAction): Promise<string>
  /** Searches for the result of an earlier attempt; null if there is none or it cannot be determined. */
  find(tenant: Tenant, action: ClaimedAction): Promise<Record<string, unknown> | null>
  send(tenant: Tenant, action: ClaimedAction): Promise<SendOutcome>
}

/** Sends mail through identities' accounts, and other actions through the social-network connector. */
export function createSenders(mail: MailDependencies, social: SendDependencies): Senders {
  return {
    keyOf: async (tenant, { runId, contactId, actionIndex, identityId, type }) => {
      const place = `${tenant.id}/${runId}/${contactId}/${actionIndex}`
      const digest = createHash('sha256').update(place).digest('hex').slice(0, 40)
      return type === 'email_message' && identityId !== null ? messageIdOf(tenant, identityId, digest) : digest
    },
    find: async (tenant, action) => (action.type === 'email_message' ? findMail(tenant, mail, action) : null),
    send: (tenant, action) =>
      action.type === 'email_message' ? sendMailOf(tenant, mail, action) : sendSocial(tenant, social, action),
  }
}
