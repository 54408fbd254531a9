import type { Config } from '../../config.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import { createMailer } from '../../platform/mail.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { ensureServiceSecret } from '../service-secrets.ts'
import { createChallengeLookup, createSessionLookup } from '../sessions.ts'
import { setupToken } from '../setup.ts'
import { lazyAuth } from './auth.ts'
import { setupLink } from './links.ts'

/** Prepares sign-in without loading or querying anything before the first person signs in. */
export function prepareSignIn({
  config,
  stores,
  secrets,
  clock,
  log,
}: {
  config: Config
  stores: Stores
  secrets: SecretBox
  clock: Clock
  log: Logger
}) {
  const secret = signInSecret(config, stores, secrets, clock)
  const mailer = createMailer(config)
  return {
    mailer,
    auth: lazyAuth({ config, stores, secret, clock, log }),
    findChallenged: createChallengeLookup(stores.database, secret, config.publicUrl),
    findSession: createSessionLookup(stores.database, secret, config.publicUrl, clock),
    /** @param url the address that the service listens on, once its port is known. */
    findSetupLink: async (url: string) => {
      const token = await setupToken(stores.database, secrets, clock())
      const isPortOpen = new URL(config.publicUrl).port === '0'
      return token === null ? null : setupLink(isPortOpen ? url : config.publicUrl, token)
    },
  }
}

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
