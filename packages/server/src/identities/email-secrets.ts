import type { Tokens } from './mail/access-tokens.ts'

/** What is encrypted of a mailbox, in the column `sealed`. */
export interface StoredSecrets {
  /** A password or an access token; empty where there are `tokens`. */
  smtp: string
  imap: string | null
  /** Of an account whose access tokens are renewed, for both servers. */
  tokens?: Tokens & { clientSecret: string | null }
}

/** Where a mailbox's secrets are stored: they open nowhere else. */
export function emailPlace(tenantId: string, identityId: string): string {
  return `${tenantId}/${identityId}/email-account`
}
