import { type EventRow, type EventWithContact, toEventObject, toEventObjects } from '../events/event-object.ts'
import { joinContacts } from '../events/join.ts'
import type { EventRecord } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'

/** An event to send, and the subscription that receives it. */
interface ToSend {
  subscriptionId: string
  record: EventRecord
}

/** The bodies of deliveries of one tenant, in the same order, with contacts and companies as they are now. */
export async function buildPayloads(tenant: Tenant, deliveries: readonly ToSend[]): Promise<string[]> {
  const rows = deliveries.map(({ record }) => toRow(record))
  const events = await joinContacts(tenant, await toEventObjects(tenant, rows))
  return deliveries.flatMap(({ subscriptionId, record }, index) => {
    const event = events[index]
    return event ? renderPayload(tenant.id, subscriptionId, { event, title: record.title, path: record.url_path }) : []
  })
}

/** The body of an event without a contact. It needs no query, so it is created when the event is recorded. */
export function payloadWithoutContact(tenantId: string, subscriptionId: string, record: EventRecord): string {
  const event = { ...toEventObject(toRow(record), null), contact: null, company: null }
  return renderPayload(tenantId, subscriptionId, { event, title: record.title, path: record.url_path })
}

interface Content {
  event: EventWithContact
  title: string
  path: string
}

/** A body: the event as in GET /v1/events/:event_id under `data`, with the most important fields beside it. */
export function renderPayload(tenantId: string, subscriptionId: string, { event, title, path }: Content): string {
  return JSON.stringify({
    event: event.event,
    subscription_id: subscriptionId,
    event_id: event.event_id,
    tenant_id: tenantId,
    timestamp: event.timestamp,
    data: { ...event, visitorId: event.visitor_id, title: title || null, path: path || null },
  })
}

/** Converts a journal record to a row as read from ClickHouse. */
export function toRow(record: EventRecord): EventRow {
  return { ...record, timestamp_ms: record.timestamp, received_at_ms: record.received_at }
}
