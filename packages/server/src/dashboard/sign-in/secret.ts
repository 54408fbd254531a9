import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { keepServiceSecret } from '../../tenants/service-secrets.ts'

/**
 * Makes the way to the secret that signs sessions and encrypts second factors: CDS_AUTH_SECRET, or one that the service
 * keeps. A new key in CDS_SECRET_KEY neither signs people out nor loses their second factors, as a secret derived from
 * the key would.
 */
export function signInSecret(
  { authSecret }: { authSecret: string | null },
  { database }: Stores,
  secrets: SecretBox,
  clock: Clock,
): () => Promise<string> {
  let known: Promise<string> | undefined
  const load = async () => authSecret ?? keepServiceSecret(database, secrets, 'sign-in', clock())

  return () => {
    known ??= load().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}
