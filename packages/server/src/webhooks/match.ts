import type { Selectable } from 'kysely'
import { meetsAll } from '../conditions/in-memory.ts'
import type { ConditionOnEvent } from '../conditions/language.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isSystemEvent } from './event-types.ts'
import { payloadWithoutContact, type Recipient } from './payload.ts'
import type { NewDelivery } from './queue/add.ts'
import type { WebhookFormat } from './schema.ts'
import { passes, type UrlFilter } from './url-filter.ts'

/** An active subscription, and what decides which events it receives. */
export interface ActiveSubscription extends Recipient {
  event: string
  urlFilter: UrlFilter | null
  /** Conditions on the event; all must be true. */
  where: readonly ConditionOnEvent[]
  /** The only segment whose entries or exits it receives. */
  segmentId: string | null
}

/** The columns that `toSubscription` reads. */
export const SUBSCRIPTION_COLUMNS = [
  'subscription_id',
  'event',
  'url_filter',
  'conditions',
  'only_segment_id',
  'format',
  'template',
] as const

/** Converts a row of `webhook_subscriptions`. */
export function toSubscription({
  subscription_id,
  event,
  url_filter,
  conditions,
  only_segment_id,
  format,
  template,
}: Pick<Selectable<TenantTables['webhook_subscriptions']>, (typeof SUBSCRIPTION_COLUMNS)[number]>): ActiveSubscription {
  return {
    subscriptionId: subscription_id,
    event,
    urlFilter: url_filter as UrlFilter | null,
    where: (conditions ?? []) as unknown as ConditionOnEvent[],
    segmentId: only_segment_id,
    format: format as WebhookFormat,
    template,
  }
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

/** The deliveries that events of one tenant cause. */
export function deliveriesOf(
  events: readonly EventRecord[],
  subscriptions: readonly ActiveSubscription[],
): NewDelivery[] {
  if (subscriptions.length === 0) return []
  return events.flatMap((event) => {
    const matching = subscriptions.filter(
      (each) =>
        each.event === event.event &&
        passes(each.urlFilter, event.url) &&
        isOfSegment(event, each.segmentId) &&
        meetsAll(event, each.where, new Date(event.received_at)),
    )
    // Any page can send an event named contact_created; only the service's own is delivered.
    if (matching.length === 0 || (isSystemEvent(event.event) && !event.is_system)) return []
    const hasContact = !event.is_anonymous
    const record = hasContact ? JSON.stringify(event) : null
    return matching.map((subscription) => ({
      tenantId: event.tenant_id,
      deliveryId: newId(),
      subscriptionId: subscription.subscriptionId,
      eventId: event.event_id,
      event: event.event,
      record,
      payload: hasContact ? null : payloadWithoutContact(event.tenant_id, subscription, event),
      isTest: false,
      createdAt: new Date(event.received_at),
    }))
  })
}

/** Whether an entry or exit is of the segment that a subscription is limited to. */
function isOfSegment({ data }: EventRecord, segmentId: string | null): boolean {
  return segmentId === null || (JSON.parse(data) as { segment_id?: unknown }).segment_id === segmentId
}
