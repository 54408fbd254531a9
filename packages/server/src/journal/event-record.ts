import { ZERO_ID } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import { campaignInSql, UTM_COLUMNS, type UtmColumn } from './campaign.ts'
import { parsableData } from './parsable-data.ts'

const TEXT = 'String CODEC(ZSTD(1))'
const FEW_VALUES = 'LowCardinality(String)'
const TIME = "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))"

/** From the URL. ClickHouse computes it itself for the rows of an earlier version. */
const CAMPAIGN = Object.fromEntries(
  UTM_COLUMNS.map((name) => [name, `${FEW_VALUES} DEFAULT ${campaignInSql(name)}`]),
) as Record<UtmColumn, string>

/** The columns of the ClickHouse table `events`, with their types: the only list of them. */
export const EVENT_COLUMNS = {
  tenant_id: 'UUID',
  event_id: 'UUID',
  event: FEW_VALUES,
  /** A system event; lists and counts exclude these by default. */
  is_system: 'Bool',
  /** When it happened. */
  timestamp: TIME,
  /** When the service received it. */
  received_at: TIME,
  visitor_id: TEXT,
  session_id: TEXT,
  /** Its owner: a contact, an anonymous episode of a visitor (see episodes.ts), or `NOBODY`. */
  owner_id: 'UUID CODEC(ZSTD(1))',
  /** Whether the visitor was anonymous when it was recorded. It may have been identified since: see `owner_links`. */
  is_anonymous: 'Bool',
  url: TEXT,
  url_path: TEXT,
  domain: FEW_VALUES,
  title: TEXT,
  text: TEXT,
  class: TEXT,
  element_id: TEXT,
  element_type: FEW_VALUES,
  referrer: TEXT,
  referring_domain: FEW_VALUES,
  ...CAMPAIGN,
  /** Where the person's network is, see places.ts. The address itself is stored nowhere. ISO 3166-1 alpha-2. */
  country: FEW_VALUES,
  region: FEW_VALUES,
  city: FEW_VALUES,
  browser: FEW_VALUES,
  os: FEW_VALUES,
  device_type: FEW_VALUES,
  is_bot: 'Bool',
  screen: FEW_VALUES,
  language: FEW_VALUES,
  timezone: FEW_VALUES,
  analytics_user_id: TEXT,
  user_agent: TEXT,
  /** The URL's host differs from the host of the page that sent the event. */
  origin_mismatch: 'Bool',
  /** JSON text. */
  data: TEXT,
} as const

type Columns = typeof EVENT_COLUMNS
type ColumnName = keyof Columns
type ValueOf<Type extends string> = Type extends 'Bool' ? boolean : Type extends typeof TIME ? number : string

/**
 * An event as it is stored: one row of the ClickHouse table `events`, never rewritten. Times are milliseconds since
 * 1970. A missing text is '', because nullable columns are slower.
 */
export type EventRecord = { -readonly [Name in ColumnName]: ValueOf<Columns[Name]> }

export const EVENT_NAME_LENGTH_MAX = 200
/** The longest URL, title or other text of an event. */
export const EVENT_TEXT_LENGTH_MAX = 16_384
export const EVENT_DATA_BYTES_MAX = 32 * 1024
/** Earlier times are mistakes of the sender. */
export const EVENT_EARLIEST_MS = Date.UTC(2000, 0, 1)
/** Later times are mistakes too. Small differences between clocks are not. */
export const EVENT_AHEAD_MS_MAX = DAY_MS

/** The names of system events, which the service records about a tenant's records. */
export const SYSTEM_EVENTS = [
  'contact_created',
  'contact_updated',
  'contact_deleted',
  'lifecycle_stage_changed',
  'contact_identified',
  'segment_entered',
  'segment_exited',
  'agent_action_proposed',
  'agent_action_executed',
  'agent_action_failed',
  'alert_triggered',
] as const
export type SystemEventName = (typeof SYSTEM_EVENTS)[number]

/** Events of one request that have the same visitor, or whose owners are known. */
export interface EventGroup {
  tenantId: string
  /** The visitor whose contact or episode owns the events; null if they have their owners already. */
  visitorId: string | null
  events: EventRecord[]
  /** The sender of the ids in `sentIds`: see sent-ids.ts. */
  sender: string
  sentIds: SentId[]
}

/** An id that the sender chose: the event is recorded once, however often it is sent. */
export interface SentId {
  event: EventRecord
  id: string
}

/** Owner of an event without visitor and contact. */
export const NOBODY = ZERO_ID

const COLUMN_NAMES = Object.keys(EVENT_COLUMNS) as ColumnName[]

/** What every event has of its own. */
const OWN = ['tenant_id', 'event_id', 'event', 'timestamp', 'received_at'] as const

/** An empty event: the default values of a record. */
export const EMPTY_RECORD = {
  ...Object.fromEntries(
    Object.entries(EVENT_COLUMNS)
      .filter(([name]) => !(OWN as readonly string[]).includes(name))
      .map(([name, type]) => [name, type === 'Bool' ? false : '']),
  ),
  owner_id: NOBODY,
  is_anonymous: true,
  data: '{}',
} as Omit<EventRecord, (typeof OWN)[number]>

/** ClickHouse's name for the journal's format: a line of column names, then one JSON array per row. */
export const JOURNAL_FORMAT = 'JSONCompactEachRowWithNames'

/**
 * Events in the format sent to ClickHouse. It begins with the column names, so that a row written by an older version
 * can still be projected after an upgrade.
 */
export function serializeEvents(events: readonly EventRecord[]): string {
  let text = HEADER
  for (const event of events) text += serialize(event)
  return text
}

const HEADER = `${JSON.stringify(COLUMN_NAMES)}\n`

/** Rows of another table in the same format; all have the same columns. */
export function serializeRows(rows: readonly object[]): string {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** The columns that can be long. */
export const LONG_COLUMNS = ['url', 'url_path', 'title', 'text', 'class', 'referrer', 'user_agent', 'data'] as const

/** The approximate size of a group's events in the journal, in bytes. */
export function sizeOf({ events }: EventGroup): number {
  let size = events.length * SHORT_TEXTS_BYTES
  for (const event of events) for (const column of LONG_COLUMNS) size += event[column].length
  return size
}

/** The ids and all that is short. */
const SHORT_TEXTS_BYTES = 500

function serialize(event: EventRecord): string {
  const values = COLUMN_NAMES.map((column) => (column === 'data' ? parsableData(event.data) : event[column]))
  const text = JSON.stringify(values)
  // JSON encodes a lone surrogate as an escape, for which ClickHouse rejects the whole insertion.
  const line = text.includes('\\ud') ? JSON.stringify(values.map(wellFormed)) : text
  return `${line}\n`
}

function wellFormed<Value>(value: Value): Value | string {
  return typeof value === 'string' ? value.toWellFormed() : value
}
