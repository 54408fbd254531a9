/** Events that ClickHouse generates itself, for measurements of its tables alone: table-choices.ts and scaling.ts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../packages/server/src/platform/clickhouse/connect.ts'

export interface Generated {
  /** Most have few events: the largest of 300 has 15% of all. */
  tenants: number
  /** Of all tenants, over a year. */
  events: number
}

const YEAR_MS = 365 * 86_400_000
/** Visitors whose events are mixed, with 11 events each. */
const BLOCK = { events: 11_000, visitors: 1_000 }
/** Every tenth event belongs to a visitor with 1,000 events. */
const EVENTS_OF_BUSY = 10_000
const [PAGES, CAMPAIGNS, EVENTS_A_SESSION] = [2_000, 50, 10]

/** When the events end. */
const end = Date.now()

/** ClickHouse SQL: the id of a tenant, where 0 is the largest. */
export const tenantSql = (index: string | number) => uuidSql('tenant', index)
/** The owner of a visitor's events before it is identified. */
export const episodeSql = (visitor: string) => uuidSql('episode', visitor)
const contactSql = (visitor: string) => uuidSql('contact', visitor)
/** A fifth of the visitors become contacts, halfway through their events. */
const isContactSql = (visitor: string) => `cityHash64(toUInt64(${visitor})) % 5 = 0`
export const tenantOfSql = (visitor: string, tenants: number) =>
  `floor(pow(cityHash64(toUInt64(${visitor}), 'tenant') / 18446744073709551616, 3) * ${tenants})`

function uuidSql(kind: string, number: string | number): string {
  return `reinterpretAsUUID(sipHash128('${kind}', toUInt64(${number})))`
}

/** Inserts the events `from` to `from + count` in one statement. */
export async function insertEvents(
  clickhouse: ClickHouse,
  table: string,
  { tenants, events }: Generated,
  from: number,
  count: number,
): Promise<void> {
  const busy = Math.max(1, Math.round(events / EVENTS_OF_BUSY))
  await clickhouse.command(`
    INSERT INTO ${table} (tenant_id, event_id, event, is_system, timestamp, received_at, visitor_id, session_id, owner_id,
      is_anonymous, url, url_path, domain, title, referrer, referring_domain, browser, os, device_type, screen, user_agent, data)
    SELECT ${tenantSql('tenant')}, ${idSql('at', 'n')},
      ['page_view', 'page_view', 'page_view', 'page_leave', 'button_click', 'link_click', 'form_submit', 'video_play'][1 + cityHash64(n, 1) % 8],
      0, fromUnixTimestamp64Milli(toInt64(${end - YEAR_MS} + floor(n * ${YEAR_MS / events})), 'UTC') AS at, at,
      concat('visitor-', toString(visitor)), toString(intDiv(n, ${EVENTS_A_SESSION})),
      if(anonymous, ${episodeSql('visitor')}, ${contactSql('visitor')}),
      NOT (${isContactSql('visitor')}) OR n % ${BLOCK.events} < ${BLOCK.events / 2} AS anonymous,
      concat('https://bench.example/page-', toString(page), '?utm_source=s', toString(n % ${CAMPAIGNS})),
      concat('/page-', toString(page)), 'bench.example', concat('Title ', toString(page)), 'https://www.google.com/', 'google.com',
      ['Chrome', 'Firefox', 'Safari'][1 + visitor % 3], ['macOS', 'Windows'][1 + visitor % 2], ['desktop', 'mobile'][1 + visitor % 2],
      '1920x1080',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
      concat('{"title":"Title ', toString(page), '","path":"/page-', toString(page), '"}')
    FROM (
      SELECT number + ${from} AS n, n * 7919 % ${PAGES} AS page,
        if(n % 10 = 0, intDiv(n, 10) % ${busy}, ${busy} + intDiv(n, ${BLOCK.events}) * ${BLOCK.visitors} + n % ${BLOCK.visitors}) AS visitor,
        ${tenantOfSql('visitor', tenants)} AS tenant
      FROM numbers(${count}))`)
}

/** Links the visitors that become contacts, as their identification would have. */
export async function insertLinks(clickhouse: ClickHouse, { tenants, events }: Generated): Promise<void> {
  const visitors = Math.round(events / EVENTS_OF_BUSY) + Math.ceil(events / BLOCK.events) * BLOCK.visitors
  await clickhouse.command(`
    INSERT INTO owner_links (tenant_id, owner_id, contact_id, version)
    SELECT ${tenantSql(tenantOfSql('number', tenants))},
      ${episodeSql('number')}, ${contactSql('number')}, 1
    FROM numbers(${visitors}) WHERE ${isContactSql('number')}`)
}

/** An id like the tracker's, a UUIDv7, which contains its time. */
function idSql(at: string, n: string): string {
  const time = `lower(hex(toUnixTimestamp64Milli(${at})))`
  return `toUUID(concat(substring(${time}, 1, 8), '-', substring(${time}, 9), '-7', substring(toString(${uuidSql('event', n)}), 16)))`
}

/** Processor time of work in this process, of which ClickHouse is a part, in milliseconds. */
export async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Waits until the engine has merged nothing for a second: it takes breaks between merges. */
export async function waitForMerges(clickhouse: ClickHouse): Promise<void> {
  for (let idle = 0; idle < 4; ) {
    const [row] = await clickhouse.query<{ merges: number }>('SELECT count() AS merges FROM system.merges')
    idle = Number(row?.merges) === 0 ? idle + 1 : 0
    await sleep(250)
  }
}
