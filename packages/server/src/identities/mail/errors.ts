import type { Consent } from '../../contacts/consent.ts'
import { shown } from '../../platform/characters.ts'
import { conflict, ServiceError } from '../../platform/errors.ts'
import type { Suppression } from '../suppressions.ts'

const RETRY_AT = 'retryAt'

/** 409: the identity cannot send mail. */
export function identityWithoutEmail(): ServiceError {
  return conflict('identity_without_email', 'This identity has no email account. Set one up first.')
}

/** 409: the address is suppressed. */
export function recipientSuppressed({ reason, at }: Suppression): ServiceError {
  const message = `This address is suppressed (${reason}, ${at.toISOString()}).`
  return conflict('recipient_suppressed', message, [{ path: 'reason', message: reason }])
}

/** 409: a property of the contact stops outreach to it, perhaps only since the mail was approved. */
export function recipientOptedOut({ property, value }: Consent): ServiceError {
  const message = `Nothing was sent: the contact opted out or its mail bounces (${shown(property)} is ${shown(String(value))}). Change the property if that is no longer true.`
  return conflict('recipient_opted_out', message, [{ path: 'property', message: property }])
}

/** 429: a sending limit of the identity is reached. */
export function limitReached(code: 'mail_daily_limit' | 'mail_spacing', retryAt: Date, now: Date): ServiceError {
  const what =
    code === 'mail_daily_limit' ? 'has reached its limit of mails in 24 hours' : 'must wait between two mails'
  return waiting(429, code, `This identity ${what}. Try again at ${retryAt.toISOString()}.`, retryAt, now)
}

/** 409: another process is sending this mail. */
export function beingSent(waitMs: number, now: Date): ServiceError {
  const retryAt = new Date(now.getTime() + waitMs)
  return waiting(409, 'mail_in_progress', 'This mail is already being sent.', retryAt, now)
}

/** 409: the message id belongs to another mail. */
export function messageIdTaken(): ServiceError {
  return conflict('message_id_taken', 'Another mail was sent with this message id. Choose a new one.')
}

/** 409: the mail server permanently refused the mail. A retry would be refused too. */
export function mailRefused(reply: string, cause: unknown): ServiceError {
  return new ServiceError(409, 'mail_refused', `The mail server refused this mail: ${reply}`, { cause })
}

/** 503: the mail server is unavailable or asks to retry later. Nothing was sent. */
export function mailUnavailable(reply: string, cause: unknown): ServiceError {
  const message = `The mail server cannot accept this mail at the moment: ${reply}`
  return new ServiceError(503, 'mail_unavailable', message, { retryAfterSeconds: 60, cause })
}

/** 409: the mail may or may not have been sent. It is never resent automatically. */
export function outcomeUnknown(cause?: unknown): ServiceError {
  const message =
    'The connection ended before the mail server confirmed this mail. Check the Sent folder, or send it again with a new message id.'
  return new ServiceError(409, 'mail_outcome_unknown', message, { cause })
}

/** When the mail can be sent again, according to an error; null if the error does not say. */
export function retryAtOf(error: unknown): Date | null {
  const details = error instanceof ServiceError ? error.details : undefined
  const detail = details?.find(({ path }) => path === RETRY_AT)
  return detail ? new Date(detail.message) : null
}

function waiting(status: number, code: string, message: string, retryAt: Date, now: Date): ServiceError {
  const seconds = Math.max(1, Math.ceil((retryAt.getTime() - now.getTime()) / 1000))
  return new ServiceError(status, code, message, {
    details: [{ path: RETRY_AT, message: retryAt.toISOString() }],
    retryAfterSeconds: seconds,
  })
}
