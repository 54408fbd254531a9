import { conflict, ServiceError } from '../../platform/errors.ts'
import type { Suppression } from '../suppressions.ts'

const RETRY_AT = 'retryAt'

/** 409: nothing can be sent from this identity. */
export function identityWithoutEmail(): ServiceError {
  return conflict('identity_without_email', 'This identity has no e-mail account. Set one first.')
}

/** 409: the address gets no more mail. */
export function recipientSuppressed({ reason, at }: Suppression): ServiceError {
  const message = `This address gets no more mail (${reason}, ${at.toISOString()}).`
  return conflict('recipient_suppressed', message, [{ path: 'reason', message: reason }])
}

/** 429: the identity has sent enough for now. */
export function limitReached(code: 'mail_daily_limit' | 'mail_spacing', retryAt: Date, now: Date): ServiceError {
  const what = code === 'mail_daily_limit' ? 'has sent as much as it may in 24 hours' : 'has sent a mail a moment ago'
  return waiting(429, code, `This identity ${what}. Send again at ${retryAt.toISOString()}.`, retryAt, now)
}

/** 409: another process is sending this very mail. */
export function beingSent(retryAt: Date, now: Date): ServiceError {
  return waiting(409, 'mail_in_progress', 'This mail is being sent at this moment.', retryAt, now)
}

/** 409: the message id belongs to a mail to somebody else. */
export function messageIdTaken(): ServiceError {
  return conflict('message_id_taken', 'Another mail was sent with this message id. Choose a new one.')
}

/** 409: the mail server refused the mail for good; the same mail again would be refused again. */
export function mailRefused(said: string, cause: unknown): ServiceError {
  return new ServiceError(409, 'mail_refused', `The mail server refused this mail: ${said}`, { cause })
}

/** 503: the mail server could not be reached or asks to come again. Nothing was sent. */
export function mailUnavailable(said: string, cause: unknown): ServiceError {
  const message = `The mail server cannot take this mail at the moment: ${said}`
  return new ServiceError(503, 'mail_unavailable', message, { headers: { 'retry-after': '60' }, cause })
}

/** 409: the mail may have been sent and may not. It is never sent again by itself. */
export function outcomeUnknown(cause?: unknown): ServiceError {
  const message =
    'The connection ended before the mail server said whether it took this mail. Look into the Sent folder, or send it again with a new message id.'
  return new ServiceError(409, 'mail_outcome_unknown', message, { cause })
}

/** When an error says that the mail can be sent again; null when it does not say. */
export function retryAtOf(error: unknown): Date | null {
  const details = error instanceof ServiceError ? error.details : undefined
  const detail = details?.find(({ path }) => path === RETRY_AT)
  return detail ? new Date(detail.message) : null
}

function waiting(status: number, code: string, message: string, retryAt: Date, now: Date): ServiceError {
  const seconds = Math.max(1, Math.ceil((retryAt.getTime() - now.getTime()) / 1000))
  return new ServiceError(status, code, message, {
    details: [{ path: RETRY_AT, message: retryAt.toISOString() }],
    headers: { 'retry-after': String(seconds) },
  })
}
