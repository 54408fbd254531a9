import { randomBytes } from 'node:crypto'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'

const NAME = 'sign-in'

/**
 * Makes the way to the secret that signs sessions and encrypts second factors: CDS_AUTH_SECRET, or one that the first
 * process to need it makes. That one is kept in the database, sealed: every process has the same, and a new key in
 * CDS_SECRET_KEY neither signs people out nor loses their second factors, as a secret derived from the key would.
 */
export function signInSecret(
  { authSecret }: { authSecret: string | null },
  { database }: Stores,
  secrets: SecretBox,
  clock: Clock,
): () => Promise<string> {
  let known: Promise<string> | undefined
  const place = serviceSecretPlace(NAME)

  async function load(): Promise<string> {
    if (authSecret !== null) return authSecret
    const found = database.selectFrom('service_secrets').select('sealed').where('name', '=', NAME)
    const before = await found.executeTakeFirst()
    if (before) return secrets.open(before.sealed, place)
    const sealed = secrets.seal(randomBytes(32).toString('base64'), place)
    await database
      .insertInto('service_secrets')
      .values({ name: NAME, sealed, created_at: clock() })
      .onConflict((existing) => existing.column('name').doNothing())
      .execute()
    return secrets.open((await found.executeTakeFirstOrThrow()).sealed, place)
  }

  return () => {
    known ??= load().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}

/** Where a secret of the service itself is sealed for. */
export function serviceSecretPlace(name: string): string {
  return `service_secrets/${name}`
}
