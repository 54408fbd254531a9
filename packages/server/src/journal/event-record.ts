/**
 * An event as it is stored: one row of the ClickHouse table `events`, never rewritten. A missing text is '', because
 * nullable columns are slower.
 */
export interface EventRecord {
  tenant_id: string
  event_id: string
  event: string
  /** A system event; lists and counts exclude these by default. */
  is_system: boolean
  /** Milliseconds since 1970: when it happened. */
  timestamp: number
  /** Milliseconds since 1970: when the service received it. */
  received_at: number
  visitor_id: string
  session_id: string
  /** Its owner: a contact, an anonymous episode of a visitor (see episodes.ts), or `NO_OWNER`. */
  owner_id: string
  /** Whether the visitor was anonymous when it was recorded. It may have been identified since: see `owner_links`. */
  is_anonymous: boolean
  url: string
  url_path: string
  domain: string
  title: string
  text: string
  class: string
  element_id: string
  element_type: string
  referrer: string
  referring_domain: string
  browser: string
  os: string
  device_type: string
  is_bot: boolean
  /** The URL's host differs from the host of the page that sent the event. */
  origin_mismatch: boolean
  screen: string
  language: string
  timezone: string
  analytics_user_id: string
  user_agent: string
  /** JSON text. */
  data: string
}

/** The events of one request to the collector. */
export interface Batch {
  tenantId: string
  visitorId: string
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
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** An empty event: the default values of a record. */
export const EMPTY_RECORD: Omit<EventRecord, 'tenant_id' | 'event_id' | 'event' | 'timestamp' | 'received_at'> = {
  is_system: false,
  visitor_id: '',
  session_id: '',
  owner_id: NOBODY,
  is_anonymous: true,
  url: '',
  url_path: '',
  domain: '',
  title: '',
  text: '',
  class: '',
  element_id: '',
  element_type: '',
  referrer: '',
  referring_domain: '',
  browser: '',
  os: '',
  device_type: '',
  is_bot: false,
  origin_mismatch: false,
  screen: '',
  language: '',
  timezone: '',
  analytics_user_id: '',
  user_agent: '',
  data: '{}',
}

const COLUMNS = [
  'tenant_id',
  'event_id',
  'event',
  'is_system',
  'timestamp',
  'received_at',
  'visitor_id',
  'session_id',
  'owner_id',
  'is_anonymous',
  'url',
  'url_path',
  'domain',
  'title',
  'text',
  'class',
  'element_id',
  'element_type',
  'referrer',
  'referring_domain',
  'browser',
  'os',
  'device_type',
  'is_bot',
  'origin_mismatch',
  'screen',
  'language',
  'timezone',
  'analytics_user_id',
  'user_agent',
  'data',
] as const satisfies readonly (keyof EventRecord)[]

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

const HEADER = `${JSON.stringify(COLUMNS)}\n`

/** Rows of another table in the same format; all have the same columns. */
export function serializeRows(rows: readonly object[]): string {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** The approximate size of a batch's events in the journal, in bytes: the lengths of all columns that can be long. */
export function sizeOf({ events }: Batch): number {
  let size = 0
  for (const { url, url_path, title, text, class: classes, referrer, user_agent, data } of events) {
    const texts = url.length + url_path.length + title.length + text.length + classes.length + referrer.length
    size += SHORT_TEXTS_BYTES + texts + user_agent.length + data.length
  }
  return size
}

/** The ids and all that is short. */
const SHORT_TEXTS_BYTES = 500

function serialize(event: EventRecord): string {
  const values = COLUMNS.map((column) => event[column])
  const text = JSON.stringify(values)
  // JSON encodes a lone surrogate as an escape, for which ClickHouse rejects the whole insertion.
  const line = text.includes('\\ud') ? JSON.stringify(values.map(wellFormed)) : text
  return `${line}\n`
}

function wellFormed<Value>(value: Value): Value | string {
  return typeof value === 'string' ? value.toWellFormed() : value
}
