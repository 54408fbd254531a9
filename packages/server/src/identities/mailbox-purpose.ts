import { parseEmail } from '../platform/email.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { pathId } from '../platform/http/responses.ts'
import { type IdClaims, textClaim } from '../providers/id-token.ts'
import { type ProviderName, providerNamed, urlsOf } from '../providers/provider.ts'
import type { Authorized, Purpose, PurposeHandler } from '../providers/purpose.ts'
import type { MailServer } from './email-account.ts'
import { type LoginDependencies, openEmailAccount, setEmailAccount } from './email-accounts.ts'
import { readIdentity } from './identities.ts'

type Server = Omit<MailServer, 'login'>

/** The mail servers of a provider. */
export interface MailServersOfProvider {
  smtp: Server
  imap: Server
}

interface MailProvider extends MailServersOfProvider {
  /** The scopes that its mail servers require. */
  mailScopes: readonly string[]
  otherScopes: readonly string[]
  /** The address that the ID token proves; null if there is none. */
  addressOf(claims: IdClaims): string | null
}

const MAIL_PROVIDERS: Partial<Record<ProviderName, MailProvider>> = {
  google: {
    smtp: { host: 'smtp.gmail.com', port: 587, security: 'starttls' },
    imap: { host: 'imap.gmail.com', port: 993, security: 'tls' },
    mailScopes: ['https://mail.google.com/'],
    otherScopes: ['openid', 'email'],
    addressOf: (claims) => (claims.email_verified === true ? textClaim(claims, 'email') : null),
  },
  microsoft: {
    smtp: { host: 'smtp.office365.com', port: 587, security: 'starttls' },
    imap: { host: 'outlook.office365.com', port: 993, security: 'tls' },
    mailScopes: ['https://outlook.office.com/IMAP.AccessAsUser.All', 'https://outlook.office.com/SMTP.Send'],
    // `profile` is for the claim preferred_username.
    otherScopes: ['openid', 'profile', 'email', 'offline_access'],
    // The user name, which the mail servers check. Administrators may set the claim `email` to any address.
    addressOf: (claims) => {
      const [user, email] = [textClaim(claims, 'preferred_username'), textClaim(claims, 'email')]
      return user !== null && parseEmail(user) !== null ? user : email
    },
  },
}

/**
 * Connects the mailbox of an identity with a sign-in at its provider.
 * @param replacements mail servers in place of the providers' own, by name; for tests.
 */
export function mailboxPurpose(
  dependencies: LoginDependencies,
  replacements: Readonly<Record<string, MailServersOfProvider>> = {},
): PurposeHandler {
  return {
    requestOf: async ({ tenant }, providerName, purpose) => {
      const { mailScopes, otherScopes } = mailProviderOf(providerName)
      const identityId = identityOf(purpose)
      await readIdentity(tenant, identityId)
      const account = await openEmailAccount(tenant, dependencies, identityId)
      const scopes = [...otherScopes, ...mailScopes]
      // Signing in again should not replace the mailbox with another one.
      return account?.renewal?.provider === providerName ? { scopes, loginHint: account.address } : { scopes }
    },
    complete: async ({ tenant, actor, now }, purpose, authorized) => {
      const identityId = identityOf(purpose)
      const provider = mailProviderOf(authorized.provider)
      const address = checkedAddress(provider, authorized)
      const servers = replacements[authorized.provider] ?? provider
      const known = await openEmailAccount(tenant, dependencies, identityId)
      const login = { user: address, accessToken: '' }
      const { accessToken, expiresAt, refreshToken } = authorized.tokens
      const { tokenUrl } = urlsOf(providerNamed(authorized.provider), {}, dependencies.providers.providerUrls)
      const settings = {
        address,
        smtp: { ...servers.smtp, login },
        imap: { ...servers.imap, login },
        renewal: {
          refreshToken,
          clientId: authorized.clientId,
          clientSecret: null,
          tokenUrl,
          provider: authorized.provider,
        },
        issued: { accessToken, expiresAt },
        ...(known ? { dailyLimit: known.dailyLimit, spacingSeconds: known.spacingSeconds } : {}),
      }
      await setEmailAccount(tenant, dependencies, actor, identityId, settings, now)
      return { path: `/identities/${identityId}` }
    },
  }
}

/** @throws ServiceError 400 for a provider without mail. */
function mailProviderOf(name: ProviderName): MailProvider {
  const provider = MAIL_PROVIDERS[name]
  if (provider) return provider
  const names = Object.keys(MAIL_PROVIDERS).join(' or ')
  throw validationError([{ path: 'provider', message: `must be ${names} for a mailbox` }])
}

/** @throws ServiceError 400 for other fields; 404 for a malformed id. */
function identityOf({ kind: _, identity_id, ...others }: Purpose): string {
  const details = Object.keys(others).map((name) => ({
    path: `purpose.${name}`,
    message: 'is not a field of a mailbox',
  }))
  if (identity_id === undefined) details.push({ path: 'purpose.identity_id', message: 'is required for a mailbox' })
  if (identity_id === undefined || details.length > 0) throw validationError(details)
  return pathId(identity_id, 'identity')
}

/** @throws ServiceError 400 if the person did not allow enough, or the provider returned no verified address. */
function checkedAddress({ mailScopes, addressOf }: MailProvider, { provider, scopes, claims }: Authorized): string {
  const { label } = providerNamed(provider)
  const refuse = (problem: string): never => {
    throw new ServiceError(400, 'authorization_failed', `The mailbox was not connected: ${problem}`)
  }
  const granted = scopes?.map((scope) => scope.toLowerCase())
  const missing = granted ? mailScopes.filter((scope) => !granted.includes(scope.toLowerCase())) : []
  if (missing.length > 0) {
    refuse(`you did not allow access to your mail at ${label} (${missing.join(', ')}). Sign in again and allow it.`)
  }
  const address = claims === null ? null : addressOf(claims)
  const parsed = address === null ? null : parseEmail(address)
  return parsed ?? refuse(`${label} returned no verified email address for this account. Sign in with another account.`)
}
