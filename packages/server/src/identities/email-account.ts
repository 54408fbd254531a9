/** How a mail server is reached: TLS from the first byte, STARTTLS (required, never optional), or in the clear. */
export type MailSecurity = 'tls' | 'starttls' | 'none'

/** A password, or an OAuth2 access token; where there are `tokens` it is of those, and they are asked for each log-in. */
export type MailLogin = { user: string } & ({ password: string } | { accessToken: string; tokens?: AccessTokens })

/** How access tokens are renewed (OAuth2, RFC 6749 section 6). */
export interface TokenRenewal {
  refreshToken: string
  clientId: string
  /** null for a public client. */
  clientSecret: string | null
  tokenUrl: string
}

/** Access tokens that are renewed when they end. */
export interface AccessTokens {
  /** One that has not ended yet, as far as is known. @throws TokenRefused; Error when the endpoint cannot be asked. */
  current(): Promise<string>
  /** Another one in place of one that a server refused. @throws as `current` does. */
  renew(refused: string): Promise<string>
  /** What must not be shown, of all that have been used. */
  secrets(): string[]
}

export interface MailServer {
  host: string
  port: number
  security: MailSecurity
  login: MailLogin
}

/** An identity's mailbox with its secrets opened; it lives in memory only and is never logged. */
export interface EmailAccount {
  identityId: string
  address: string
  /** What stands before the address: the identity's first and last name. */
  name: string
  smtp: MailServer
  /** null: nothing is received, and what was sent is not looked up. */
  imap: MailServer | null
  /** null: with a password, or an access token that lasts as long as it does. */
  renewal: TokenRenewal | null
  dailyLimit: number
  spacingSeconds: number
}
