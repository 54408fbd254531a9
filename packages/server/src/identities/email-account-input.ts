import Type from 'typebox'
import { secret } from '../operations/declare.ts'
import { validationError } from '../platform/errors.ts'
import { emailInput } from '../platform/http/inputs.ts'
import { Nullable } from '../platform/http/responses.ts'
import { DAY_SECONDS } from '../platform/time.ts'
import type { EmailAccount, MailLogin, MailSecurity, MailServer, TokenRenewal } from './email-account.ts'
import { Security } from './email-account-object.ts'
import { type EmailAccountSettings, SECRET_LENGTH_MAX, USER_LENGTH_MAX } from './email-settings.ts'

const DEFAULTS = {
  smtp: { port: 587, security: 'starttls' },
  imap: { port: 993, security: 'tls' },
} as const satisfies Record<string, { port: number; security: MailSecurity }>

function serverWith({ port, security }: { port: number; security: MailSecurity }, host: string, user: string) {
  return Type.Object(
    {
      host: Type.String({ minLength: 1, maxLength: 255, description: host }),
      port: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 65_535, default: port, description: `Default: ${port}.` }),
      ),
      security: Type.Optional({ ...Security, default: security, description: `Default: ${security}.` }),
      user: Type.Optional(Type.String({ minLength: 1, maxLength: USER_LENGTH_MAX, description: `Default: ${user}.` })),
    },
    { additionalProperties: false },
  )
}

const Smtp = serverWith(DEFAULTS.smtp, 'The SMTP server.', 'the address')
const Imap = serverWith(
  DEFAULTS.imap,
  'The IMAP server. Without one, mail is sent but not received.',
  'the user of SMTP',
)

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: SECRET_LENGTH_MAX, description }))
const optionalSecret = (description: string) =>
  Type.Optional(secret({ minLength: 1, maxLength: SECRET_LENGTH_MAX, description }))

/** The fields that set an email account. */
export const EmailAccountInput = {
  address: emailInput(),
  smtp: Smtp,
  imap: Type.Optional(Nullable(Imap, 'null or omitted: mail is sent but not received.')),
  password: optionalSecret(
    'The password for both servers. If no login is sent, the stored one is kept; one is required if a host or a user changes.',
  ),
  access_token: optionalSecret('An OAuth2 access token instead of a password. It is not renewed.'),
  refresh_token: optionalSecret('An OAuth2 refresh token instead, with which the service gets access tokens.'),
  token_url: text('The URL where access tokens are requested; required with a refresh token.'),
  client_id: text('The OAuth client; required with a refresh token.'),
  client_secret: optionalSecret("The OAuth client's secret, if it has one."),
  daily_limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, default: 100, description: 'Mails in any 24 hours. Default: 100.' }),
  ),
  spacing_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: DAY_SECONDS, default: 60, description: 'Between two mails. Default: 60.' }),
  ),
}
export type EmailAccountInput = Type.Static<Type.TObject<typeof EmailAccountInput>>

/** The credential of both servers, without their user. */
type Credential = { password: string } | { accessToken: string }

/**
 * Converts an input to settings. Without a credential, the stored logins are kept.
 * @throws ServiceError 400 if a credential is required but missing, or if there are several.
 */
export function settingsOf(input: EmailAccountInput, known: EmailAccount | null): EmailAccountSettings {
  const { address, daily_limit: dailyLimit, spacing_seconds: spacingSeconds } = input
  const { credential, renewal } = credentialOf(input)
  const sent = { user: address, ...input.smtp }
  const smtp = serverOf({ ...DEFAULTS.smtp, ...sent }, credential, known?.smtp)
  const imap = input.imap
    ? serverOf({ ...DEFAULTS.imap, user: sent.user, ...input.imap }, credential, known?.imap)
    : null
  return {
    address,
    smtp,
    imap,
    // Stored logins are kept with their token renewal.
    renewal: credential === null ? (known?.renewal ?? null) : renewal,
    ...(dailyLimit === undefined ? {} : { dailyLimit }),
    ...(spacingSeconds === undefined ? {} : { spacingSeconds }),
  }
}

/** @throws ServiceError 400 that names the field that is missing or must be omitted. */
function credentialOf(input: EmailAccountInput): { credential: Credential | null; renewal: TokenRenewal | null } {
  const { password, access_token, refresh_token, token_url, client_id, client_secret } = input
  const [first, second] = Object.entries({ password, access_token, refresh_token }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  )
  if (second !== undefined) refuse(second, `cannot be combined with ${first}`)
  if (refresh_token !== undefined) {
    if (token_url === undefined) refuse('token_url', 'is required with refresh_token')
    if (client_id === undefined) refuse('client_id', 'is required with refresh_token')
    const client = { clientId: client_id, clientSecret: client_secret ?? null, tokenUrl: token_url }
    return { credential: { accessToken: '' }, renewal: { refreshToken: refresh_token, ...client } }
  }
  const [needless] =
    Object.entries({ token_url, client_id, client_secret }).find(([, value]) => value !== undefined) ?? []
  if (needless !== undefined) refuse(needless, 'requires refresh_token')
  const credential = password === undefined ? access_token && { accessToken: access_token } : { password }
  return { credential: credential || null, renewal: null }
}

function serverOf(
  { user, ...server }: Omit<MailServer, 'login'> & { user: string },
  credential: Credential | null,
  known: MailServer | null | undefined,
): MailServer {
  if (credential !== null) return { ...server, login: { user, ...credential } satisfies MailLogin }
  // A stored credential is sent only to the server that it was given for.
  if (known && known.host === server.host && known.login.user === user) return { ...server, login: known.login }
  return refuse('password', 'is required for a new account, a different server or a different user')
}

function refuse(path: string, message: string): never {
  throw validationError([{ path, message }])
}
