import { sql } from 'kysely'
import { appending } from '../journal/append.ts'
import type { EventRecord } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'
import { deliveriesOf, SUBSCRIPTION_COLUMNS, toSubscription } from './match.ts'
import { addDeliveries } from './queue/add.ts'

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
