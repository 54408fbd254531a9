import { RefusedAddress } from '../../platform/outbound/urls.ts'
import type { MailLogin } from '../email-account.ts'

const LENGTH_MAX = 500

/** What a mail server answered, or why there was no answer. */
export interface ServerError {
  /** In the server's own words where it said something. It holds no password. */
  text: string
  /** SMTP reply code. */
  code: number | null
  /** The address must not be called. */
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

/** Puts an error of the SMTP or IMAP client into words. */
export function serverError(error: unknown, login: MailLogin): ServerError {
  const thrown = error as Thrown
  const said = saidBy(thrown)
  const text = withoutSecrets(said, login)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return {
    text: text.slice(0, LENGTH_MAX) || 'no answer',
    code: thrown.responseCode ?? null,
    isRefusedAddress: error instanceof RefusedAddress,
  }
}

function saidBy({ response, responseText, message, errors, authenticationFailed }: Thrown): string {
  if (typeof response === 'string' && response !== '') return response
  if (responseText) return responseText
  if (authenticationFailed) return 'the log-in was not accepted'
  return message || errors?.[0]?.message || ''
}

/** A server may repeat what it was sent, as it was sent. */
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
