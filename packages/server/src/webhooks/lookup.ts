import { cached } from '../platform/cache.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { activeSubscriptions, type SubscriptionLookup } from './match.ts'

/** Makes the look-up of a tenant's active subscriptions, which are remembered until one of any tenant changes. */
export function createSubscriptionLookup(stores: Stores, invalidation: Invalidation): SubscriptionLookup {
  return cached(invalidation, (tenantId) => activeSubscriptions(openTenant(stores, tenantId)))
}
