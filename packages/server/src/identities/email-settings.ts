import { hasMoreCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import type { Connector } from '../platform/outbound/connect.ts'
import { checkUrl, RefusedAddress } from '../platform/outbound/urls.ts'
import { DAY_SECONDS } from '../platform/time.ts'
import { TOKEN_PROBLEM, type Tokens } from '../providers/token-request.ts'
import type { MailLogin, MailServer, TokenRenewal } from './email-account.ts'

export interface EmailAccountSettings {
  address: string
  smtp: MailServer
  /** null: mail is sent but not received. */
  imap: MailServer | null
  /** How access tokens for both servers are renewed. The logins' own tokens are then unused and may be empty. */
  renewal?: TokenRenewal | null
  /** An access token that was issued with the refresh token. */
  issued?: Pick<Tokens, 'accessToken' | 'expiresAt'>
  /** Maximum mails in any 24 hours. */
  dailyLimit?: number
  /** Minimum time between two mails. */
  spacingSeconds?: number
}

export interface CheckedEmailSettings extends EmailAccountSettings {
  renewal: TokenRenewal | null
  dailyLimit: number
  spacingSeconds: number
}

const PORTS = { smtp: [25, 465, 587, 2525], imap: [143, 993] }
const SECURITIES = ['tls', 'starttls', 'none']
const DAILY_LIMIT = 100
const DAILY_LIMIT_MAX = 10_000
const SPACING_SECONDS = 60
const SPACING_SECONDS_MAX = DAY_SECONDS
export const USER_LENGTH_MAX = 320
export const SECRET_LENGTH_MAX = 8_192

/**
 * Checks everything that can be checked without contacting the servers. No message contains a secret.
 * @throws ServiceError 400 that names every invalid field.
 */
export function checkEmailSettings(
  {
    address,
    smtp,
    imap,
    renewal = null,
    issued,
    dailyLimit = DAILY_LIMIT,
    spacingSeconds = SPACING_SECONDS,
  }: EmailAccountSettings,
  connector: Connector,
): CheckedEmailSettings {
  const details: ErrorDetail[] = []
  const parsed = parseEmail(address)
  if (parsed === null) details.push({ path: 'address', message: 'is not a valid email address' })
  const isRenewed = renewal !== null
  details.push(...serverProblems('smtp', smtp, connector, isRenewed))
  if (imap) details.push(...serverProblems('imap', imap, connector, isRenewed))
  if (renewal) details.push(...renewalProblems(renewal, connector))
  const limits = [
    { path: 'daily_limit', value: dailyLimit, min: 1, max: DAILY_LIMIT_MAX },
    { path: 'spacing_seconds', value: spacingSeconds, min: 0, max: SPACING_SECONDS_MAX },
  ]
  for (const { path, value, min, max } of limits) {
    if (!Number.isInteger(value) || value < min || value > max) {
      details.push({ path, message: `must be a whole number from ${min} to ${max}` })
    }
  }
  if (parsed === null || details.length > 0) throw validationError(details)
  return { address: parsed, smtp, imap, renewal, dailyLimit, spacingSeconds, ...(issued ? { issued } : {}) }
}

function serverProblems(
  kind: 'smtp' | 'imap',
  server: MailServer,
  connector: Connector,
  isRenewed: boolean,
): ErrorDetail[] {
  const { host, port, security, login } = server
  const details: ErrorDetail[] = []
  const problem = (name: string, message: string) => details.push({ path: `${kind}.${name}`, message })
  try {
    connector.guard(host)
  } catch (error) {
    if (!(error instanceof RefusedAddress)) throw error
    problem('host', error.message)
  }
  // In a private network mail may run on any port; on the internet, other ports belong to other protocols.
  if (!Number.isInteger(port) || port < 1 || port > 65_535) problem('port', 'must be a whole number from 1 to 65535')
  else if (!connector.allowPrivate && !PORTS[kind].includes(port)) {
    problem('port', `must be one of ${PORTS[kind].join(', ')}`)
  }
  if (!SECURITIES.includes(security)) problem('security', `must be one of ${SECURITIES.join(', ')}`)
  else if (security === 'none' && !connector.allowPrivate) {
    problem('security', 'must be tls or starttls: without TLS the password would be sent unencrypted')
  }
  if (!isLine(login.user, USER_LENGTH_MAX))
    problem('user', `must be a single line of 1 to ${USER_LENGTH_MAX} characters`)
  const [name, secret] = secretOf(login)
  if (isRenewed) {
    if (name === 'password') problem(name, 'cannot be combined with a refresh token')
  } else if (!isLine(secret, SECRET_LENGTH_MAX)) {
    problem(name, `must be a single line of 1 to ${SECRET_LENGTH_MAX} characters`)
  }
  return details
}

function renewalProblems(
  { refreshToken, clientId, clientSecret, tokenUrl, provider }: TokenRenewal,
  { allowPrivate }: Connector,
): ErrorDetail[] {
  const details: ErrorDetail[] = []
  const lines = { refresh_token: refreshToken, client_id: clientId, client_secret: clientSecret ?? 'none' }
  for (const [path, text] of Object.entries(lines)) {
    if (isLine(text, SECRET_LENGTH_MAX)) continue
    details.push({ path, message: `must be a single line of 1 to ${SECRET_LENGTH_MAX} characters` })
  }
  // A provider's URL is fixed.
  if (provider !== undefined) return details
  try {
    checkUrl(tokenUrl, { allowPrivate })
  } catch (error) {
    if (!(error instanceof RefusedAddress)) throw error
    details.push({ path: 'token_url', message: error.message })
  }
  return details
}

/** The credential of a login and its name. */
export function secretOf(login: MailLogin): [name: 'password' | 'access_token', secret: string] {
  return 'password' in login ? ['password', login.password] : ['access_token', login.accessToken]
}

function isLine(text: string, lengthMax: number): boolean {
  return text !== '' && !hasMoreCharacters(text, lengthMax) && isStorableText(text) && !/\p{Cc}/u.test(text)
}

/** 400: a mail server rejected the login. Each detail names a server and contains its reply. */
export function loginFailed(details: ErrorDetail[]): ServiceError {
  return new ServiceError(400, 'mail_login_failed', `The login failed. ${formatProblems(details)}`, { details })
}

/** The servers' replies. A refusal by the token endpoint appears once, though both logins need the token. */
export function formatProblems(problems: readonly ErrorDetail[]): string {
  const replies = problems.map(({ path, message }) =>
    message.startsWith(TOKEN_PROBLEM) ? message : `${path.toUpperCase()}: ${message}`,
  )
  return [...new Set(replies)].join('; ')
}
