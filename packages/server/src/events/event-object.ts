import Type from 'typebox'
import type { EventRecord } from '../journal/event-record.ts'
import { contactsOf, type Owned } from '../owners/owners.ts'
import { ContactId, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { bag, LABEL, type Marked, personal, TEXT, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'

const Text = Nullable(Type.String(TEXT))

export const JoinedContact = Type.Object(
  {
    _id: ContactId,
    email: Nullable(Type.String(personal('email'))),
    firstname: Nullable(Type.String(personal('firstname'))),
    lastname: Nullable(Type.String(personal('lastname'))),
  },
  { title: 'JoinedContact' },
)
export type JoinedContact = Type.Static<typeof JoinedContact>
export const JoinedCompany = Type.Object(
  { _id: Id, name: Nullable(Type.String(LABEL)), domain: Nullable(Type.String(WORD)) },
  { title: 'JoinedCompany' },
)
export type JoinedCompany = Type.Static<typeof JoinedCompany>

interface Column {
  /** As the dashboard shows it. */
  label: string
  description?: string
  /** What it says about people; without it, the text may name anybody. */
  mark?: Marked
}

function columns<Name extends keyof EventRecord, Each extends Column>(of: Record<Name, Each>): Record<Name, Each> {
  return of
}

/** Columns of text that are fields under their own names; an empty text is null. */
const TEXTS = columns({
  url: { label: 'URL' },
  domain: { label: 'Domain', description: 'Host of url.', mark: WORD },
  visitor_id: { label: 'Visitor' },
  session_id: { label: 'Session' },
  referrer: { label: 'Referrer' },
  referring_domain: { label: 'Referring domain', mark: WORD },
  utm_source: { label: 'UTM source', description: 'From the query of url, like the other four.' },
  utm_medium: { label: 'UTM medium' },
  utm_campaign: { label: 'UTM campaign' },
  utm_term: { label: 'UTM term' },
  utm_content: { label: 'UTM content' },
  country: {
    label: 'Country',
    description: "Where the sender's network is: ISO 3166-1 alpha-2. The address itself is not stored.",
    mark: WORD,
  },
  region: { label: 'Region', description: 'null unless the table of addresses has regions.', mark: WORD },
  city: {
    label: 'City',
    description: 'null unless the table of addresses has cities.',
    mark: personal('address'),
  },
  browser: { label: 'Browser', mark: WORD },
  os: { label: 'Operating system', mark: WORD },
  device_type: { label: 'Device', mark: WORD },
  screen: { label: 'Screen', mark: WORD },
  user_agent: { label: 'User agent' },
  analytics_user_id: {
    label: 'Analytics user id',
    description: "The visitor's id in another analytics tool, if the page sends it.",
  },
})

const FLAGS = columns({
  is_bot: { label: 'Bot', description: 'Whether the sender identifies itself as a bot.' },
  origin_mismatch: {
    label: 'Sent from a different host',
    description: 'Whether the host of url differs from the host of the page that sent the event.',
  },
})

/** What a column of text says about people. Columns for searches have parts of other fields, which may name anybody. */
export function markOfColumn(name: keyof EventRecord): Marked {
  if (name === 'event') return LABEL
  const column: Column | undefined = Object.hasOwn(TEXTS, name) ? TEXTS[name as keyof typeof TEXTS] : undefined
  return column?.mark ?? TEXT
}

const TEXT_NAMES = Object.keys(TEXTS) as (keyof typeof TEXTS)[]
const FLAG_NAMES = Object.keys(FLAGS) as (keyof typeof FLAGS)[]

const FIELDS = {
  event_id: Id,
  _id: Id,
  event: Type.String({ examples: ['page_view'], ...markOfColumn('event') }),
  timestamp: Timestamp,
  createdAt: Type.String({ format: 'date-time', description: 'When the service received the event.' }),
  data: Type.Record(Type.String(), Type.Unknown(), {
    examples: [{ title: 'Pricing', path: '/pricing' }],
    ...bag('any'),
  }),
  internal_contact_id: Nullable(ContactId),
  ...byName(TEXT_NAMES, (name) => {
    const { description }: Column = TEXTS[name]
    return Nullable(Type.String(markOfColumn(name)), description)
  }),
  ...byName(FLAG_NAMES, (name) => Type.Boolean({ description: FLAGS[name].description })),
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
    event: Type.String(LABEL),
    url: Text,
    timestamp: Timestamp,
    contact_id: Nullable(ContactId),
  },
  { title: 'EventSummary' },
)

/** An event in the list of its contact. */
export const CompactEvent = Type.Object(
  {
    event_id: Id,
    _id: Id,
    event: Type.String(LABEL),
    timestamp: Timestamp,
    url: Text,
    title: Text,
  },
  { title: 'CompactEvent' },
)

/** An event in the activity of several contacts. */
export const ActivityEvent = Type.Object(
  { id: Id, event: Type.String(LABEL), url: Text, timestamp: Timestamp, title: Text },
  { title: 'ActivityEvent' },
)

/** fields=summary of the events of a contact. */
export const ContactEvent = Type.Object(
  {
    event_id: Id,
    _id: Id,
    event: Type.String(LABEL),
    timestamp: Timestamp,
    url: Text,
    contact_id: Nullable(ContactId),
  },
  { title: 'ContactEvent' },
)

export type EventObject = Type.Static<typeof PlainEvent>
export type EventWithContact = Type.Static<typeof EnrichedEvent>

/** The fields of events as filters and columns of a list, in the order of menus. */
export const EVENT_FIELDS = [
  { name: 'timestamp', label: 'Time', type: 'date' },
  { name: 'event', label: 'Event', type: 'text' },
  { name: 'internal_contact_id', label: 'Contact', type: 'text' },
  ...TEXT_NAMES.map((name) => ({ name, label: TEXTS[name].label, type: 'text' }) as const),
  ...FLAG_NAMES.map((name) => ({ name, label: FLAGS[name].label, type: 'boolean' }) as const),
  { name: 'createdAt', label: 'Received', type: 'date' },
  { name: 'event_id', label: 'Event id', type: 'text' },
] as const

/** What the queries of this folder select; times are milliseconds since 1970. */
export type EventRow = Owned &
  Pick<EventRecord, 'event_id' | 'event' | 'data' | keyof typeof TEXTS> &
  Record<keyof typeof FLAGS, number | boolean> & { timestamp_ms: number; received_at_ms: number }

export const EVENT_SELECT = [
  'event_id',
  'event',
  'toUnixTimestamp64Milli(timestamp) AS timestamp_ms',
  'toUnixTimestamp64Milli(received_at) AS received_at_ms',
  'data',
  'owner_id',
  'is_anonymous',
  ...TEXT_NAMES,
  ...FLAG_NAMES,
].join(', ')

/** Events as the API returns them, with the ids of their current contacts. */
export async function toEventObjects(tenant: Tenant, rows: readonly EventRow[]): Promise<EventObject[]> {
  const contacts = await contactsOf(tenant, rows)
  return rows.map((row) => toEventObject(row, contacts.get(row.owner_id) ?? null))
}

/** An event as the API returns it, without contact and company. */
export function toEventObject(row: EventRow, contactId: string | null): EventObject {
  const event = {
    event_id: row.event_id,
    _id: row.event_id,
    event: row.event,
    timestamp: isoOf(row.timestamp_ms),
    createdAt: isoOf(row.received_at_ms),
    data: JSON.parse(row.data || '{}') as Record<string, unknown>,
    internal_contact_id: contactId,
  } as EventObject
  for (const name of TEXT_NAMES) event[name] = textOrNull(row[name])
  for (const name of FLAG_NAMES) event[name] = Boolean(row[name])
  return event
}

function byName<Name extends string, Value>(names: readonly Name[], read: (name: Name) => Value) {
  const values = {} as Record<Name, Value>
  for (const name of names) values[name] = read(name)
  return values
}

export function isoOf(milliseconds: number): string {
  return new Date(Number(milliseconds)).toISOString()
}

export function textOrNull(text: string): string | null {
  return text === '' ? null : text
}
