import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { ensureServiceSecret } from '../service-secrets.ts'

/**
 * Creates the function that returns the secret for signing sessions and encrypting second factors: CDS_AUTH_SECRET,
 * or one that the service stores. It is not derived from CDS_SECRET_KEY, so a new key there neither signs people out
 * nor loses their second factors.
 */
export function signInSecret(
  { authSecret }: { authSecret: string | null },
  { database }: Stores,
  secrets: SecretBox,
  clock: Clock,
): () => Promise<string> {
  let known: Promise<string> | undefined
  const load = async () => authSecret ?? ensureServiceSecret(database, secrets, 'sign-in', clock())

  return () => {
    known ??= load().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}
