import { type Selectable, sql } from 'kysely'
import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isSystemEvent } from './catalogue.ts'
import { payloadWithoutContact } from './payload.ts'
import { passes, type UrlFilter } from './url-filter.ts'

/** What decides whether an event goes to a subscription. */
export interface ActiveSubscription {
  subscriptionId: string
  event: string
  urlFilter: UrlFilter | null
}

/** The active subscriptions of a tenant. */
export type SubscriptionLookup = (tenantId: string) => Promise<readonly ActiveSubscription[]>

/** A delivery to be made, and the event that it will tell of. */
export interface NewDelivery {
  tenantId: string
  deliveryId: string
  subscriptionId: string
  eventId: string
  event: string
  /** The event, from which the first attempt makes the payload; null where that is there already. */
  record: string | null
  payload: string | null
  receivedAt: Date
}

export const SUBSCRIPTION_COLUMNS = ['subscription_id', 'event', 'url_filter'] as const

/** A row of `webhook_subscriptions` as what it says. */
export function toSubscription({
  subscription_id,
  event,
  url_filter,
}: Pick<Selectable<TenantTables['webhook_subscriptions']>, (typeof SUBSCRIPTION_COLUMNS)[number]>): ActiveSubscription {
  return { subscriptionId: subscription_id, event, urlFilter: url_filter as UrlFilter | null }
}

/** Reads a tenant's active subscriptions. */
export async function activeSubscriptions(tenant: Tenant): Promise<ActiveSubscription[]> {
  const rows = await tenant.db
    .selectFrom('webhook_subscriptions')
    .select(SUBSCRIPTION_COLUMNS)
    .where('paused_at', 'is', null)
    .execute()
  return rows.map(toSubscription)
}

/** The deliveries that some events of one tenant cause. */
export function deliveriesOf(
  events: readonly EventRecord[],
  subscriptions: readonly ActiveSubscription[],
): NewDelivery[] {
  if (subscriptions.length === 0) return []
  return events.flatMap((event) => {
    const matching = subscriptions.filter((each) => each.event === event.event && passes(each.urlFilter, event.url))
    // Any page can send an event named contact_created: it is not the service's.
    if (matching.length === 0 || (isSystemEvent(event.event) && !event.is_system)) return []
    const isJoined = !event.is_anonymous
    const record = isJoined ? JSON.stringify(event) : null
    return matching.map(({ subscriptionId }) => ({
      tenantId: event.tenant_id,
      deliveryId: newId(),
      subscriptionId,
      eventId: event.event_id,
      event: event.event,
      record,
      payload: isJoined ? null : payloadWithoutContact(event.tenant_id, subscriptionId, event),
      receivedAt: new Date(event.received_at),
    }))
  })
}

/** Adds what some events that are being recorded cause, in the caller's transaction. */
export async function addDeliveries(
  tenant: Tenant,
  events: readonly EventRecord[],
  subscriptions: readonly ActiveSubscription[],
): Promise<void> {
  const deliveries = deliveriesOf(events, subscriptions)
  // A statement takes 65,535 values at the most.
  for (let start = 0; start < deliveries.length; start += ROWS_A_STATEMENT) {
    const rows = deliveries.slice(start, start + ROWS_A_STATEMENT).map((delivery) => ({
      delivery_id: delivery.deliveryId,
      subscription_id: delivery.subscriptionId,
      event_id: delivery.eventId,
      event: delivery.event,
      record: delivery.record,
      payload: delivery.payload,
      // Now, or before: a change that is imported or seeded may lie ahead of this machine's clock.
      due_at: sql<Date>`least(${delivery.receivedAt}::timestamptz, now())`,
      created_at: delivery.receivedAt,
    }))
    await tenant.db.insertInto('webhook_deliveries').values(rows).execute()
  }
}

const ROWS_A_STATEMENT = 1_000
