import { sql } from 'kysely'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Tenant } from '../platform/tenant.ts'
import { emailPlace, type StoredSecrets } from './email-secrets.ts'
import { TOKEN_PROBLEM, type TokenKeeper, type Tokens } from './mail/access-tokens.ts'

/** The key may be changed while a token is renewed, which seals the row anew. */
const TRIES = 3

interface Stored {
  sealed: string
  secrets: StoredSecrets
  tokens: NonNullable<StoredSecrets['tokens']>
}

/**
 * Keeps the tokens of an account where its secrets are.
 * @param setAt when it was set as it is used here: tokens of another setting are for other servers.
 */
export function keepTokens(tenant: Tenant, secrets: SecretBox, identityId: string, setAt: Date): TokenKeeper {
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
    store: async (before, renewed) => {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const stored = await read()
        if (!stored) return renewed
        if (!isSame(stored.tokens, before)) return stored.tokens
        const next: StoredSecrets = { ...stored.secrets, tokens: { ...stored.tokens, ...renewed } }
        const { numUpdatedRows } = await change(stored.sealed)
          .set({
            sealed: secrets.seal(JSON.stringify(next), place),
            error: sql<string | null>`CASE WHEN starts_with(error, ${TOKEN_PROBLEM}) THEN NULL ELSE error END`,
          })
          .executeTakeFirst()
        if (numUpdatedRows > 0n) break
      }
      return renewed
    },
    refused: async (before, problem) => {
      const stored = await read()
      if (!stored) return null
      if (!isSame(stored.tokens, before)) return stored.tokens
      await change(stored.sealed).set({ error: problem }).execute()
      return null
    },
  }
}

function isSame(one: Tokens, other: Tokens): boolean {
  return one.accessToken === other.accessToken && one.refreshToken === other.refreshToken
}
