import type { Config } from '../../config.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import { createMailer } from '../../platform/mail.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { createChallengeLookup, createSessionLookup } from '../sessions.ts'
import { setupToken } from '../setup.ts'
import { lazyAuth } from './auth.ts'
import { setupLink } from './links.ts'
import { signInSecret } from './secret.ts'

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
