import { ServiceError } from '../../platform/errors.ts'
import type { LoginReason } from './connector.ts'

/** Why a login failed. */
export type LoginFailure =
  | LoginReason
  | 'verification_timed_out'
  | 'superseded'
  | 'network_unavailable'
  | 'credentials_unreadable'

/** After a network or its gateway did not respond. */
export const RETRY_AFTER_SECONDS = 30

/** The interface specifies the statuses 401, 408 and 423. */
const FAILURES: Record<LoginFailure, { status: number; message: string }> = {
  credentials_rejected: {
    status: 401,
    message: 'The network rejected the credentials. Check the user name and password, and log in again with both.',
  },
  code_rejected: {
    status: 401,
    message: 'The network rejected the code and accepts no other for this login. Log in again.',
  },
  verification_timed_out: {
    status: 408,
    message:
      'The login was not verified within max_verification_wait_time. Log in again, with a longer time if necessary.',
  },
  account_locked: {
    status: 423,
    message: "The account is locked. Unlock it on the network's own site, then log in again.",
  },
  login_refused: {
    status: 409,
    message: "The network refused the login. Log in once on the network's own site to see why, then log in again here.",
  },
  superseded: { status: 409, message: 'A later login of this identity replaced this one. Poll that one.' },
  network_unavailable: {
    status: 503,
    message: 'The network could not be reached. Log in again later.',
  },
  credentials_unreadable: {
    status: 409,
    message:
      'The encryption key changed during the login, so the credentials can no longer be decrypted. Log in again.',
  },
}

/**
 * The failures that a login or a code can return, as an operation declares errors. Credentials become unreadable only
 * when the service restarts with another secret key: the status call reports that.
 */
export const LOGIN_ERRORS = Object.entries(FAILURES)
  .filter(([code]) => code !== 'credentials_unreadable')
  .map(([code, { status }]) => `${status} ${code}` as const)

/** A failure in the status call. `http_status` is the status of other calls that return it. */
export interface FailureObject {
  code: string
  message: string
  http_status: number
}

export function failureObject(code: LoginFailure): FailureObject {
  const { status, message } = FAILURES[code]
  return { code, message, http_status: status }
}

/** A rejected code, after which the network accepts another. */
export const CODE_REJECTED: FailureObject = {
  code: 'code_rejected',
  message: 'The network rejected the code. Send the correct one.',
  http_status: 401,
}

/** The error of a call that returns a failure. It names the session, which the status call still shows. */
export function failureError({ code, message, http_status }: FailureObject, sessionId: string): ServiceError {
  const details = [{ path: 'session_id', message: sessionId }]
  const retryAfterSeconds = http_status === 503 ? RETRY_AFTER_SECONDS : undefined
  return new ServiceError(http_status, code, message, { details, retryAfterSeconds })
}
