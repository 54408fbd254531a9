import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Logger } from '../platform/log.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { createKeyLookup } from './api-key-lookup.ts'
import { createDomainLookup } from './domains.ts'
import { createIdentificationLookup } from './identification-settings.ts'

interface Dependencies {
  stores: Stores
  secrets: SecretBox
  invalidation: Invalidation
  clock: Clock
  log: Logger
}

/** The lookups that nearly every request makes, cached until the data changes. */
export function createLookups({ stores, secrets, invalidation, clock, log }: Dependencies) {
  return {
    findApiKey: createKeyLookup(stores.database, invalidation, clock),
    findTenantOfHost: createDomainLookup(stores.database, invalidation),
    findIdentificationKeys: createIdentificationLookup(stores, secrets, invalidation, log),
  }
}
