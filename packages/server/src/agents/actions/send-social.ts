import type { Properties } from '../../contacts/properties.ts'
import { findContact } from '../../contacts/read.ts'
import { type SendDependencies, sendSocialConnect, sendSocialMessage } from '../../identities/social/send.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { ActionParams } from '../action-types.ts'
import type { ClaimedAction, SendOutcome } from './claim.ts'
import { profileUrlOf } from './contact-guardrails.ts'

/** Sends a message or an invitation, which the network accepts once per idempotency key. */
export async function sendSocial(
  tenant: Tenant,
  dependencies: SendDependencies,
  action: ClaimedAction,
): Promise<SendOutcome> {
  const contact = await findContact(tenant, action.contactId)
  const recipientProfileUrl = contact ? profileUrlOf(contact.properties as Properties) : null
  if (recipientProfileUrl === null || action.identityId === null) {
    const message = 'The contact no longer has a social profile.'
    return { outcome: 'failed', error: { code: 'no_recipient', message }, mayHaveArrived: action.mayHaveBeenSent }
  }
  const envelope = { recipientProfileUrl, idempotencyKey: action.execution.key }
  try {
    const sent = await (action.type === 'social_message'
      ? sendSocialMessage(tenant, dependencies, action.identityId, {
          ...envelope,
          message: (action.params as ActionParams<'social_message'>).message,
        })
      : sendSocialConnect(tenant, dependencies, action.identityId, { ...envelope, ...noteOf(action) }))
    return { outcome: 'sent', result: { external_id: sent.external_id, recipient: recipientProfileUrl } }
  } catch (failure) {
    if (!(failure instanceof ServiceError)) throw failure
    const { code, message, details, status } = failure
    const error = { code, message }
    // Without a response, the network may have accepted it. The key makes a retry safe.
    if (status >= 500) return { outcome: 'later', error, mayHaveBeenSent: true }
    if (details?.some((detail) => detail.message === 'limit_reached')) {
      const until = new Date(dependencies.clock().getTime() + DAY_MS)
      return { outcome: 'later', error, mayHaveBeenSent: action.mayHaveBeenSent, until }
    }
    // This attempt was refused, but an earlier one, which got no response, may have arrived.
    return { outcome: 'failed', error, mayHaveArrived: action.mayHaveBeenSent }
  }
}

function noteOf(action: ClaimedAction): { note?: string } {
  const { message } = action.params as ActionParams<'social_connect'>
  return message === undefined ? {} : { note: message }
}
