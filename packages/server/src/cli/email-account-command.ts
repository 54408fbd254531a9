import { readFile } from 'node:fs/promises'
import type { MailSecurity, MailServer, TokenRenewal } from '../identities/email-account.ts'
import { type LoginDependencies, setEmailAccount } from '../identities/email-accounts.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { ServiceError } from '../platform/errors.ts'
import { pathId } from '../platform/http/responses.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createConnector } from '../platform/outbound/connect.ts'
import { systemClock } from '../platform/time.ts'
import { type CommandOnce, existingTenant, numberOf, optional, required, tenant, type Values } from './command.ts'
import type { Session } from './session.ts'

const PASSWORD_BYTES_MAX = 16_384

/** Secrets are read from a file or a variable, because the process list shows the command line to every user. */
const secretOptions = {
  'password-file': optional('FILE'),
  'password-env': optional('VARIABLE'),
  'token-file': optional('FILE'),
  'token-env': optional('VARIABLE'),
  'refresh-token-file': optional('FILE'),
  'refresh-token-env': optional('VARIABLE'),
}
/** Options that a refresh token needs. */
const renewalOptions = {
  'token-url': optional('URL'),
  'client-id': optional('CLIENT_ID'),
  'client-secret-file': optional('FILE'),
  'client-secret-env': optional('VARIABLE'),
}

/**
 * Sets an email account. Unlike the operation `setEmailAccount`, it reads secrets from files and variables on the
 * operator's machine, and accepts access tokens.
 */
export const EMAIL_ACCOUNT_COMMAND: Record<string, CommandOnce> = {
  'identity email-set': {
    summary: "Set an identity's email account after testing the login; without --imap-host, it only sends",
    options: {
      tenant,
      'identity-id': required('IDENTITY_ID'),
      address: required('EMAIL'),
      'smtp-host': required('HOST'),
      'smtp-port': optional('587'),
      'smtp-security': optional('starttls|tls'),
      'imap-host': optional('HOST'),
      'imap-port': optional('993'),
      'imap-security': optional('tls|starttls'),
      user: optional('USER (default: the address)'),
      ...secretOptions,
      ...renewalOptions,
      'daily-limit': optional('NUMBER'),
      'spacing-seconds': optional('NUMBER'),
    },
    run: async (session, values, now) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      const identityId = pathId(String(values['identity-id']), 'identity')
      const { secret, renewal } = await secretOf(values)
      const login = { user: String(values.user ?? values.address), ...secret }
      const settings = {
        address: String(values.address),
        smtp: serverOf(values, 'smtp', 587, 'starttls', login),
        imap: values['imap-host'] === undefined ? null : serverOf(values, 'imap', 993, 'tls', login),
        renewal,
        ...(values['daily-limit'] === undefined ? {} : { dailyLimit: numberOf(values, 'daily-limit', 0) }),
        ...(values['spacing-seconds'] === undefined ? {} : { spacingSeconds: numberOf(values, 'spacing-seconds', 0) }),
      }
      const actor = { kind: 'command_line' } as const
      return withMail(session, async (mail) => ({
        email_account: await setEmailAccount(owner, mail, actor, identityId, settings, now),
      }))
    },
  },
}

/** Opens clients for mail servers and token endpoints for one call, and closes them. */
export async function withMail<Answer>(
  { config }: Session,
  work: (mail: LoginDependencies) => Promise<Answer>,
): Promise<Answer> {
  const rules = { allowPrivate: config.mailAllowPrivate }
  const tokenApi = createApiFetch(rules)
  try {
    const connector = createConnector(rules)
    return await work({ secrets: await openSecretBox(config), connector, tokenApi, clock: systemClock })
  } finally {
    await tokenApi.close()
  }
}

function serverOf(
  values: Values,
  kind: 'smtp' | 'imap',
  port: number,
  security: MailSecurity,
  login: MailServer['login'],
): MailServer {
  return {
    host: String(values[`${kind}-host`]),
    port: numberOf(values, `${kind}-port`, port),
    // Validated with the rest of the account.
    security: String(values[`${kind}-security`] ?? security) as MailSecurity,
    login,
  }
}

interface Secret {
  secret: { password: string } | { accessToken: string }
  renewal: TokenRenewal | null
}

async function secretOf(values: Values): Promise<Secret> {
  const given = Object.keys(secretOptions).filter((name) => values[name] !== undefined)
  const [name] = given
  if (name === undefined || given.length > 1) {
    const message = `Give one of ${Object.keys(secretOptions)
      .map((option) => `--${option}`)
      .join(', ')}.`
    throw new ServiceError(400, 'invalid_option', message)
  }
  const secret = await readOption(values, name)
  if (name.startsWith('refresh-token')) {
    return { secret: { accessToken: '' }, renewal: { refreshToken: secret, ...(await renewalOf(values)) } }
  }
  const needless = Object.keys(renewalOptions).find((option) => values[option] !== undefined)
  if (needless !== undefined) {
    throw new ServiceError(400, 'invalid_option', `--${needless} requires --refresh-token-file or --refresh-token-env.`)
  }
  return { secret: name.startsWith('password') ? { password: secret } : { accessToken: secret }, renewal: null }
}

async function renewalOf(values: Values): Promise<Omit<TokenRenewal, 'refreshToken'>> {
  const { 'token-url': tokenUrl, 'client-id': clientId } = values
  const secrets = ['client-secret-file', 'client-secret-env'].filter((name) => values[name] !== undefined)
  const [name] = secrets
  if (tokenUrl === undefined || clientId === undefined || secrets.length > 1) {
    const message =
      'A refresh token needs --token-url and --client-id, and, if the client has a secret, one of --client-secret-file and --client-secret-env.'
    throw new ServiceError(400, 'invalid_option', message)
  }
  const clientSecret = name === undefined ? null : await readOption(values, name)
  return { tokenUrl: String(tokenUrl), clientId: String(clientId), clientSecret }
}

/** Reads the secret from the file or variable that an option names. */
async function readOption(values: Values, name: string): Promise<string> {
  const source = String(values[name])
  const secret = name.endsWith('-env') ? process.env[source] : await readSecret(source)
  if (secret === undefined || secret === '') {
    throw new ServiceError(400, 'invalid_option', `--${name}: ${source} does not exist or is empty.`)
  }
  return secret
}

/** The first line of a file. */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text?.slice(0, PASSWORD_BYTES_MAX).split(/\r?\n/)[0]
}
