import { markOfColumn } from '../events/event-object.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { CONTACT_OF_EVENT } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { offsetInSql } from '../platform/clickhouse/zone-offset.ts'
import { ABOUT_CONTACT, type Marked, TEXT, WORD } from '../platform/personal.ts'
import type { Offset } from '../platform/time-zone.ts'

/**
 * The type of a key. Events with a missing `id` are in no bucket; those with any other missing key share one. `hour`, `day`,
 * `week` and `month` are sorted by time instead of value. Of `items`, an event has any number: the JSON of each.
 */
export type KeyKind = 'text' | 'id' | 'contact' | 'uuid' | 'boolean' | 'time' | 'items' | Period

export const PERIODS = ['hour', 'day', 'week', 'month'] as const
type Period = (typeof PERIODS)[number]

/** What events are grouped by, in ClickHouse. */
export interface EventGrouping {
  /** The key of an event; of the kind `items`, the list of its keys. */
  sql: string
  kind: KeyKind
  parameters?: QueryParameters
  /** The parameter with the set of contacts whose values are the keys. */
  valuesOf?: string
  /** Whether events without a key are in no bucket, as those without an `id` are. */
  hidesMissing?: boolean
}

/** A grouping with a name of its own. Validation, documentation and error messages are derived from it. */
interface EventDimension extends EventGrouping {
  description: string
  /** What its values say about people. */
  mark: Marked
}

function text(column: keyof EventRecord, description: string): EventDimension {
  return { sql: column, kind: 'text', description, mark: markOfColumn(column) }
}

/** Columns that are dimensions under their own names. */
function texts<Name extends keyof EventRecord>(columns: Readonly<Record<Name, string>>) {
  const dimensions = Object.entries<string>(columns).map(([name, description]) => [
    name,
    text(name as Name, description),
  ])
  return Object.fromEntries(dimensions) as Record<Name, EventDimension>
}

/** The day of an event in UTC, as the rollups spell it. */
const DAY = 'toDate(timestamp)'

function period(kind: Period, sql: string, description: string): EventDimension {
  return {
    sql,
    kind,
    description: `${description}, in \`time_zone\`: the most recent ones, in chronological order.`,
    mark: WORD,
  }
}

/** Local time in seconds since 1970, and how far it is ahead of UTC: `inZone` replaces both. */
const [LOCAL, OFFSET] = ['local_seconds', 'offset_seconds']

/** The dimensions of events, in ClickHouse SQL. Days, weeks and months are those of UTC: see `eventGrouping`. */
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
    sql: CONTACT_OF_EVENT,
    kind: 'contact',
    description: 'Identified contact; anonymous events are in no bucket.',
    mark: ABOUT_CONTACT,
  },
  visitor_id: { sql: 'visitor_id', kind: 'id', description: 'Visitor, identified or anonymous.', mark: TEXT },
  session_id: { sql: 'session_id', kind: 'id', description: 'Session.', mark: TEXT },
  company_id: {
    sql: CONTACT_OF_EVENT,
    kind: 'contact',
    description: "Company that the event's contact belongs to now; other events make no bucket.",
    mark: WORD,
  },
  hour: period(
    'hour',
    // The beginning of the local hour, and the offset, which differs between the two hours that clocks repeat.
    `tuple(toUnixTimestamp(timestamp) - ${LOCAL} % 3600, ${OFFSET})`,
    'Hour, `YYYY-MM-DDTHH:00+01:00`',
  ),
  day: period('day', DAY, 'Day, `YYYY-MM-DD`'),
  week: period('week', `toMonday(${DAY})`, 'ISO week, `YYYY-Www`'),
  month: period('month', `toStartOfMonth(${DAY})`, 'Month, `YYYY-MM`'),
  is_bot: { sql: 'is_bot', kind: 'boolean', description: 'Whether the sender identifies itself as a bot.', mark: WORD },
} as const satisfies Readonly<Record<string, EventDimension>>

/**
 * A dimension in a time zone, whose offsets during the events are given. ClickHouse would load 5 MB for each zone, and
 * never free them.
 */
export function inZone({ sql, kind, ...dimension }: EventGrouping, offsets: readonly Offset[]): EventGrouping {
  const isUtc = offsets.every(({ seconds }) => seconds === 0)
  if (!isPeriod(kind) || (isUtc && kind !== 'hour')) return { ...dimension, sql, kind }
  const unix = 'toInt64(toUnixTimestamp(timestamp))'
  const offset = `toInt64(${offsetInSql(unix, offsets)})`
  const local = `(${unix} + ${offset})`
  const day = `toDate(toUInt16(intDiv(${local}, 86400)))`
  return { sql: sql.replace(DAY, day).replaceAll(LOCAL, local).replaceAll(OFFSET, offset), kind }
}

export function isPeriod(kind: KeyKind): kind is Period {
  return (PERIODS as readonly string[]).includes(kind)
}
