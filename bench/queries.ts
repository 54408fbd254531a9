/** The bare queries behind each row: what a caller of the engine alone would have to ask for the same answer. */
interface Row {
  name: string
  statements: string[]
}

const CONTACT =
  'contact_id, email, properties, company_id, creation_source, first_seen_at, created_at, updated_at, enriched_at'
const OF_TENANT = 'FROM contacts WHERE tenant_id = $1'
const NOTES = 'SELECT * FROM notes WHERE tenant_id = $1 AND contact_id = $2 ORDER BY created_at DESC LIMIT 100'

/** `$1` is the tenant, `$2` a contact. */
export const POSTGRES_QUERIES: Row[] = [
  {
    name: 'GET contact',
    statements: [
      `SELECT ${CONTACT} ${OF_TENANT} AND contact_id = $2`,
      'SELECT * FROM contact_sources WHERE tenant_id = $1 AND contact_id = $2',
      NOTES,
    ],
  },
  {
    name: 'list contacts',
    statements: [
      `SELECT ${CONTACT} ${OF_TENANT} ORDER BY created_at DESC, contact_id DESC LIMIT 20`,
      'SELECT sum(contacts) FROM contact_counts WHERE tenant_id = $1',
    ],
  },
  {
    name: 'search contacts',
    statements: [
      `SELECT ${CONTACT} ${OF_TENANT} AND search_text LIKE '%person4321%' ORDER BY created_at DESC, contact_id DESC LIMIT 20`,
      `SELECT count(*) ${OF_TENANT} AND search_text LIKE '%person4321%'`,
    ],
  },
]

const EVENT =
  'event_id, event, timestamp, received_at, url, domain, data, contact_id, visitor_id, session_id, referrer, referring_domain, browser, os, device_type, is_bot, origin_mismatch, screen, user_agent, analytics_user_id'
const EVENTS = 'FROM events WHERE tenant_id = {tenant_id: UUID}'
const NEWEST = 'ORDER BY timestamp DESC, toUInt128(event_id) DESC LIMIT 20'

/** What the service groups by, and the bare expression. */
export const GROUPED = {
  event_type: 'event',
  url_path: 'url_path',
  day: 'toDate(timestamp)',
  visitor_id: 'visitor_id',
  browser: 'browser',
} as const
const OWN = `${EVENTS} AND is_system = 0`
const grouped = (expression: string) =>
  `SELECT ${expression} AS key, count() AS value ${OWN} GROUP BY key ORDER BY value DESC, key LIMIT 25`

/** Each reads all events of the tenant, so few at a time already fill the machine. */
export const HEAVY_QUERIES: Row[] = [
  ...Object.entries(GROUPED).map(([name, expression]) => ({
    name: `aggregate events by ${name}`,
    statements: [grouped(expression)],
  })),
  { name: 'events stats', statements: ['event', 'domain', 'toDate(timestamp)'].map(grouped) },
]

export const CLICKHOUSE_QUERIES: Row[] = [
  {
    name: 'batch activity, 25 contacts',
    statements: [
      `SELECT contact_id, event_id, event, url, timestamp, title ${OWN} AND contact_id IN {contact_ids: Array(UUID)} ORDER BY timestamp DESC, toUInt128(event_id) DESC LIMIT 5 BY contact_id`,
      `SELECT contact_id, count() ${OWN} AND contact_id IN {contact_ids: Array(UUID)} GROUP BY contact_id`,
    ],
  },
  {
    name: 'all events of a contact',
    statements: [
      `SELECT ${EVENT} ${OWN} AND contact_id = {active_id: UUID} ORDER BY timestamp DESC, toUInt128(event_id) DESC LIMIT 1000`,
      `SELECT count() ${OWN} AND contact_id = {active_id: UUID}`,
    ],
  },
  {
    name: 'list events',
    statements: [`SELECT ${EVENT} ${EVENTS} AND is_system = 0 ${NEWEST}`, `SELECT count() ${EVENTS} AND is_system = 0`],
  },
  {
    name: 'events by contact',
    statements: [
      `SELECT ${EVENT} ${EVENTS} AND is_system = 0 AND contact_id = {contact_id: UUID} ${NEWEST}`,
      `SELECT count() ${EVENTS} AND is_system = 0 AND contact_id = {contact_id: UUID}`,
    ],
  },
  { name: 'GET event', statements: [`SELECT ${EVENT} ${EVENTS} AND event_id = {event_id: UUID} LIMIT 1`] },
  {
    name: 'events, url contains',
    statements: [
      `SELECT ${EVENT} ${EVENTS} AND is_system = 0 AND positionCaseInsensitive(url, 'page-1999') > 0 ${NEWEST}`,
      `SELECT count() ${EVENTS} AND is_system = 0 AND positionCaseInsensitive(url, 'page-1999') > 0`,
    ],
  },
]

/** Contacts that did something, in the two steps that two engines need. */
export const WHO_DID = `SELECT DISTINCT contact_id ${OWN} AND event = 'video_play'
  AND contact_id != toUUID('00000000-0000-0000-0000-000000000000') LIMIT 50001`
export const OF_THESE = [
  `SELECT ${CONTACT} ${OF_TENANT} AND contact_id = ANY($2::uuid[]) ORDER BY created_at DESC, contact_id DESC LIMIT 20`,
  `SELECT count(*) ${OF_TENANT} AND contact_id = ANY($2::uuid[])`,
]
