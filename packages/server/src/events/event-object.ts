import Type from 'typebox'
import { contactsOf, type Owned } from '../owners/owners.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'

const Text = Nullable(Type.String())

export const JoinedContact = Type.Object(
  { _id: Id, email: Text, firstname: Text, lastname: Text },
  { title: 'JoinedContact' },
)
export type JoinedContact = Type.Static<typeof JoinedContact>
export const JoinedCompany = Type.Object({ _id: Id, name: Text, domain: Text }, { title: 'JoinedCompany' })
export type JoinedCompany = Type.Static<typeof JoinedCompany>

const FIELDS = {
  event_id: Id,
  _id: Id,
  event: Type.String({ examples: ['page_view'] }),
  timestamp: Timestamp,
  createdAt: Type.String({ format: 'date-time', description: 'When the service received the event.' }),
  url: Text,
  domain: Type.Unsafe<string | null>({ ...Text, description: 'Host of url.' }),
  data: Type.Record(Type.String(), Type.Unknown(), { examples: [{ title: 'Pricing', path: '/pricing' }] }),
  internal_contact_id: Nullable(Id),
  visitor_id: Text,
  session_id: Text,
  referrer: Text,
  referring_domain: Text,
  browser: Text,
  os: Text,
  device_type: Text,
  is_bot: Type.Boolean(),
  origin_mismatch: Type.Boolean({
    description: 'Whether the host of url differs from the host of the page that sent the event.',
  }),
  screen: Text,
  user_agent: Text,
  analytics_user_id: Type.Unsafe<string | null>({
    ...Text,
    description: "The visitor's id in another analytics tool, if the page sends it.",
  }),
}

/** An event with its contact and that contact's company. */
export const EnrichedEvent = Type.Object(
  {
    ...FIELDS,
    contact: Nullable(JoinedContact),
    company: Nullable(JoinedCompany),
  },
  { title: 'Event' },
)

/** An event without contact and company. */
export const PlainEvent = Type.Object(FIELDS, { title: 'PlainEvent' })

/** fields=summary of the events list. */
export const SummaryEvent = Type.Object(
  {
    id: Id,
    event: Type.String(),
    url: Text,
    timestamp: Timestamp,
    contact_id: Nullable(Id),
  },
  { title: 'EventSummary' },
)

/** An event in the list of its contact. */
export const CompactEvent = Type.Object(
  {
    event_id: Id,
    _id: Id,
    event: Type.String(),
    timestamp: Timestamp,
    url: Text,
    title: Text,
  },
  { title: 'CompactEvent' },
)

/** An event in the activity of several contacts. */
export const ActivityEvent = Type.Object(
  { id: Id, event: Type.String(), url: Text, timestamp: Timestamp, title: Text },
  { title: 'ActivityEvent' },
)

/** fields=summary of the events of a contact. */
export const ContactEvent = Type.Object(
  {
    event_id: Id,
    _id: Id,
    event: Type.String(),
    timestamp: Timestamp,
    url: Text,
    contact_id: Nullable(Id),
  },
  { title: 'ContactEvent' },
)

export type EventObject = Type.Static<typeof PlainEvent>
export type EventWithContact = Type.Static<typeof EnrichedEvent>

/** The columns that the queries of this folder select; times are milliseconds since 1970. */
export interface EventRow extends Owned {
  event_id: string
  event: string
  timestamp_ms: number
  received_at_ms: number
  url: string
  domain: string
  data: string
  visitor_id: string
  session_id: string
  referrer: string
  referring_domain: string
  browser: string
  os: string
  device_type: string
  is_bot: number | boolean
  origin_mismatch: number | boolean
  screen: string
  user_agent: string
  analytics_user_id: string
}

export const EVENT_SELECT = `event_id, event, toUnixTimestamp64Milli(timestamp) AS timestamp_ms,
  toUnixTimestamp64Milli(received_at) AS received_at_ms, url, domain, data, owner_id, is_anonymous, visitor_id, session_id,
  referrer, referring_domain, browser, os, device_type, is_bot, origin_mismatch, screen, user_agent,
  analytics_user_id`

/** Events as the API returns them, with the ids of their current contacts. */
export async function toEventObjects(tenant: Tenant, rows: readonly EventRow[]): Promise<EventObject[]> {
  const contacts = await contactsOf(tenant, rows)
  return rows.map((row) => toEventObject(row, contacts.get(row.owner_id) ?? null))
}

/** An event as the API returns it, without contact and company. */
export function toEventObject(row: EventRow, contactId: string | null): EventObject {
  return {
    event_id: row.event_id,
    _id: row.event_id,
    event: row.event,
    timestamp: isoOf(row.timestamp_ms),
    createdAt: isoOf(row.received_at_ms),
    url: textOrNull(row.url),
    domain: textOrNull(row.domain),
    data: JSON.parse(row.data || '{}') as Record<string, unknown>,
    internal_contact_id: contactId,
    visitor_id: textOrNull(row.visitor_id),
    session_id: textOrNull(row.session_id),
    referrer: textOrNull(row.referrer),
    referring_domain: textOrNull(row.referring_domain),
    browser: textOrNull(row.browser),
    os: textOrNull(row.os),
    device_type: textOrNull(row.device_type),
    is_bot: Boolean(row.is_bot),
    origin_mismatch: Boolean(row.origin_mismatch),
    screen: textOrNull(row.screen),
    user_agent: textOrNull(row.user_agent),
    analytics_user_id: textOrNull(row.analytics_user_id),
  }
}

export function isoOf(milliseconds: number): string {
  return new Date(Number(milliseconds)).toISOString()
}

export function textOrNull(text: string): string | null {
  return text === '' ? null : text
}
