import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { EMPTY_RECORD, type EventRecord, JOURNAL_FORMAT, NOBODY, serializeEvents } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'

let service: TestService
let tenant: TestTenant
let records: EventRecord[]

const FIRST = Date.UTC(2025, 0, 1, 23, 59, 59, 999)

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  // 120 of 240 days have events, of 60 types on 61 domains, some without a domain.
  records = Array.from({ length: 900 }, (_, n) => record(tenant.id, n))
  const strangers = Array.from({ length: 20 }, (_, n) => record(newId(), n))
  const body = serializeEvents([...records, ...strangers])
  await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, body, newId())
})

function record(tenant_id: string, n: number): EventRecord {
  const timestamp = FIRST + (n % 120) * 2 * DAY_MS
  const domain = n % 10 === 0 ? '' : `d${n % 61}.example`
  return {
    ...EMPTY_RECORD,
    event_id: newId(),
    event: n % 7 === 0 ? 'page_view' : `e${n % 59}`,
    is_system: false,
    owner_id: n % 3 === 0 ? newId() : NOBODY,
    is_anonymous: n % 3 !== 0,
    url: domain === '' ? '' : `https://${domain}/`,
    ...{ tenant_id, timestamp, domain, received_at: timestamp, visitor_id: 'v', session_id: 's' },
  }
}

function count(of: EventRecord[], keyOf: (record: EventRecord) => string): [string, number][] {
  const counts = new Map<string, number>()
  for (const each of of) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1)
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
}

const dayOf = ({ timestamp }: EventRecord) => new Date(timestamp).toISOString().slice(0, 10)

function expected(of: EventRecord[]) {
  const days = count(of, dayOf).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    total: of.length,
    by_type: count(of, ({ event }) => event)
      .slice(0, 50)
      .map(([type, count]) => ({ type, count })),
    by_domain: count(
      of.filter(({ domain }) => domain !== ''),
      ({ domain }) => domain,
    )
      .slice(0, 50)
      .map(([domain, count]) => ({ domain, count })),
    by_day: days.slice(-90).map(([date, count]) => ({ date, count })),
  }
}

const stats = async (query: string) => {
  const { status, body } = await tenant.call('GET', `/v1/events/stats?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.stats
}

test('returns all three lists, limited to 50 types, 50 domains and the 90 most recent days', async () => {
  const all = await stats('')
  expect(all).toEqual(expected(records))
  expect([all.by_type.length, all.by_domain.length, all.by_day.length]).toEqual([50, 50, 90])
  expect(all.by_day[0].date < all.by_day[1].date).toBe(true)
})

test.each<[string, (record: EventRecord) => boolean]>([
  ['event_type=page_view', ({ event }) => event === 'page_view'],
  ['domain=D1.example', ({ domain }) => domain === 'd1.example'],
  ['identified_only=true', ({ is_anonymous }) => !is_anonymous],
  ['identified_only=false', () => true],
  ['date_after=2025-03-02', (record) => dayOf(record) >= '2025-03-02'],
  ['date_before=2025-03-02', (record) => dayOf(record) <= '2025-03-02'],
  ['date_after=2025-03-02&date_before=2025-03-04', (of) => dayOf(of) >= '2025-03-02' && dayOf(of) <= '2025-03-04'],
  ['event_type=nothing', () => false],
])('%s counts the matching events', async (query, matches) => {
  expect(await stats(query)).toEqual(expected(records.filter(matches)))
})

test.each(['type', 'domain', 'day'])('group_by=%s returns only that list', async (name) => {
  const all = expected(records)
  const list = `by_${name}` as 'by_type' | 'by_domain' | 'by_day'
  expect(await stats(`group_by=${name}`)).toEqual({ total: all.total, [list]: all[list] })
})

test('without filters by owner or time of day, rollups are used, and no event is read', async () => {
  // A query that reads events would be rejected, because too many of the tenant's are already waiting.
  const reading = Array.from({ length: 100 }, () => service.stores.reads.enter('heavy', tenant.id))
  await Promise.race(reading)
  const filters = { date_after: '2025-03-02', is_bot: false }
  const responses = await Promise.all([
    tenant.call('GET', '/v1/events/stats?date_after=2025-03-02&event_type=page_view'),
    tenant.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'domain', filters }),
    tenant.call('GET', '/v1/events/stats?date_after=2025-03-02T01:00:00Z'),
  ])
  await Promise.all(reading.map((read) => read.then(({ end }) => end()).catch(() => {})))
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 429])
})

test('system events count only on request', async () => {
  const own = await createTestTenant(service)
  await own.contact('a@example.com')
  const of = async (query: string) => (await own.call('GET', `/v1/events/stats?${query}`)).body.stats
  expect(await of('')).toEqual({ total: 0, by_type: [], by_domain: [], by_day: [] })
  expect((await of('include=system')).by_type).toEqual([{ type: 'contact_created', count: 1 }])
  expect((await of('event_type=contact_created')).total).toBe(1)
})

test.each(['group_by=hour', 'group_by=', 'date_after=x', 'identified_only=2', 'include=all', 'event_type='])(
  '%s is 400',
  async (query) => {
    const { status, body } = await tenant.call('GET', `/v1/events/stats?${query}`)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
  },
)
