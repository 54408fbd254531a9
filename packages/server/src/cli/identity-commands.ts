import { readFile } from 'node:fs/promises'
import type { Actor } from '../audit/log.ts'
import type { MailSecurity, MailServer, TokenRenewal } from '../identities/email-account.ts'
import { checkEmailAccount, removeEmailAccount, setEmailAccount } from '../identities/email-accounts.ts'
import { createIdentity, deleteIdentity, listIdentities } from '../identities/identities.ts'
import { parseNewIdentity } from '../identities/requests.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { ServiceError } from '../platform/errors.ts'
import { pathId } from '../platform/http/responses.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createConnector } from '../platform/outbound/connect.ts'
import type { Tenant } from '../platform/tenant.ts'
import { systemClock } from '../platform/time.ts'
import { type Command, existingTenant, numberOf, optional, required, tenant, type Values } from './command.ts'
import type { Session } from './session.ts'

const COMMAND_LINE: Actor = { kind: 'command_line' }
const PASSWORD_BYTES_MAX = 16_384

const identity = required('IDENTITY_ID')
/** A password is read from a file or a variable: a command line can be seen by whoever lists processes. */
const secretOptions = {
  'password-file': optional('FILE'),
  'password-env': optional('VARIABLE'),
  'token-file': optional('FILE'),
  'token-env': optional('VARIABLE'),
  'refresh-token-file': optional('FILE'),
  'refresh-token-env': optional('VARIABLE'),
}
/** Go with a refresh token. */
const renewalOptions = {
  'token-url': optional('URL'),
  'client-id': optional('CLIENT_ID'),
  'client-secret-file': optional('FILE'),
  'client-secret-env': optional('VARIABLE'),
}

/** What `cdsctl identity …` can do. */
export const IDENTITY_COMMANDS: Record<string, Command> = {
  'identity create': {
    summary: 'Create an identity: a sender of mails and messages',
    options: { tenant, 'first-name': required('NAME'), 'last-name': required('NAME'), role: required('ROLE') },
    run: async (session, values, now) => {
      const names = { firstName: String(values['first-name']), lastName: String(values['last-name']) }
      const wanted = parseNewIdentity({ ...names, role: String(values.role) })
      const made = await createIdentity(await tenantOf(session, values), COMMAND_LINE, wanted, now)
      return { identity_id: made.identity_id }
    },
  },
  'identity list': {
    summary: "List a tenant's identities and what they are connected to",
    options: { tenant },
    run: async (session, values) => ({ identities: await listIdentities(await tenantOf(session, values)) }),
  },
  'identity delete': {
    summary: 'Delete an identity with its e-mail account',
    options: { tenant, identity },
    run: async (session, values, now) => {
      const identityId = identityOf(values)
      await deleteIdentity(await tenantOf(session, values), COMMAND_LINE, identityId, now)
      return { identity_id: identityId, deleted: true }
    },
  },
  'identity email-set': {
    summary: 'Give an identity its e-mail account, after logging in at its servers; without --imap-host it only sends',
    options: {
      tenant,
      identity,
      address: required('EMAIL'),
      'smtp-host': required('HOST'),
      'smtp-port': optional('587'),
      'smtp-security': optional('starttls|tls'),
      'imap-host': optional('HOST'),
      'imap-port': optional('993'),
      'imap-security': optional('tls|starttls'),
      user: optional('USER, else the address'),
      ...secretOptions,
      ...renewalOptions,
      'daily-limit': optional('NUMBER'),
      'spacing-seconds': optional('NUMBER'),
    },
    run: async (session, values, now) => {
      const owner = await tenantOf(session, values)
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
      const set = (mail: Mail) => setEmailAccount(owner, mail, COMMAND_LINE, identityOf(values), settings, now)
      return { ...(await withMail(session, set)) }
    },
  },
  'identity email-check': {
    summary: "Log in at the servers of an identity's e-mail account",
    options: { tenant, identity },
    run: async (session, values, now) => {
      const owner = await tenantOf(session, values)
      const check = (mail: Mail) => checkEmailAccount(owner, mail, identityOf(values), now)
      return { ...(await withMail(session, check)) }
    },
  },
  'identity email-remove': {
    summary: 'Take the e-mail account away from an identity',
    options: { tenant, identity },
    run: async (session, values, now) => {
      const identityId = identityOf(values)
      await removeEmailAccount(await tenantOf(session, values), COMMAND_LINE, identityId, now)
      return { identity_id: identityId, removed: true }
    },
  },
}

async function tenantOf(session: Session, values: Values): Promise<Tenant> {
  return session.tenant(await existingTenant(session.stores, values))
}

function identityOf(values: Values): string {
  return pathId(String(values.identity), 'identity')
}

type Mail = Parameters<typeof setEmailAccount>[1]

/** Does something that asks mail servers, and token endpoints for what they want. */
async function withMail<T>({ config }: Session, work: (mail: Mail) => Promise<T>): Promise<T> {
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
    // Checked with everything else of the account.
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
    throw new ServiceError(
      400,
      'invalid_option',
      `--${needless} goes with --refresh-token-file or --refresh-token-env.`,
    )
  }
  return { secret: name.startsWith('password') ? { password: secret } : { accessToken: secret }, renewal: null }
}

async function renewalOf(values: Values): Promise<Omit<TokenRenewal, 'refreshToken'>> {
  const { 'token-url': tokenUrl, 'client-id': clientId } = values
  const secrets = ['client-secret-file', 'client-secret-env'].filter((name) => values[name] !== undefined)
  const [name] = secrets
  if (tokenUrl === undefined || clientId === undefined || secrets.length > 1) {
    const message =
      'A refresh token needs --token-url and --client-id, and one of --client-secret-file and --client-secret-env where the client has a secret.'
    throw new ServiceError(400, 'invalid_option', message)
  }
  const clientSecret = name === undefined ? null : await readOption(values, name)
  return { tokenUrl: String(tokenUrl), clientId: String(clientId), clientSecret }
}

/** The secret in the file or the variable that an option names. */
async function readOption(values: Values, name: string): Promise<string> {
  const source = String(values[name])
  const secret = name.endsWith('-env') ? process.env[source] : await readSecret(source)
  if (secret === undefined || secret === '') {
    throw new ServiceError(400, 'invalid_option', `--${name}: ${source} is not there or empty.`)
  }
  return secret
}

/** The first line of a file. */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text?.slice(0, PASSWORD_BYTES_MAX).split(/\r?\n/)[0]
}
