import Type from 'typebox'
import { ContactId, Nullable, Timestamp } from '../platform/http/responses.ts'
import { LABEL, TEXT, WORD } from '../platform/personal.ts'
import { EnrichedEvent, isoOf, JoinedCompany, JoinedContact, markOfColumn, textOrNull } from './event-object.ts'

const Text = Nullable(Type.String(TEXT))
const Word = Nullable(Type.String(WORD))
const described = (description: string, text = Text) => Type.Unsafe<string | null>({ ...text, description })

/** The events of one session of a visitor. */
export const Visit = Type.Object(
  {
    visitor_id: Text,
    session_id: Type.String(TEXT),
    started_at: Timestamp,
    ended_at: Timestamp,
    duration_seconds: Type.Number({ description: 'From the first to the last event.' }),
    page_views: Type.Integer(),
    event_count: Type.Integer({ description: 'All events, including page views.' }),
    event_names: Type.Array(Type.String(LABEL), { description: 'The names of its events, sorted; at most 50.' }),
    entry_url: described('URL of the first page.'),
    entry_title: described('Title of the first page.'),
    exit_url: described('URL of the last page.'),
    referrer: described('Referrer of the first page.'),
    referring_domain: described("Host of the referrer; null if it is the site's own.", Word),
    utm_source: described('From the URL of the first page, like the other two.'),
    utm_medium: Text,
    utm_campaign: Text,
    country: Word,
    region: Word,
    city: Nullable(Type.String(markOfColumn('city'))),
    browser: Word,
    os: Word,
    device_type: Word,
    is_bot: Type.Boolean(),
    internal_contact_id: Nullable(ContactId),
    contact: Nullable(JoinedContact),
    company: Nullable(JoinedCompany),
  },
  { title: 'Visit' },
)

/** A visit, or an event outside any visit, such as a system event or one that your systems sent. */
export const TimelineItem = Type.Union([
  Type.Object({ kind: Type.Literal('visit'), visit: Visit }, { title: 'TimelineVisit' }),
  Type.Object({ kind: Type.Literal('event'), event: EnrichedEvent }, { title: 'TimelineEvent' }),
])

/** The visit's first page, or its first event if it has no page; times are milliseconds since 1970. */
export interface VisitRow {
  visitor_id: string
  session_id: string
  started_ms: number
  ended_ms: number
  page_views: number
  event_count: number
  event_names: string[]
  owner: string
  anonymous: boolean | number
  entry_url: string
  entry_title: string
  exit_url: string
  entry_referrer: string
  entry_referring_domain: string
  entry_utm_source: string
  entry_utm_medium: string
  entry_utm_campaign: string
  entry_country: string
  entry_region: string
  entry_city: string
  entry_browser: string
  entry_os: string
  entry_device_type: string
  entry_is_bot: boolean | number
}

/** A visit as the API returns it, without contact and company. */
export function toVisit(row: VisitRow, contactId: string | null) {
  const { started_ms, ended_ms, entry_url } = row
  return {
    visitor_id: textOrNull(row.visitor_id),
    session_id: row.session_id,
    started_at: isoOf(started_ms),
    ended_at: isoOf(ended_ms),
    duration_seconds: (Number(ended_ms) - Number(started_ms)) / 1_000,
    page_views: Number(row.page_views),
    event_count: Number(row.event_count),
    event_names: row.event_names,
    entry_url: textOrNull(entry_url),
    entry_title: textOrNull(row.entry_title),
    exit_url: textOrNull(row.exit_url),
    referrer: textOrNull(row.entry_referrer),
    referring_domain: textOrNull(row.entry_referring_domain),
    utm_source: textOrNull(row.entry_utm_source),
    utm_medium: textOrNull(row.entry_utm_medium),
    utm_campaign: textOrNull(row.entry_utm_campaign),
    country: textOrNull(row.entry_country),
    region: textOrNull(row.entry_region),
    city: textOrNull(row.entry_city),
    browser: textOrNull(row.entry_browser),
    os: textOrNull(row.entry_os),
    device_type: textOrNull(row.entry_device_type),
    is_bot: Boolean(row.entry_is_bot),
    internal_contact_id: contactId,
  }
}
