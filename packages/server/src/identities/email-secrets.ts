import { sql } from 'kysely'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isSame, type TokenStore } from '../providers/access-tokens.ts'
import { TOKEN_PROBLEM, type Tokens } from '../providers/token-request.ts'

/** A change of the encryption key during a renewal re-encrypts the row, so saving may need another attempt. */
const ATTEMPTS_MAX = 3

/** The encrypted part of an email account, in the column `sealed`. */
export interface StoredSecrets {
  /** A password or an access token; empty if there are `tokens`. */
  smtp: string
  imap: string | null
  /** For both servers, if access tokens are renewed. */
  tokens?: Tokens & { clientSecret: string | null }
}

/** Where an account's secrets are stored. They can be decrypted nowhere else. */
export function emailPlace(tenantId: string, identityId: string): string {
  return `${tenantId}/${identityId}/email-account`
}

/** The stored tokens of an account, whose row is locked, so that no renewal is lost; null if it has none. */
export async function lockTokens(tx: Tenant, secrets: SecretBox, identityId: string): Promise<Tokens | null> {
  const row = await tx.db
    .selectFrom('email_accounts')
    .select('sealed')
    .where('identity_id', '=', identityId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return null
  const { tokens } = JSON.parse(secrets.open(row.sealed, emailPlace(tx.id, identityId))) as StoredSecrets
  return tokens ?? null
}

interface Stored {
  sealed: string
  secrets: StoredSecrets
  tokens: NonNullable<StoredSecrets['tokens']>
}

/**
 * Stores an account's tokens with its other secrets.
 * @param setAt when the account was last set. If it has been set again since, the tokens may be for other servers and are not stored.
 */
export function tokenStore(tenant: Tenant, secrets: SecretBox, identityId: string, setAt: Date): TokenStore {
  const place = emailPlace(tenant.id, identityId)

  async function read(): Promise<Stored | null> {
    const row = await tenant.db
      .selectFrom('email_accounts')
      .select('sealed')
      .where('identity_id', '=', identityId)
      .where('updated_at', '=', setAt)
      .executeTakeFirst()
    if (!row) return null
    const opened = JSON.parse(secrets.open(row.sealed, place)) as StoredSecrets
    return opened.tokens ? { sealed: row.sealed, secrets: opened, tokens: opened.tokens } : null
  }

  const change = (sealed: string) =>
    tenant.db.updateTable('email_accounts').where('identity_id', '=', identityId).where('sealed', '=', sealed)

  return {
    load: async () => (await read())?.tokens ?? null,
    save: async (before, renewed) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const stored = await read()
        if (!stored) return renewed
        if (!isSame(stored.tokens, before)) return stored.tokens
        const next: StoredSecrets = { ...stored.secrets, tokens: { ...stored.tokens, ...renewed } }
        const { numUpdatedRows } = await change(stored.sealed)
          .set({
            sealed: secrets.seal(JSON.stringify(next), place),
            error: sql<string | null>`CASE WHEN starts_with(error, ${TOKEN_PROBLEM}) THEN NULL ELSE error END`,
            needs_sign_in: false,
          })
          .executeTakeFirst()
        if (numUpdatedRows > 0n) break
      }
      return renewed
    },
    saveRefusal: async (before, problem, isEnded) => {
      const stored = await read()
      if (!stored) return null
      if (!isSame(stored.tokens, before)) return stored.tokens
      await change(stored.sealed).set({ error: problem, needs_sign_in: isEnded }).execute()
      return null
    },
  }
}
