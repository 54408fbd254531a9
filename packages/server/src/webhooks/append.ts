/*
 * An event and the deliveries that it causes commit together, in one of two ways: `appendRecords` adds both in a
 * transaction that changes something else too, `prepareDeliveries` adds the deliveries to a flush of the group commit.
 */

import { sql } from 'kysely'
import { appending } from '../journal/append.ts'
import type { EventRecord } from '../journal/event-record.ts'
import type { PreparePart } from '../journal/group-commit.ts'
import { cached } from '../platform/cache.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import {
  type ActiveSubscription,
  activeSubscriptions,
  deliveriesOf,
  SUBSCRIPTION_COLUMNS,
  toSubscription,
} from './match.ts'
import { addDeliveries, deliveryValues, insertDeliveries } from './queue/add.ts'

/**
 * Appends events to the journal with the deliveries that they cause, in the caller's transaction if it has one, so that
 * system events and their deliveries commit together with the change.
 * @param ownerLinks rows of that table that changed in the same transaction.
 */
export async function appendRecords(
  tenant: Tenant,
  records: readonly EventRecord[],
  ownerLinks: readonly object[] = [],
): Promise<void> {
  const names = [...new Set(records.map(({ event }) => event))]
  const subscriptions = await appending(tenant, records, ownerLinks)
    ?.selectFrom('webhook_subscriptions')
    .select(SUBSCRIPTION_COLUMNS)
    .where('tenant_id', '=', tenant.id)
    .where('paused_at', 'is', null)
    .where('event', '=', sql<string>`any(${names}::text[])`)
    .execute()
  if (subscriptions) await addDeliveries(tenant, deliveriesOf(records, subscriptions.map(toSubscription)))
}

/**
 * Adds the deliveries that the events of a flush cause, in the statement of the flush. The active subscriptions are
 * cached until a subscription of any tenant changes.
 */
export function prepareDeliveries(
  stores: Stores,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
): PreparePart {
  const findSubscriptions = cached(invalidation, (tenantId) =>
    // Even of a closed tenant, whose last events may be written together with those of others.
    activeSubscriptions(openTenant(evenIfClosed(stores), tenantId)),
  )
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
