/** How a mail server is reached: TLS from the first byte, STARTTLS (required, never optional), or in the clear. */
export type MailSecurity = 'tls' | 'starttls' | 'none'

/** A password, or an OAuth2 access token. */
export type MailLogin = { user: string } & ({ password: string } | { accessToken: string })

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
  dailyLimit: number
  spacingSeconds: number
}
