/** The bare queries of each row: what a client of the database alone would run for the same result. */
interface Row {
  name: string
  statements: string[]
  /** A PostgreSQL query about the contacts, `$2`, that the first statement has found. */
  ofContacts?: string
  /** The request to `POST /v1/aggregate`, where the name does not say it. */
  asks?: Readonly<Record<string, string>>
  /** Whether ClickHouse may read the projection by owner, as for the service. Groupings read the rows. */
  isByOwner?: boolean
}

const CONTACT =
  'contact_id, email, properties, company_id, creation_source, first_seen_at, created_at, updated_at, enriched_at'
const OF_TENANT = 'FROM contacts WHERE tenant_id = $1'

/** PostgreSQL queries, run concurrently. `$1` is the tenant, `$2` a contact. */
export const POSTGRES_QUERIES: Row[] = [
  {
    name: 'GET contact without its events',
    statements: [
      `SELECT ${CONTACT} ${OF_TENANT} AND contact_id = $2`,
      'SELECT * FROM contact_sources WHERE tenant_id = $1 AND contact_id = $2',
      'SELECT * FROM notes WHERE tenant_id = $1 AND contact_id = $2 ORDER BY created_at DESC LIMIT 100',
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

export const EVENT =
  'event_id, event, timestamp, received_at, url, domain, data, owner_id, is_anonymous, visitor_id, session_id, referrer, referring_domain, browser, os, device_type, is_bot, origin_mismatch, screen, user_agent, analytics_user_id'
export const COMPACT = 'event_id, event, timestamp, url, title'
export const OWN = 'FROM events WHERE tenant_id = {tenant_id: UUID} AND is_system = 0'
const OF_CONTACT = `${OWN} AND owner_id IN {owners: Array(UUID)}`
export const NEWEST = 'ORDER BY timestamp DESC, toUInt128(event_id) DESC'
const NOBODY = "toUUID('00000000-0000-0000-0000-000000000000')"

/** Rows of owners with the contact that each has become. */
const withContacts = (rows: string) => `(
  SELECT found.*, multiIf(links.contact_id != ${NOBODY}, links.contact_id, is_anonymous, ${NOBODY}, found.owner_id) AS contact_id
  FROM (${rows}) AS found LEFT JOIN (SELECT owner_id, contact_id FROM owner_links FINAL WHERE tenant_id = {tenant_id: UUID}) AS links
    ON links.owner_id = found.owner_id)`

/** ClickHouse queries, run one at a time. `owners` are those of a contact, `busy_owners` of a busy one, `some_owners` of 25. */
export const ONE_AT_A_TIME: Row[] = [
  {
    name: 'GET contact with its events',
    isByOwner: true,
    statements: [`SELECT ${COMPACT} ${OF_CONTACT} ${NEWEST} LIMIT 100`, `SELECT count() ${OF_CONTACT}`],
  },
  {
    name: 'newest 20 events of the tenant',
    statements: [`SELECT ${EVENT} ${OWN} ${NEWEST} LIMIT 20`, `SELECT count() ${OWN}`],
  },
  {
    name: 'newest 20 events of a contact',
    isByOwner: true,
    statements: [`SELECT ${EVENT} ${OF_CONTACT} ${NEWEST} LIMIT 20`, `SELECT count() ${OF_CONTACT}`],
  },
  {
    name: 'one event',
    statements: [
      `SELECT ${EVENT} FROM events WHERE tenant_id = {tenant_id: UUID} AND event_id = {event_id: UUID} LIMIT 1`,
    ],
  },
  { name: 'names of events', statements: [`SELECT event ${OWN} GROUP BY event ORDER BY event LIMIT 100`] },
  {
    name: 'all 1,000 events of a contact',
    isByOwner: true,
    statements: [
      `SELECT ${EVENT} ${OWN} AND owner_id IN {busy_owners: Array(UUID)} ${NEWEST} LIMIT 1000`,
      `SELECT count() ${OWN} AND owner_id IN {busy_owners: Array(UUID)}`,
    ],
  },
  {
    name: 'activity of 25 contacts',
    isByOwner: true,
    statements: [
      `SELECT owner_id, ${COMPACT} ${OWN} AND owner_id IN {some_owners: Array(UUID)} ${NEWEST} LIMIT 5 BY owner_id`,
      `SELECT owner_id, count() ${OWN} AND owner_id IN {some_owners: Array(UUID)} GROUP BY owner_id`,
    ],
  },
  {
    name: 'contacts who did something',
    statements: [
      `SELECT DISTINCT contact_id FROM ${withContacts(
        `SELECT DISTINCT owner_id, is_anonymous ${OWN} AND event = 'video_play'`,
      )} WHERE contact_id != ${NOBODY} LIMIT 50001`,
    ],
  },
]

/** ClickHouse queries, run concurrently. */
export const MANY_AT_ONCE: Row[] = [
  { name: 'list events', statements: [`SELECT ${EVENT} ${OWN} ${NEWEST} LIMIT 20`, `SELECT count() ${OWN}`] },
  {
    name: 'events, url contains',
    statements: [
      `SELECT ${EVENT} ${OWN} AND positionCaseInsensitive(url, 'page-1999') > 0 ${NEWEST} LIMIT 20`,
      `SELECT count() ${OWN} AND positionCaseInsensitive(url, 'page-1999') > 0`,
    ],
  },
]

/** The dimensions of the service, and the bare expressions. */
export const GROUPED = {
  event_type: 'event',
  day: 'toDate(timestamp)',
  domain: 'domain',
  browser: 'browser',
  device_type: 'device_type',
  url: 'url',
  url_path: 'url_path',
  visitor_id: 'visitor_id',
  session_id: 'session_id',
} as const

const grouped = (expression: string) =>
  `SELECT ${expression} AS key, count() AS value ${OWN} GROUP BY key ORDER BY value DESC, key LIMIT 25`

/** Events of each contact. */
const PER_CONTACT = `SELECT contact_id AS key, sum(records) AS value FROM ${withContacts(
  `SELECT owner_id, is_anonymous, count() AS records ${OWN} GROUP BY owner_id, is_anonymous`,
)} GROUP BY key`

/** Each reads all events of the tenant, so a few at a time fill the machine. */
export const GROUPINGS: Row[] = [
  ...Object.entries(GROUPED).map(([name, expression]) => ({
    name: `aggregate events by ${name}`,
    statements: [grouped(expression)],
  })),
  { name: 'aggregate events by contact_id', statements: [`${PER_CONTACT} ORDER BY value DESC, key LIMIT 26`] },
  {
    name: 'aggregate events by company_id',
    statements: [PER_CONTACT],
    ofContacts: 'SELECT contact_id, company_id FROM contacts WHERE tenant_id = $1 AND contact_id = ANY($2)',
  },
  { name: 'aggregate events by data.path', statements: [grouped(`JSONExtractString(data, 'path')`)] },
  {
    name: 'aggregate events by day of a time zone',
    asks: { group_by: 'day', time_zone: 'Europe/Berlin' },
    statements: [grouped(`toDate(timestamp, 'Europe/Berlin')`)],
  },
  {
    name: 'unique people by day',
    asks: { group_by: 'day', metric: 'unique_people' },
    // Without the links, which tell that two visitors are one person.
    statements: [
      `SELECT toDate(timestamp) AS key, uniqExact(owner_id) AS value ${OWN} GROUP BY key ORDER BY key LIMIT 25`,
    ],
  },
  { name: 'events stats', statements: ['event', 'domain', 'toDate(timestamp)'].map(grouped) },
]

const IN_BOTH = `${OWN} AND is_bot = 0 AND timestamp >= now() - toIntervalDay(56)`
const VIEWS = `${OWN} AND is_bot = 0 AND event = 'page_view' AND timestamp >= now() - toIntervalDay(28)`
const IS_NOW = 'timestamp >= now() - toIntervalDay(28) AS current'

/** Queries whose sums the service stores; run one at a time. */
export const SUMMED_UP: Row[] = [
  {
    name: "home page's figures, 28 days and the 28 before",
    statements: [
      `SELECT ${IS_NOW}, toDate(timestamp) AS day, count(), uniq(visitor_id) ${IN_BOTH} GROUP BY GROUPING SETS ((current), (current, day))`,
      `SELECT current, uniq(contact_id) FROM ${withContacts(
        `SELECT owner_id, is_anonymous, ${IS_NOW} ${IN_BOTH} GROUP BY owner_id, is_anonymous, current`,
      )} WHERE contact_id != ${NOBODY} GROUP BY current`,
      `SELECT url_path, count() AS views, uniq(visitor_id) ${VIEWS} GROUP BY url_path ORDER BY views DESC LIMIT 10`,
      `SELECT source, uniq(visitor_id) AS visitors FROM (SELECT visitor_id, argMin(referring_domain, timestamp) AS source
        ${VIEWS} GROUP BY visitor_id, session_id) GROUP BY source ORDER BY visitors DESC LIMIT 10`,
    ],
  },
  ...GROUPINGS.filter(
    ({ name }) =>
      name === 'events stats' || /^aggregate events by (event_type|day|domain|browser|device_type)$/.test(name),
  ),
]

/** Questions of insights, with the bare queries for the same events: without the links, which tell that two visitors are one person. */
interface Insight extends Omit<Row, 'asks'> {
  path: string
  asks: Readonly<Record<string, unknown>>
  aim: string
}

/** All events. They cover eight weeks, so that three tenths of them, as many as a year has in eight weeks, are of 17 days. */
const ALL = { date_from: '2000-01-01', date_to: '2099-12-31' }
const STEPS = ['page_view', 'button_click', 'form_submit']
const LAST_17 = { last: { value: 17, unit: 'day' } }
const IN_17 = `${OWN} AND is_bot = 0 AND timestamp >= today() - 16`

/** ClickHouse's own functions for the same questions; run one at a time. */
export const INSIGHTS: Insight[] = [
  {
    name: 'trend of unique people by day, 17 days',
    path: '/v1/insights/trend',
    asks: { ...LAST_17, series: [{ metric: 'unique_people' }] },
    statements: [`SELECT toDate(timestamp) AS day, uniqExact(owner_id) ${IN_17} GROUP BY day`],
    aim: 'p50 250 ms',
  },
  {
    name: 'the same by a property in data',
    path: '/v1/insights/trend',
    asks: { ...LAST_17, series: [{ metric: 'unique_people' }], breakdown: ['data.path'] },
    statements: [
      `SELECT JSONExtractString(data, 'path') AS key, toDate(timestamp) AS day, uniqExact(owner_id) ${IN_17} GROUP BY key, day ORDER BY key LIMIT 1000`,
    ],
    aim: 'p50 500 ms',
  },
  {
    name: 'funnel of 3 steps, all events',
    path: '/v1/insights/funnel',
    asks: { ...ALL, steps: STEPS.map((event) => ({ event })), window: { value: 7, unit: 'day' } },
    statements: [
      `SELECT level, count() FROM (SELECT owner_id, windowFunnel(604800000)(toUInt64(toUnixTimestamp64Milli(timestamp)), ${STEPS.map((event) => `event = '${event}'`).join(', ')}) AS level
        ${OWN} AND is_bot = 0 AND event IN ('${STEPS.join("', '")}') GROUP BY owner_id) GROUP BY level ORDER BY level LIMIT 10`,
    ],
    aim: 'p50 1 s, 0.67',
  },
  {
    name: 'retention of 8 weeks, all events',
    path: '/v1/insights/retention',
    asks: { last: { value: 8, unit: 'week' }, start: { event: 'page_view' }, interval: 'week', intervals: 8 },
    statements: [
      `SELECT cohort, sumForEach(arrayMap(i -> bitTest(weeks, cohort + i), range(8))) FROM (SELECT owner_id, groupBitOr(bitShiftLeft(1::UInt64, dateDiff('week', today() - 56, timestamp))) AS weeks,
        minIf(dateDiff('week', today() - 56, timestamp), event = 'page_view') AS cohort ${OWN} AND is_bot = 0 AND timestamp >= today() - 56 GROUP BY owner_id) GROUP BY cohort ORDER BY cohort LIMIT 20`,
    ],
    aim: 'p50 400 ms',
  },
  {
    name: 'paths of pages, depth 4, 17 days',
    path: '/v1/insights/paths',
    asks: { ...LAST_17, kind: 'pages', depth: 4 },
    statements: [
      `SELECT step, from, to, count() AS sessions FROM (SELECT arraySlice(arrayMap(x -> x.2, arraySort(groupArray((timestamp, url_path)))), 1, 4) AS path
        ${IN_17} AND event = 'page_view' GROUP BY session_id) ARRAY JOIN arrayPopBack(path) AS from, arrayPopFront(path) AS to, arrayPopBack(arrayEnumerate(path)) AS step
        GROUP BY step, from, to ORDER BY sessions DESC LIMIT 50`,
    ],
    aim: 'p50 2 s',
  },
  {
    name: 'web analytics, all lists, all events',
    path: '/v1/insights/web',
    asks: { ...ALL, interval: 'month' },
    // Two of the fifteen lists.
    statements: [
      `SELECT source, page, count(), uniqExact(person), sum(views) FROM (SELECT any(owner_id) AS person, count() AS views,
        argMin(referring_domain, timestamp) AS source, argMin(url_path, timestamp) AS page
        ${OWN} AND is_bot = 0 AND event = 'page_view' GROUP BY session_id) GROUP BY GROUPING SETS ((source), (page)) LIMIT 100`,
    ],
    aim: 'p50 1 s',
  },
]
