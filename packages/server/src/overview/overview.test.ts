import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { rangeOf } from '../platform/http/days.ts'
import { openTenant } from '../platform/tenant.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/time.ts'
import { readOverview } from './overview.ts'

let service: TestService
let tenant: TestTenant
let viewer: Browser

/** The service's clock is at noon, so that no test crosses midnight. */
const toNoon = (Math.floor(Date.now() / DAY_MS) + 0.5) * DAY_MS - Date.now()
const now = () => new Date(Date.now() + toNoon)

const daysAgo = (days: number, hour = 12) =>
  new Date(Math.floor(now().getTime() / DAY_MS) * DAY_MS - days * DAY_MS + hour * HOUR_MS).toISOString()
const dateOf = (days: number) => daysAgo(days).slice(0, 10)

beforeAll(async () => {
  service = await startTestService({}, { clock: now })
  tenant = await createTestTenant(service)
  viewer = await signedIn(service, tenant.id, 'viewer')
})
afterAll(() => service.close())

test('figures exclude bots, by day and compared with the preceding range', async () => {
  const page = (path: string, timestamp: string, more: object = {}) => ({
    event: 'page_view',
    url: `https://${tenant.site}${path}`,
    timestamp,
    ...more,
  })
  const external = { context: { referrer: 'https://www.google.com/' } }
  await tenant.contact('ada@example.com', {}, { visitor_id: 'ada' })
  await tenant.track({
    visitor_id: 'ada',
    ...external,
    events: [page('/a', daysAgo(1)), page('/b', daysAgo(1, 13)), page('/a', daysAgo(2))],
  })
  await tenant.track({ visitor_id: 'bob', events: [page('/a', daysAgo(1))] })
  await tenant.track({ visitor_id: 'old', events: [page('/a', daysAgo(4))] })
  const bot = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
  await tenant.track({ visitor_id: 'bot', events: [page('/a', daysAgo(1))] }, bot)
  const { status, body } = await viewer.call('GET', `/v1/overview?from=${dateOf(2)}&to=${dateOf(0)}`)
  expect(status).toBe(200)
  const bots = await service.stores.clickhouse.query<{ n: number }>('SELECT count() AS n FROM events WHERE is_bot')
  expect(Number(bots[0]?.n)).toBe(1)
  expect(body).toMatchObject({ visitors: 2, identified_contacts: 1, events: 4, contacts_created: 1 })
  expect(body.by_day).toEqual([
    { date: dateOf(2), events: 1, visitors: 1 },
    { date: dateOf(1), events: 3, visitors: 2 },
    { date: dateOf(0), events: 0, visitors: 0 },
  ])
  expect(body.previous).toMatchObject({ visitors: 1, identified_contacts: 0, events: 1, contacts_created: 0 })
  expect(body.previous.by_day.map(({ events }: { events: number }) => events)).toEqual([0, 1, 0])
  expect(body.top_pages).toEqual([
    { url_path: '/a', views: 3, visitors: 2 },
    { url_path: '/b', views: 1, visitors: 1 },
  ])
  expect(body.sources).toEqual([
    { source: null, visitors: 1 },
    { source: 'google.com', visitors: 1 },
  ])
  expect(body.waiting_for_approval).toBe(0)
})

test('the default range is the last 28 days, and a tenant without events has zeros', async () => {
  const empty = await signedIn(service, (await createTestTenant(service)).id, 'viewer')
  const { body } = await empty.call('GET', '/v1/overview')
  expect(body).toMatchObject({ visitors: 0, events: 0, top_pages: [], sources: [], previous: { events: 0 } })
  expect(body.by_day).toHaveLength(28)
  expect(body.by_day.at(-1).date).toBe(dateOf(0))
})

test.each([
  ['from=2026-02-02&to=2026-02-01', 'from'],
  ['from=2020-01-01&to=2026-02-01', 'from'],
  ['from=soon', 'from'],
  ['to=%00', 'to'],
])('the range %s is 400', async (query, path) => {
  const { status, body } = await viewer.call('GET', `/v1/overview?${query}`)
  expect([status, body.error.details[0].path]).toEqual([400, path])
})

test('of a range with many events, what is read from their rows is kept for a minute, and their number is not', async () => {
  const busy = await createTestTenant(service)
  const reader = openTenant(service.stores, busy.id)
  const at = now()
  const range = rangeOf({ to: new Date(at.getTime() + HOUR_MS) }, at)
  const view = () => busy.track({ visitor_id: 'eve', events: [{ event: 'page_view', url: `https://${busy.site}/a` }] })
  const read = async (later: number, manyEvents: number) => {
    const { events, top_pages } = await readOverview(reader, range, new Date(at.getTime() + later), manyEvents)
    return { events, views: top_pages[0]?.views }
  }
  await view()
  expect(await read(0, 2)).toEqual({ events: 1, views: 1 })
  await view()
  expect(await read(0, 2)).toEqual({ events: 2, views: 2 })
  await view()
  expect(await read(MINUTE_MS - 1, 2)).toEqual({ events: 3, views: 2 })
  expect(await read(MINUTE_MS, 2)).toEqual({ events: 3, views: 3 })
})
