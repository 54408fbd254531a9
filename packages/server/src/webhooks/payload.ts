import { type EventRow, toEventObject, toEventObjects } from '../events/event-object.ts'
import { joinContacts, type People } from '../events/people.ts'
import type { EventRecord } from '../journal/event-record.ts'
import type { Tenant } from '../platform/tenant.ts'
import { defaultText } from './event-types.ts'
import type { WebhookFormat } from './schema.ts'
import { type Content, renderMessage } from './slack/message.ts'

/** The settings that determine the format of a subscription's bodies. */
export interface Recipient {
  subscriptionId: string
  format: WebhookFormat
  /** The template of a message; null: the default text for the event. */
  template: string | null
}

/** An event to send, and the subscription that receives it. */
interface ToSend {
  recipient: Recipient
  record: EventRecord
}

/** A body, and the contact that it is about if the body itself does not contain the contact's id. */
interface Payload {
  payload: string
  contactId: string | null
}

/** The bodies of deliveries of one tenant, in the same order, with contacts and companies as they are now. */
export async function buildPayloads(tenant: Tenant, people: People, deliveries: readonly ToSend[]): Promise<Payload[]> {
  const rows = deliveries.map(({ record }) => toRow(record))
  const events = await joinContacts(tenant, people, await toEventObjects(tenant, rows))
  const inMessages = deliveries.flatMap(({ recipient }, index) =>
    recipient.format === 'slack' ? (events[index]?.internal_contact_id ?? []) : [],
  )
  const properties = await people.propertiesOf(tenant, [...new Set(inMessages)])
  return deliveries.flatMap(({ recipient, record }, index) => {
    const event = events[index]
    if (!event) return []
    const contactId = event.internal_contact_id
    const content = {
      event,
      title: record.title,
      path: record.url_path,
      properties: properties.get(contactId ?? '') ?? {},
    }
    return {
      payload: renderBody(tenant.id, recipient, content),
      contactId: recipient.format === 'slack' ? contactId : null,
    }
  })
}

/** The body of an event without a contact. It needs no query, so it is created when the event is recorded. */
export function payloadWithoutContact(tenantId: string, recipient: Recipient, record: EventRecord): string {
  const event = { ...toEventObject(toRow(record), null), contact: null, company: null }
  return renderBody(tenantId, recipient, { event, title: record.title, path: record.url_path, properties: {} })
}

/** A body in the format of its subscription. */
export function renderBody(
  tenantId: string,
  { subscriptionId, format, template }: Recipient,
  content: Content,
): string {
  if (format === 'json') return renderPayload(tenantId, subscriptionId, content)
  return renderMessage(template ?? defaultText(content.event.event), content)
}

/** A body: the event as in GET /v1/events/:event_id under `data`, with the most important fields beside it. */
export function renderPayload(
  tenantId: string,
  subscriptionId: string,
  { event, title, path }: Omit<Content, 'properties'>,
): string {
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
