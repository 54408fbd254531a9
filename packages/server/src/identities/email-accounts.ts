import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import { type Actor, audit } from '../operations/audit.ts'
import { normalizeEmail } from '../platform/email.ts'
import { notFound } from '../platform/errors.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type AccessTokens, createAccessTokens, type TokenStore } from '../providers/access-tokens.ts'
import { renewalClient } from '../providers/clients.ts'
import { providerNamed } from '../providers/provider.ts'
import type { Tokens } from '../providers/token-request.ts'
import type { EmailAccount, MailLogin, MailServer, TokenRenewal } from './email-account.ts'
import type { EmailAccountDescription, MailServerDescription, RenewalDescription } from './email-account-object.ts'
import { emailPlace, lockTokens, type StoredSecrets, tokenStore } from './email-secrets.ts'
import {
  type CheckedEmailSettings,
  checkEmailSettings,
  type EmailAccountSettings,
  formatProblems,
  loginFailed,
  secretOf,
} from './email-settings.ts'
import { subject } from './identities.ts'
import { checkLogin } from './mail/check-login.ts'
import type { MailDependencies } from './mail/dependencies.ts'

/** The column `settings`. */
interface StoredSettings {
  smtp: MailServerDescription
  imap: MailServerDescription | null
  renewal?: RenewalDescription | null
}

/** For decrypting an account's secrets and renewing its access tokens. */
export type OpenDependencies = Pick<MailDependencies, 'secrets' | 'tokenApi' | 'providers' | 'clock'>
/** For logging in at its servers too. */
export type LoginDependencies = OpenDependencies & Pick<MailDependencies, 'connector'>
type Row = Selectable<TenantTables['email_accounts']>

/**
 * Sets an identity's email account after both servers have accepted the login.
 * @throws ServiceError 404; 400 for invalid settings, and `mail_login_failed` with the server's reply.
 */
export async function setEmailAccount(
  tenant: Tenant,
  dependencies: LoginDependencies,
  actor: Actor,
  identityId: string,
  settings: EmailAccountSettings,
  now: Date,
): Promise<EmailAccountDescription> {
  const { secrets, connector } = dependencies
  const checked = checkEmailSettings(settings, connector)
  await requireIdentity(tenant, identityId)
  const known = await openEmailAccount(tenant, dependencies, identityId, { asksAgain: true })
  const kept = keptTokens(checked, known)
  const tokens = kept ?? firstTokens(tenant, dependencies, checked)
  const problems = await checkLogin(connector, tokens ? withTokens(checked, tokens) : checked)
  if (problems.length > 0) throw loginFailed(problems)
  const values = {
    address: checked.address,
    settings: JSON.stringify(toStoredSettings(checked)),
    daily_limit: checked.dailyLimit,
    spacing_seconds: checked.spacingSeconds,
    verified_at: now,
    error: null,
    needs_sign_in: false,
    updated_at: now,
  }
  return tenant.transaction(async (tx) => {
    await requireIdentity(tx, identityId)
    // Another process may have renewed kept tokens.
    const latest = (kept && (await lockTokens(tx, secrets, identityId))) ?? tokens?.latest()
    const sealed = secrets.seal(JSON.stringify(toStoredSecrets(checked, latest)), emailPlace(tenant.id, identityId))
    const row = await tx.db
      .insertInto('email_accounts')
      .values({ identity_id: identityId, ...values, sealed, created_at: now })
      .onConflict((existing) => existing.column('identity_id').doUpdateSet({ ...values, sealed }))
      .returningAll()
      .executeTakeFirstOrThrow()
    await announceChange(tx.db)
    const details = { address: row.address, ...toStoredSettings(checked) }
    await audit(tx, { actor, action: 'identity.email_set', ...subject(identityId), details }, now)
    return toDescription(row)
  })
}

/** The tokens of the stored account, if the new settings keep its refresh token. Renewed tokens are stored. */
function keptTokens({ renewal, issued }: CheckedEmailSettings, known: EmailAccount | null): AccessTokens | undefined {
  const isKept = renewal !== null && issued === undefined && isDeepStrictEqual(renewal, known?.renewal)
  const login = known?.smtp.login
  return isKept && login && 'tokens' in login ? login.tokens : undefined
}

/** If there is no access token, requesting the first one shows that renewal works. */
function firstTokens(
  tenant: Tenant,
  dependencies: OpenDependencies,
  { renewal, issued = { accessToken: '', expiresAt: null } }: CheckedEmailSettings,
): AccessTokens | undefined {
  if (!renewal) return undefined
  const nowhere = {
    load: async () => null,
    save: async (_: Tokens, renewed: Tokens) => renewed,
    saveRefusal: async () => null,
  }
  return openTokens(tenant, dependencies, renewal, { ...issued, refreshToken: renewal.refreshToken }, nowhere, null)
}

function openTokens(
  tenant: Tenant,
  { providers, tokenApi, clock }: OpenDependencies,
  renewal: TokenRenewal,
  tokens: Tokens,
  store: TokenStore,
  ended: string | null,
): AccessTokens {
  const { provider } = renewal
  if (provider === undefined) return createAccessTokens({ tokenApi, clock }, { client: renewal, tokens, store, ended })
  const client = renewalClient(tenant, providers, provider)
  return createAccessTokens({ tokenApi: providers.tokenApi, clock }, { client, tokens, store, ended })
}

/** Deletes an identity's email account with its secrets. @returns its address. @throws ServiceError 404 if it has none. */
export async function removeEmailAccount(tenant: Tenant, identityId: string): Promise<string> {
  return tenant.transaction(async (tx) => {
    const row = await tx.db
      .deleteFrom('email_accounts')
      .where('identity_id', '=', identityId)
      .returning('address')
      .executeTakeFirst()
    if (!row) throw notFound('email account')
    await announceChange(tx.db)
    return row.address
  })
}

/** An identity's email account without its secrets; null if it has none. */
export async function describeEmailAccount(
  tenant: Tenant,
  identityId: string,
): Promise<EmailAccountDescription | null> {
  const row = await findRow(tenant, identityId)
  return row ? toDescription(row) : null
}

/** @throws ServiceError 404 if the identity has no email account. */
export async function readEmailAccount(tenant: Tenant, identityId: string): Promise<EmailAccountDescription> {
  const account = await describeEmailAccount(tenant, identityId)
  if (!account) throw notFound('email account')
  return account
}

/** Logs in at both servers and stores the result. @throws ServiceError 404 if the identity has no email account. */
export async function checkEmailAccount(
  tenant: Tenant,
  dependencies: LoginDependencies,
  identityId: string,
  now: Date,
): Promise<EmailAccountDescription> {
  const account = await openEmailAccount(tenant, dependencies, identityId, { asksAgain: true })
  const before = await findRow(tenant, identityId)
  if (!account || !before) throw notFound('email account')
  const problems = await checkLogin(dependencies.connector, account)
  const error = formatProblems(problems)
  const row = await tenant.db
    .updateTable('email_accounts')
    .set(problems.length === 0 ? { verified_at: now, error: null, needs_sign_in: false } : { error })
    .where('identity_id', '=', identityId)
    // If the account has been set again, its new servers were checked then.
    .where('updated_at', '=', before.updated_at)
    .returningAll()
    .executeTakeFirst()
  const after = row ?? (await findRow(tenant, identityId))
  if (!after) throw notFound('email account')
  return toDescription(after)
}

/**
 * An identity's email account with its secrets decrypted; null if it has none.
 * @param asksAgain whether to ask for a new token even though the access has ended.
 */
export async function openEmailAccount(
  tenant: Tenant,
  dependencies: OpenDependencies,
  identityId: string,
  { asksAgain = false }: { asksAgain?: boolean } = {},
): Promise<EmailAccount | null> {
  const row = await tenant.db
    .selectFrom('email_accounts')
    .innerJoin('identities', 'identities.identity_id', 'email_accounts.identity_id')
    .select(['first_name', 'last_name', 'address', 'settings', 'sealed', 'daily_limit', 'spacing_seconds'])
    .select(['email_accounts.updated_at', 'error', 'needs_sign_in'])
    .where('email_accounts.identity_id', '=', identityId)
    .executeTakeFirst()
  if (!row) return null
  const { smtp, imap, renewal: shown } = row.settings as unknown as StoredSettings
  const { secrets } = dependencies
  const opened = JSON.parse(secrets.open(row.sealed, emailPlace(tenant.id, identityId))) as StoredSecrets
  const stored = opened.tokens
  const renewal =
    shown && stored
      ? {
          refreshToken: stored.refreshToken,
          clientSecret: stored.clientSecret,
          clientId: shown.client_id,
          tokenUrl: shown.token_url,
          ...(shown.provider == null ? {} : { provider: providerNamed(shown.provider).name }),
        }
      : null
  const store = tokenStore(tenant, secrets, identityId, row.updated_at)
  const ended = row.needs_sign_in && !asksAgain ? row.error : null
  const tokens = renewal && stored ? openTokens(tenant, dependencies, renewal, stored, store, ended) : undefined
  const account = {
    identityId,
    address: row.address,
    name: `${row.first_name} ${row.last_name}`,
    smtp: toServer(smtp, opened.smtp),
    imap: imap === null || opened.imap === null ? null : toServer(imap, opened.imap),
    renewal,
    dailyLimit: row.daily_limit,
    spacingSeconds: row.spacing_seconds,
  }
  return tokens ? withTokens(account, tokens) : account
}

/** The addresses of the tenant's own email accounts, in lower case. */
export async function ownAddresses(tenant: Tenant): Promise<Set<string>> {
  const rows = await tenant.db.selectFrom('email_accounts').select('address').execute()
  return new Set(rows.map(({ address }) => normalizeEmail(address)))
}

/** Returns the account with logins that get a current token each time. */
function withTokens<Account extends { smtp: MailServer; imap: MailServer | null }>(
  account: Account,
  tokens: AccessTokens,
): Account {
  const renewed = (server: MailServer): MailServer => ({
    ...server,
    login: { user: server.login.user, accessToken: tokens.latest().accessToken, tokens },
  })
  return { ...account, smtp: renewed(account.smtp), imap: account.imap && renewed(account.imap) }
}

async function findRow(tenant: Tenant, identityId: string): Promise<Row | undefined> {
  return tenant.db.selectFrom('email_accounts').selectAll().where('identity_id', '=', identityId).executeTakeFirst()
}

async function requireIdentity(tenant: Tenant, identityId: string): Promise<void> {
  const row = await tenant.db
    .selectFrom('identities')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .forKeyShare()
    .executeTakeFirst()
  if (!row) throw notFound('identity')
}

function toStoredSettings({ smtp, imap, renewal }: CheckedEmailSettings): StoredSettings {
  const servers = { smtp: withoutSecret(smtp), imap: imap ? withoutSecret(imap) : null }
  if (!renewal) return servers
  const { clientId, tokenUrl, provider = null } = renewal
  return { ...servers, renewal: { client_id: clientId, token_url: tokenUrl, provider } }
}

function toStoredSecrets({ smtp, imap, renewal }: CheckedEmailSettings, tokens: Tokens | undefined): StoredSecrets {
  if (renewal && tokens) {
    return { smtp: '', imap: imap ? '' : null, tokens: { ...tokens, clientSecret: renewal.clientSecret } }
  }
  return { smtp: secretOf(smtp.login)[1], imap: imap ? secretOf(imap.login)[1] : null }
}

function withoutSecret({ host, port, security, login }: MailServer): MailServerDescription {
  return { host, port, security, user: login.user, login: secretOf(login)[0] }
}

function toServer({ host, port, security, user, login }: MailServerDescription, secret: string): MailServer {
  const opened: MailLogin = login === 'password' ? { user, password: secret } : { user, accessToken: secret }
  return { host, port, security, login: opened }
}

function toDescription(row: Row): EmailAccountDescription {
  const { smtp, imap, renewal = null } = row.settings as unknown as StoredSettings
  return {
    identity_id: row.identity_id,
    address: row.address,
    smtp,
    imap,
    renewal,
    daily_limit: row.daily_limit,
    spacing_seconds: row.spacing_seconds,
    connected: row.verified_at !== null && row.error === null,
    verified_at: row.verified_at?.toISOString() ?? null,
    error: row.error,
    needs_sign_in: row.needs_sign_in,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
