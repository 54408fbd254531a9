import type { Selectable } from 'kysely'
import { type Actor, audit } from '../audit/log.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { notFound } from '../platform/errors.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { EmailAccount, MailLogin, MailSecurity, MailServer } from './email-account.ts'
import {
  type CheckedEmailSettings,
  checkEmailSettings,
  type EmailAccountSettings,
  loginFailed,
  secretOf,
} from './email-settings.ts'
import { subject } from './identities.ts'
import { checkLogin } from './mail/check-login.ts'
import type { MailDependencies } from './mail/dependencies.ts'

/** A mail server as it may be shown. */
export interface MailServerDescription {
  host: string
  port: number
  security: MailSecurity
  user: string
  login: 'password' | 'access_token'
}

/** A mailbox as its owner sees it: no secret. */
export interface EmailAccountDescription {
  identity_id: string
  address: string
  smtp: MailServerDescription
  imap: MailServerDescription | null
  daily_limit: number
  spacing_seconds: number
  /** Whether both servers accepted the last log-in that was tried. */
  connected: boolean
  verified_at: string | null
  /** What the servers answered when the last log-in failed. */
  error: string | null
  created_at: string
  updated_at: string
}

/** What the column `settings` holds. */
interface StoredSettings {
  smtp: MailServerDescription
  imap: MailServerDescription | null
}

/** What is encrypted in the column `sealed`. */
interface StoredSecrets {
  smtp: string
  imap: string | null
}

type Dependencies = Pick<MailDependencies, 'secrets' | 'connector'>
type Row = Selectable<TenantTables['email_accounts']>

/**
 * Gives an identity its mailbox, after both servers let it in.
 * @throws ServiceError 404; 400 for settings that cannot work, and `mail_login_failed` with what a server answered.
 */
export async function setEmailAccount(
  tenant: Tenant,
  { secrets, connector }: Dependencies,
  actor: Actor,
  identityId: string,
  settings: EmailAccountSettings,
  now: Date,
): Promise<EmailAccountDescription> {
  const checked = checkEmailSettings(settings, connector)
  await requireIdentity(tenant, identityId)
  const problems = await checkLogin(connector, checked)
  if (problems.length > 0) throw loginFailed(problems)
  const values = {
    address: checked.address,
    settings: JSON.stringify(toStoredSettings(checked)),
    sealed: secrets.seal(JSON.stringify(toStoredSecrets(checked)), emailPlace(tenant.id, identityId)),
    daily_limit: checked.dailyLimit,
    spacing_seconds: checked.spacingSeconds,
    verified_at: now,
    error: null,
    updated_at: now,
  }
  return tenant.transaction(async (tx) => {
    await requireIdentity(tx, identityId)
    const row = await tx.db
      .insertInto('email_accounts')
      .values({ identity_id: identityId, ...values, created_at: now })
      .onConflict((existing) => existing.column('identity_id').doUpdateSet(values))
      .returningAll()
      .executeTakeFirstOrThrow()
    const details = { address: row.address, ...toStoredSettings(checked) }
    await audit(tx, { actor, action: 'identity.email_set', ...subject(identityId), details }, now)
    return toDescription(row)
  })
}

/** Takes an identity's mailbox away, with its secrets. @throws ServiceError 404 for an identity without one. */
export async function removeEmailAccount(tenant: Tenant, actor: Actor, identityId: string, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    const row = await tx.db
      .deleteFrom('email_accounts')
      .where('identity_id', '=', identityId)
      .returning('address')
      .executeTakeFirst()
    if (!row) throw notFound('e-mail account')
    const details = { address: row.address }
    await audit(tx, { actor, action: 'identity.email_removed', ...subject(identityId), details }, now)
  })
}

/** An identity's mailbox without its secrets; null when it has none. */
export async function describeEmailAccount(
  tenant: Tenant,
  identityId: string,
): Promise<EmailAccountDescription | null> {
  const row = await findRow(tenant, identityId)
  return row ? toDescription(row) : null
}

/** Logs in at both servers now, and remembers what came of it. @throws ServiceError 404 for an identity without a mailbox. */
export async function checkEmailAccount(
  tenant: Tenant,
  { secrets, connector }: Dependencies,
  identityId: string,
  now: Date,
): Promise<EmailAccountDescription> {
  const account = await openEmailAccount(tenant, secrets, identityId)
  const before = await findRow(tenant, identityId)
  if (!account || !before) throw notFound('e-mail account')
  const problems = await checkLogin(connector, account)
  const error = problems.map(({ path, message }) => `${path.toUpperCase()}: ${message}`).join('; ')
  const row = await tenant.db
    .updateTable('email_accounts')
    .set(problems.length === 0 ? { verified_at: now, error: null } : { error })
    .where('identity_id', '=', identityId)
    // Whoever has set other servers meanwhile has had those checked.
    .where('sealed', '=', before.sealed)
    .returningAll()
    .executeTakeFirst()
  const after = row ?? (await findRow(tenant, identityId))
  if (!after) throw notFound('e-mail account')
  return toDescription(after)
}

/** An identity's mailbox with its secrets, to be used and forgotten; null when it has none. */
export async function openEmailAccount(
  tenant: Tenant,
  secrets: SecretBox,
  identityId: string,
): Promise<EmailAccount | null> {
  const row = await tenant.db
    .selectFrom('email_accounts')
    .innerJoin('identities', 'identities.identity_id', 'email_accounts.identity_id')
    .select(['first_name', 'last_name', 'address', 'settings', 'sealed', 'daily_limit', 'spacing_seconds'])
    .where('email_accounts.identity_id', '=', identityId)
    .executeTakeFirst()
  if (!row) return null
  const { smtp, imap } = row.settings as unknown as StoredSettings
  const opened = JSON.parse(secrets.open(row.sealed, emailPlace(tenant.id, identityId))) as StoredSecrets
  return {
    identityId,
    address: row.address,
    name: `${row.first_name} ${row.last_name}`,
    smtp: toServer(smtp, opened.smtp),
    imap: imap === null || opened.imap === null ? null : toServer(imap, opened.imap),
    dailyLimit: row.daily_limit,
    spacingSeconds: row.spacing_seconds,
  }
}

/** Where a mailbox's secrets are stored: they open nowhere else. */
export function emailPlace(tenantId: string, identityId: string): string {
  return `${tenantId}/${identityId}/email-account`
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

function toStoredSettings({ smtp, imap }: CheckedEmailSettings): StoredSettings {
  return { smtp: withoutSecret(smtp), imap: imap ? withoutSecret(imap) : null }
}

function toStoredSecrets({ smtp, imap }: CheckedEmailSettings): StoredSecrets {
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
  const { smtp, imap } = row.settings as unknown as StoredSettings
  return {
    identity_id: row.identity_id,
    address: row.address,
    smtp,
    imap,
    daily_limit: row.daily_limit,
    spacing_seconds: row.spacing_seconds,
    connected: row.verified_at !== null && row.error === null,
    verified_at: row.verified_at?.toISOString() ?? null,
    error: row.error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
