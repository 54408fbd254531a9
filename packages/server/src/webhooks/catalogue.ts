import { toEventObject } from '../events/event-object.ts'
import { EMPTY_RECORD, type EventRecord, NOBODY } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { EVENT_TYPES, EXAMPLE_CONTACT, findEventType, isOutsidePages, isSystemEvent } from './event-types.ts'
import { type Recipient, renderBody, toRow } from './payload.ts'
import type { WebhookEventType } from './schema.ts'
import type { Content } from './slack/message.ts'

const COMPANY = { _id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6072', name: 'Example', domain: 'example.com' }

/** The known event types. A tenant can also subscribe to any other name that it records. */
export function eventCatalogue(tenantId: string, now: Date): WebhookEventType[] {
  return Object.entries(EVENT_TYPES).map(([event, { summary }]) => ({
    event,
    summary,
    is_system: isSystemEvent(event),
    sample: JSON.parse(samplePayload(tenantId, { ...PLAIN, subscriptionId: newId() }, event, newId(), now)),
  }))
}

const PLAIN = { format: 'json', template: null } as const

/** A body for an event that did not happen, marked by `data.data.test` if it is JSON. */
export function samplePayload(
  tenantId: string,
  recipient: Recipient,
  event: string,
  eventId: string,
  now: Date,
): string {
  return renderBody(tenantId, recipient, sampleContent(tenantId, event, eventId, now))
}

/** A sample event; most are of a made-up contact. */
export function sampleContent(tenantId: string, event: string, eventId: string, now: Date): Content {
  const at = now.getTime()
  const type = findEventType(event)
  const contact = type?.ofNobody ? null : EXAMPLE_CONTACT
  const common = { ...EMPTY_RECORD, tenant_id: tenantId, event_id: eventId, event, timestamp: at, received_at: at }
  const data = JSON.stringify({ ...type?.data, test: true })
  const record: EventRecord = {
    ...common,
    ...(isOutsidePages(event) ? {} : PAGE),
    is_system: isSystemEvent(event),
    owner_id: contact?._id ?? NOBODY,
    is_anonymous: contact === null,
    data,
  }
  return {
    event: { ...toEventObject(toRow(record), contact?._id ?? null), contact, company: contact && COMPANY },
    title: record.title,
    path: record.url_path,
    properties:
      contact === null
        ? {}
        : { firstname: EXAMPLE_CONTACT.firstname, lastname: EXAMPLE_CONTACT.lastname, company: COMPANY.name },
  }
}

const PAGE = {
  visitor_id: 'visitor-1',
  session_id: 'session-1',
  url: 'https://www.example.com/pricing',
  url_path: '/pricing',
  domain: 'www.example.com',
  title: 'Pricing',
  referrer: 'https://www.google.com/',
  referring_domain: 'google.com',
  browser: 'Chrome',
  os: 'macOS',
  device_type: 'desktop',
  screen: '1920x1080',
}
