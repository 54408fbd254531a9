import { sql } from 'kysely'
import { NOBODY } from '../packages/server/src/journal/event-record.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import type { Database } from '../packages/server/src/platform/postgres/database.ts'
import type { Stores } from '../packages/server/src/platform/tenant.ts'
import {
  EVENTS_A_SESSION,
  PAGE_SQL,
  type Population,
  pageUrlOf,
  timeOf,
  timeSql,
  type Visitor,
  visitorNumberSql,
  visitorsOf,
} from './people.ts'

const CONTACTS_A_STATEMENT = 50_000
const VISITORS_A_STATEMENT = 50_000
const EVENTS_A_STATEMENT = 1_000_000

/** Contacts with ten properties each, made by PostgreSQL itself. */
export async function loadContacts(database: Database, tenantId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += CONTACTS_A_STATEMENT) {
    const to = Math.min(count, from + CONTACTS_A_STATEMENT) - 1
    await database.transaction().execute(async (transaction) => {
      await sql`SET LOCAL statement_timeout = 0`.execute(transaction)
      await sql`
        INSERT INTO contacts (tenant_id, contact_id, email, properties, creation_source, first_seen_at, created_at, updated_at)
        SELECT ${tenantId}::uuid, md5('c' || n)::uuid, 'person' || n || '@company' || n % 5000 || '.example',
          jsonb_build_object('firstname', 'First' || n % 700, 'lastname', 'Last' || n % 9000, 'company', 'Company ' || n % 5000,
            'jobtitle', (ARRAY['Engineer', 'Marketing Manager', 'Head of Growth', 'Founder'])[1 + n % 4],
            'lifecyclestage', (ARRAY['lead', 'mql', 'sql', 'customer', 'other'])[1 + n % 5],
            'country', (ARRAY['Germany', 'France', 'United States', 'Japan'])[1 + n % 4], 'city', 'City ' || n % 300,
            'industry', 'Industry ' || n % 40),
          'import', now() - n * interval '1 second', now() - n * interval '1 second', now()
        FROM generate_series(${from}::int, ${to}::int) AS n`.execute(transaction)
    })
  }
}

/**
 * Loads the visitors of a population with how they began, as the collector would have stored them, whom the episodes of
 * those that were identified have become, in both engines, and all events.
 */
export async function loadEvents(
  { database, clickhouse }: Pick<Stores, 'database' | 'clickhouse'>,
  tenantId: string,
  population: Population,
  count: number,
): Promise<void> {
  const end = new Date()
  await clickhouse.command('DROP TABLE IF EXISTS bench_visitors')
  await clickhouse.command(
    'CREATE TABLE bench_visitors (number UInt32, visitor_id String, contact_id UUID, episode UUID) ENGINE = MergeTree ORDER BY number',
  )
  for (const visitors of chunksOf(visitorsOf(tenantId, population), VISITORS_A_STATEMENT)) {
    await insertVisitors(database, tenantId, visitors, (n) => new Date(timeOf(n, count, end)))
    const rows = visitors.map(({ number, visitorId, contactId, episode }) =>
      JSON.stringify([number, visitorId, contactId ?? NOBODY, episode]),
    )
    await clickhouse.insert('bench_visitors', 'JSONCompactEachRow', rows.join('\n'), newId())
  }
  await clickhouse.command(`INSERT INTO owner_links (tenant_id, owner_id, contact_id, version)
    SELECT '${tenantId}', episode, contact_id, 1 FROM bench_visitors WHERE contact_id != '${NOBODY}'`)
  for (let from = 0; from < count; from += EVENTS_A_STATEMENT) {
    const rows = Math.min(EVENTS_A_STATEMENT, count - from)
    await clickhouse.command(`
      INSERT INTO events (tenant_id, event_id, event, is_system, timestamp, received_at, visitor_id, session_id, owner_id, is_anonymous,
        url, url_path, domain, title, referrer, referring_domain, browser, os, device_type, screen, user_agent, data)
      SELECT '${tenantId}', ${idSql('at')}, ['page_view', 'page_view', 'page_view', 'page_leave', 'button_click', 'link_click',
          'form_submit', 'video_play'][1 + cityHash64(n, 1) % 8], 0, ${timeSql(count, end)} AS at, at, visitor_id,
        toString(intDiv(n, ${EVENTS_A_SESSION})), if(anonymous, episode, contact_id),
        contact_id = '${NOBODY}' OR n < ${count / 2} AS anonymous,
        concat('https://bench.example/page-', toString(page), '?utm_source=s', toString(n % 50)),
        concat('/page-', toString(page)), 'bench.example', concat('Title ', toString(page)), 'https://www.google.com/',
        'google.com', 'Chrome', 'macOS', 'desktop', '1920x1080',
        'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
        concat('{"title":"Title ', toString(page), '","path":"/page-', toString(page), '"}')
      FROM (SELECT number + ${from} AS n, ${visitorNumberSql(population)} AS visitor, ${PAGE_SQL} AS page FROM numbers(${rows})) AS made
      INNER JOIN bench_visitors ON bench_visitors.number = made.visitor`)
  }
  await clickhouse.command('DROP TABLE bench_visitors')
}

/** Does at once what the engines would do after loading: it would otherwise be measured too. */
export async function settle({ database, clickhouse }: Pick<Stores, 'database' | 'clickhouse'>): Promise<void> {
  // While the engine merges some of the parts by itself, this waits for two minutes and then does nothing.
  do await clickhouse.command('OPTIMIZE TABLE events FINAL')
  while ((await partsOf(clickhouse, 'events')) > 1)
  await database.connection().execute(async (connection) => {
    await sql`SET statement_timeout = 0`.execute(connection)
    await sql`VACUUM ANALYZE`.execute(connection)
    await sql`CHECKPOINT`.execute(connection)
  })
}

async function partsOf(clickhouse: Stores['clickhouse'], table: string): Promise<number> {
  const [row] = await clickhouse.query<{ parts: number }>(
    'SELECT count() AS parts FROM system.parts WHERE active AND database = currentDatabase() AND table = {table: String}',
    { table },
  )
  return Number(row?.parts ?? 0)
}

async function insertVisitors(
  database: Database,
  tenantId: string,
  visitors: readonly Visitor[],
  at: (event: number) => Date,
): Promise<void> {
  const ids = visitors.map(({ visitorId }) => visitorId)
  const contactIds = visitors.map(({ contactId }) => contactId)
  const times = visitors.map(({ firstEvent }) => at(firstEvent))
  const urls = visitors.map(({ firstEvent }) => pageUrlOf(firstEvent))
  await sql`
    INSERT INTO visitors (tenant_id, visitor_id, contact_id, created_at, first_seen_at, first_page_at, first_url, first_referrer)
    SELECT ${tenantId}::uuid, visitor_id, contact_id, at, at, at, url, 'https://www.google.com/'
    FROM unnest(${ids}::text[], ${contactIds}::uuid[], ${times}::timestamptz[], ${urls}::text[])
      AS made (visitor_id, contact_id, at, url)`.execute(database)
  const linked = visitors.filter(({ contactId }) => contactId !== null)
  await sql`
    INSERT INTO owner_links (tenant_id, owner_id, contact_id, version)
    SELECT ${tenantId}::uuid, episode, contact_id, 1
    FROM unnest(${linked.map(({ episode }) => episode)}::uuid[], ${linked.map(({ contactId }) => contactId)}::uuid[])
      AS made (episode, contact_id)`.execute(database)
}

/** SQL of ClickHouse: an id as the tracker makes it, of version 7, so that it names its time. */
function idSql(at: string): string {
  const time = `lower(hex(toUnixTimestamp64Milli(${at})))`
  return `toUUID(concat(substring(${time}, 1, 8), '-', substring(${time}, 9), '-7', substring(toString(generateUUIDv4()), 16)))`
}

function* chunksOf<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = []
  for (const item of items) {
    chunk.push(item)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}
