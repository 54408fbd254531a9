import { sql } from 'kysely'
import type { ClickHouse } from '../packages/server/src/platform/clickhouse/connect.ts'
import type { Database } from '../packages/server/src/platform/postgres/database.ts'

const CONTACTS_A_STATEMENT = 50_000
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

/** Events of the last four weeks: one visitor in five belongs to one of the first 30,000 contacts. */
export async function loadEvents(clickhouse: ClickHouse, tenantId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += EVENTS_A_STATEMENT) {
    const rows = Math.min(EVENTS_A_STATEMENT, count - from)
    await clickhouse.command(`
      INSERT INTO events (tenant_id, event_id, event, is_system, timestamp, received_at, visitor_id, session_id, contact_id, url,
        url_path, domain, title, referrer, referring_domain, browser, os, device_type, screen, user_agent, data)
      SELECT '${tenantId}', generateUUIDv4(), ['page_view', 'page_view', 'page_view', 'page_leave', 'button_click', 'link_click',
          'form_submit', 'video_play'][1 + cityHash64(n, 1) % 8], 0,
        now64(3, 'UTC') - toIntervalMillisecond(toInt64((1 - n / ${count}) * 2419200000)) AS at, at,
        toString(visitor), toString(intDiv(n, 10)),
        if(visitor % 5 = 0, toUUID(toString(UUIDNumToString(MD5(concat('c', toString(visitor % 30000)))))),
          toUUID('00000000-0000-0000-0000-000000000000')),
        concat('https://bench.example/page-', toString(page), '?utm_source=s', toString(n % 50)),
        concat('/page-', toString(page)), 'bench.example', concat('Title ', toString(page)), 'https://www.google.com/',
        'google.com', 'Chrome', 'macOS', 'desktop', '1920x1080',
        'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
        concat('{"title":"Title ', toString(page), '","path":"/page-', toString(page), '"}')
      FROM (SELECT number + ${from} AS n, cityHash64(intDiv(n, 10), 5) % 200000 AS visitor, cityHash64(n, 9) % 2000 AS page
        FROM numbers(${rows}))`)
  }
}
