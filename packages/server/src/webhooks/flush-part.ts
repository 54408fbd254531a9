import type { PreparePart } from '../journal/group-commit.ts'
import { cached } from '../platform/cache.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { type ActiveSubscription, activeSubscriptions, deliveriesOf } from './match.ts'
import { deliveryValues, insertDeliveries } from './queue/add.ts'

/**
 * Adds the deliveries that the events of a flush cause, in the statement of the flush. The active subscriptions are
 * cached until a subscription of any tenant changes.
 */
export function prepareDeliveries(
  stores: Stores,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
): PreparePart {
  const findSubscriptions = cached(invalidation, (tenantId) => activeSubscriptions(openTenant(stores, tenantId)))
  return async (tenantIds) => {
    const found: [string, readonly ActiveSubscription[]][] = []
    for (const tenantId of tenantIds) {
      const subscriptions = await findSubscriptions(tenantId)
      if (subscriptions.length > 0) found.push([tenantId, subscriptions])
    }
    return (events) => {
      const deliveries = found.flatMap(([tenantId, subscriptions]) =>
        deliveriesOf(
          events.filter((event) => event.tenant_id === tenantId),
          subscriptions,
        ),
      )
      if (deliveries.length === 0) return null
      return { name: 'deliver', sql: insertDeliveries, values: deliveryValues(deliveries) }
    }
  }
}
