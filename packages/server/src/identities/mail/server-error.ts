import { RefusedAddress } from '../../platform/outbound/urls.ts'
import type { MailLogin } from '../email-account.ts'

const LENGTH_MAX = 500

/** A mail server's error reply, or why there was none. */
export interface ServerError {
  /** The server's reply if there is one. It contains no secret. */
  text: string
  /** SMTP reply code. */
  code: number | null
  /** The address is not allowed. */
  isRefusedAddress: boolean
}

interface Thrown {
  message?: string
  code?: string
  response?: unknown
  responseText?: string
  responseCode?: number
  authenticationFailed?: boolean
  errors?: Thrown[]
  cause?: Thrown
}

/** Describes an error of the SMTP or IMAP client. */
export function serverError(error: unknown, login: MailLogin): ServerError {
  const thrown = error as Thrown
  const reply = replyOf(thrown)
  const text = withoutSecrets(reply, login)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return {
    text: text.slice(0, LENGTH_MAX) || 'no reply',
    code: thrown.responseCode ?? null,
    isRefusedAddress: error instanceof RefusedAddress,
  }
}

function replyOf({ response, responseText, message, errors, authenticationFailed }: Thrown): string {
  if (typeof response === 'string' && response !== '') return response
  if (responseText) return responseText
  if (authenticationFailed) return 'the login was rejected'
  return message || errors?.[0]?.message || ''
}

/** A server may echo a secret, plain or base64-encoded. */
function withoutSecrets(text: string, login: MailLogin): string {
  const secrets = 'password' in login ? [login.password] : [login.accessToken, ...(login.tokens?.secrets() ?? [])]
  const base64 = (value: string) => Buffer.from(value).toString('base64')
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [
      secret,
      base64(secret),
      base64(`\0${login.user}\0${secret}`),
      base64(`user=${login.user}\u0001auth=Bearer ${secret}\u0001\u0001`),
    ])
  return forms.reduce((cleaned, form) => cleaned.replaceAll(form, '[secret]'), text)
}
