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
  'event_id, event, timestamp, received_at, url, domain, data, contact_id, visitor_id, session_id, referrer, referring_domain, browser, os, device_type, is_bot, screen, user_agent'
const EVENTS = 'FROM events WHERE tenant_id = {tenant_id: UUID}'
const NEWEST = 'ORDER BY timestamp DESC, event_id DESC LIMIT 20'

export const CLICKHOUSE_QUERIES: Row[] = [
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
