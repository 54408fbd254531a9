import type { Config } from '../config.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Logger } from '../platform/log.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { createKeyLookup } from './api-key-lookup.ts'
import { createDomainLookup } from './domains.ts'
import { createIdentificationLookups } from './identification-settings.ts'
import { isLoopback } from './loopback.ts'
import { createGrantLookup } from './oauth/grant-lookup.ts'

/** The lookups that nearly every request makes, cached until the data changes. */
export function createLookups({
  config,
  stores,
  secrets,
  invalidation,
  clock,
  log,
}: {
  config: Pick<Config, 'publicUrl'>
  stores: Stores
  secrets: SecretBox
  invalidation: Invalidation
  clock: Clock
  log: Logger
}) {
  return {
    findGrant: createGrantLookup(stores.database, clock),
    findApiKey: createKeyLookup(stores.database, invalidation, clock),
    findTenantOfHost: createDomainLookup(stores.database, invalidation, { isLocal: isLoopback(config.publicUrl) }),
    ...createIdentificationLookups(stores, secrets, invalidation, log),
  }
}
