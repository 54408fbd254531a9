import { sql } from 'kysely'
import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
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

/** Reads a tenant's active subscriptions, of some event types or of all. */
export async function activeSubscriptions(tenant: Tenant, events?: readonly string[]): Promise<ActiveSubscription[]> {
  let query = tenant.db
    .selectFrom('webhook_subscriptions')
    .select(['subscription_id', 'event', 'url_filter'])
    .where('paused_at', 'is', null)
  if (events) query = query.where('event', 'in', events)
  const rows = await query.execute()
  return rows.map((row) => ({
    subscriptionId: row.subscription_id,
    event: row.event,
    urlFilter: row.url_filter as UrlFilter | null,
  }))
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
export async function addDeliveries(tenant: Tenant, events: readonly EventRecord[]): Promise<void> {
  const names = [...new Set(events.map(({ event }) => event))]
  if (names.length === 0) return
  const deliveries = deliveriesOf(events, await activeSubscriptions(tenant, names))
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
