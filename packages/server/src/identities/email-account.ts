import { sql } from 'kysely'
import type { AccessTokens } from '../providers/access-tokens.ts'
import type { ProviderName } from '../providers/provider.ts'

/** TLS from the first byte, STARTTLS (required, never optional), or unencrypted. */
export type MailSecurity = 'tls' | 'starttls' | 'none'

/** A password, or an OAuth2 access token. With `tokens`, each login gets its access token from them. */
export type MailLogin = { user: string } & ({ password: string } | { accessToken: string; tokens?: AccessTokens })

/**
 * How access tokens are renewed (OAuth2, RFC 6749 section 6): with a client that was given with the refresh token, or,
 * where a person signed in at a provider, with the tenant's client there.
 */
export interface TokenRenewal {
  refreshToken: string
  clientId: string
  /** null for a public client. */
  clientSecret: string | null
  tokenUrl: string
  /** The provider where a person signed in; absent if the refresh token was entered. */
  provider?: ProviderName
}

export interface MailServer {
  host: string
  port: number
  security: MailSecurity
  login: MailLogin
}

/** An email account with its secrets decrypted. Keep it in memory only and never log it. */
export interface EmailAccount {
  identityId: string
  address: string
  /** The display name: the identity's first and last name. */
  name: string
  smtp: MailServer
  /** null: no mail is received, and the Sent folder cannot be searched. */
  imap: MailServer | null
  /** null: the logins use passwords, or access tokens that are not renewed. */
  renewal: TokenRenewal | null
  dailyLimit: number
  spacingSeconds: number
}

/**
 * The accounts of all tenants as a table for a query, without secrets: whether mail can be read (`has_imap`), and a
 * digest of the settings (`setting`), which a renewed access token does not change.
 */
export const MAIL_ACCOUNTS = sql`(
  SELECT tenant_id, identity_id, jsonb_typeof(settings -> 'imap') IS NOT DISTINCT FROM 'object' AS has_imap,
    md5(address || settings::text || needs_sign_in::text || extract(epoch FROM updated_at)) AS setting
  FROM email_accounts)`
