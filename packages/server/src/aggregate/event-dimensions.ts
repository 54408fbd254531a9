import { markOfColumn } from '../events/event-object.ts'
import type { EventRecord } from '../journal/event-record.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { ABOUT_CONTACT, TEXT, WORD } from '../platform/personal.ts'
import type { Dimension, Dimensions, Measure } from './dimension.ts'

function text(column: keyof EventRecord, description: string): Dimension {
  return { sql: column, kind: 'text', description, mark: markOfColumn(column) }
}

/** Columns that are dimensions under their own names. */
function texts<Name extends keyof EventRecord>(columns: Readonly<Record<Name, string>>) {
  const dimensions = Object.entries<string>(columns).map(([name, description]) => [
    name,
    text(name as Name, description),
  ])
  return Object.fromEntries(dimensions) as Record<Name, Dimension>
}

/** The dimensions of events, in ClickHouse SQL. */
export const EVENT_DIMENSIONS = {
  event_type: text('event', 'Event name.'),
  ...texts({
    domain: 'Host of the URL.',
    url: 'Whole URL.',
    url_path: 'Path of the URL.',
    title: 'Page title.',
    text: 'Text of the element.',
    element_type: 'Type of the element, such as button.',
    element_id: 'Id of the element.',
    class: 'Full class attribute of the element. It varies a lot: to find an element, filter by class_contains.',
    analytics_user_id: 'User id of another analytics tool.',
    device_type: 'Device type, such as desktop.',
    browser: 'Browser name, such as Chrome.',
    os: 'Name of the operating system, such as macOS.',
    referring_domain: "Host of the referrer; none for the event's own site.",
    utm_source: 'utm_source in the URL, such as newsletter.',
    utm_medium: 'utm_medium in the URL, such as email.',
    utm_campaign: 'utm_campaign in the URL.',
    utm_term: 'utm_term in the URL.',
    utm_content: 'utm_content in the URL.',
    country: "Country of the sender's network, such as DE.",
    region: "Region of the sender's network, if the table of addresses has regions.",
    city: "City of the sender's network, if the table of addresses has cities.",
  }),
  contact_id: {
    sql: 'owner_id',
    kind: 'id',
    description: 'Identified contact; anonymous events are in no bucket.',
    mark: ABOUT_CONTACT,
  },
  visitor_id: { sql: 'visitor_id', kind: 'id', description: 'Visitor, identified or anonymous.', mark: TEXT },
  session_id: { sql: 'session_id', kind: 'id', description: 'Session.', mark: TEXT },
  company_id: {
    sql: 'owner_id',
    kind: 'id',
    description: "Company that the event's contact belongs to now; other events make no bucket.",
    mark: WORD,
  },
  day: {
    sql: 'toDate(timestamp)',
    kind: 'day',
    description: 'Day (UTC), `YYYY-MM-DD`: the most recent days, in chronological order.',
    mark: WORD,
  },
  week: {
    sql: 'toMonday(toDate(timestamp))',
    kind: 'week',
    description: 'ISO week (UTC), `YYYY-Www`: the most recent weeks, in chronological order.',
    mark: WORD,
  },
  month: {
    sql: 'toStartOfMonth(toDate(timestamp))',
    kind: 'month',
    description: 'Month (UTC), `YYYY-MM`: the most recent months, in chronological order.',
    mark: WORD,
  },
  is_bot: { sql: 'is_bot', kind: 'boolean', description: 'Whether the sender identifies itself as a bot.', mark: WORD },
} as const satisfies Dimensions

/** A JSON text of a number, such as `"12"`, as `numeric_property` reads them in PostgreSQL. */
const NUMERIC_TEXT = String.raw`^"(?:\\s|\\\\[tnrf])*([+-]?(?:[0-9]{1,30}(?:\\.[0-9]{0,30})?|\\.[0-9]{1,30}))(?:\\s|\\\\[tnrf])*"$`

/**
 * The number under a top-level key of a JSON object, or in a text there: numbers beyond 2^53 are kept as texts. null
 * for any other value. `{field}` is the key, `{field_in_json}` the key as this service serializes it: searching for
 * those bytes first avoids parsing most events.
 */
export function numberIn(json: string, { redaction }: Pick<Measure, 'redaction'>): string {
  const value = rawIn(json)
  // For a redacted caller, texts do not count: they may be phone numbers with a leading zero.
  const number = redaction
    ? `if(${value} IN {phone_numbers: Array(String)}, NULL, toFloat64OrNull(${value}))`
    : `toFloat64OrNull(replaceRegexpOne(${value}, '${NUMERIC_TEXT}', '\\\\1'))`
  return `if(position(${json}, {field_in_json: String}) = 0, NULL, ${number})`
}

/** The JSON under the key; empty if there is none. */
export function rawIn(json: string): string {
  return `JSONExtractRaw(${json}, {field: String})`
}

/** The placeholders of both. */
export function fieldParameters({ metric, field, redaction }: Measure): QueryParameters {
  if (metric === 'count') return {}
  const parameters = { field, field_in_json: JSON.stringify(field) }
  return redaction ? { ...parameters, phone_numbers: redaction.phoneNumbers } : parameters
}
