import { beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant
let contactId: string

const DAY = (day: number) => `2026-03-0${day}T12:00:00.000Z`

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('c@example.com', { firstname: 'C', lastname: 7 }, { visitor_id: 'known' })
  await tenant.track({
    visitor_id: 'known',
    events: [
      { event: 'signup', timestamp: DAY(1), url: `https://${tenant.site}/Signup?utm=Ünï` },
      { event: 'page_view', timestamp: DAY(2), url: `https://www.${tenant.site}/pricing` },
    ],
  })
  await tenant.track({
    visitor_id: 'anonymous',
    events: [
      { event: 'page_view', timestamp: DAY(3), url: `https://${tenant.site}/100%_off` },
      { event: 'checkout', timestamp: DAY(4) },
      { event: 'checkout', timestamp: DAY(4) },
    ],
  })
})

test.each([
  ['', ['checkout', 'checkout', 'page_view', 'page_view', 'signup']],
  ['sort_dir=asc&limit=2', ['signup', 'page_view']],
  ['sort_by=event&sort_dir=asc', ['checkout', 'checkout', 'page_view', 'page_view', 'signup']],
  ['sort_by=createdAt&sort_dir=asc&limit=1', ['signup']],
  ['event_type=page_view', ['page_view', 'page_view']],
  ['event_type=PAGE_VIEW', []],
  ['identified_only=true', ['page_view', 'signup']],
  ['contact_id=nope', []],
  [`contact_id=${newId()}`, []],
  ['url_contains=SIGNUP', ['signup']],
  ['url_contains=%C3%9CN%C3%8F', ['signup']],
  ['url_contains=100%25_', ['page_view']],
  ["url_contains=' OR 1=1 --", []],
  ['search=pricing%20page', ['page_view']],
  ['search=SHOP', ['page_view', 'page_view', 'signup']],
  ['date_after=2026-03-02&date_before=2026-03-03', ['page_view', 'page_view']],
  ['date_after=2026-03-04T12:00:00.000Z', ['checkout', 'checkout']],
  ['date_before=2026-03-01T13:00:00%2B01:00', ['signup']],
  ['page=2&limit=3', ['page_view', 'signup']],
  ['page=9', []],
])('%s lists %j', async (query, names) => {
  const { status, body } = await tenant.call('GET', `/v1/events?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.events.map(({ event }: { event: string }) => event)).toEqual(names)
})

test('created_after goes by when the service received an event, not by when it happened', async () => {
  const { body } = await tenant.call('GET', '/v1/events?sort_by=createdAt&sort_dir=desc&fields=full')
  const received = body.events.map(({ createdAt }: { createdAt: string }) => createdAt)
  const [newest = ''] = received
  const countSince = async (moment: string) =>
    (await tenant.call('GET', `/v1/events?created_after=${moment}&count_only=true`)).body.count
  expect(await countSince(received.at(-1))).toBe(5)
  expect(await countSince(newest)).toBe(received.filter((each: string) => each === newest).length)
  expect(await countSince(new Date(Date.parse(newest) + 1).toISOString())).toBe(0)
})

test('domain matches the exact host', async () => {
  const { body } = await tenant.call('GET', `/v1/events?domain=www.${tenant.site.toUpperCase()}`)
  expect(body.pagination.total_items).toBe(1)
})

test('each single-value filter of aggregation finds an event by its exact value, and by no other', async () => {
  const other = await createTestTenant(service)
  const url = `https://${other.site}/pricing?plan=2`
  const data = { text: 'Buy now', id: 'buy', class: 'btn btn-primary' }
  const { body: tracked } = await other.track({
    visitor_id: 'v',
    context: { referrer: 'https://www.google.com/', analytics_user_id: 'GA1.2.7' },
    events: [{ event: 'button_click', url, title: 'Prices', data }],
  })
  const found = async (query: Record<string, string>) => {
    const { status, body } = await other.call('GET', `/v1/events?${new URLSearchParams(query)}`)
    expect([status, body.warnings]).toEqual([200, undefined])
    return body.pagination.total_items
  }
  const filters = {
    visitor_id: 'v',
    session_id: tracked.session_id,
    analytics_user_id: 'GA1.2.7',
    url,
    url_path: '/pricing',
    title: 'Prices',
    title_contains: 'PRICE',
    text: 'Buy now',
    text_contains: 'BUY',
    element_type: 'button',
    element_id: 'buy',
    class_contains: 'btn-primary',
    referring_domain: 'google.com',
    device_type: 'desktop',
    browser: 'Chrome',
    os: 'macOS',
    is_bot: 'false',
    origin_mismatch: 'false',
  }
  expect(await found(filters)).toBe(1)
  for (const [name, value] of Object.entries(filters)) {
    const wrong = value === 'false' ? 'true' : `${value}.`
    expect([name, await found({ [name]: value }), await found({ [name]: wrong })]).toEqual([name, 1, 0])
  }
})

test('the analytics user id is in every form of the event, in aggregation and in the CSV file', async () => {
  const other = await createTestTenant(service)
  const send = (analytics_user_id: unknown) =>
    other.track({ visitor_id: 'v', context: { analytics_user_id }, events: [{ event: 'page_view' }] })
  for (const id of ['GA1.2.7', 'GA1.2.7', 42, undefined]) await send(id)
  const contactId = await other.contact('v@example.com', {}, { visitor_id: 'v' })
  const { events } = (await other.call('GET', '/v1/events?analytics_user_id=42')).body
  expect(events).toMatchObject([{ analytics_user_id: '42', internal_contact_id: contactId }])
  const one = await other.call('GET', `/v1/events/${events[0].event_id}`)
  expect(one.body.event).toEqual(events[0])
  const ofContact = (await other.call('GET', `/v1/contacts/events/${contactId}?sort_dir=asc`)).body.events
  const ids = ofContact.map((event: { analytics_user_id: unknown }) => event.analytics_user_id)
  expect(ids.sort()).toEqual(['42', 'GA1.2.7', 'GA1.2.7', null])
  const group = (filters: object) =>
    other.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'analytics_user_id', filters })
  expect((await group({})).body).toMatchObject({
    buckets: [
      { key: 'GA1.2.7', value: 2 },
      { key: '42', value: 1 },
      { key: null, value: 1 },
    ],
    distinct_groups: 2,
  })
  expect((await group({ analytics_user_id: 'GA1.2.7' })).body.total).toBe(2)
  const admin = await signedIn(service, other.id, 'admin')
  const file = await admin.call('GET', '/v1/events/export.csv?analytics_user_id=GA1.2.7&columns=analytics_user_id')
  expect(String(file.body).trim().split('\r\n').slice(1)).toEqual(['GA1.2.7', 'GA1.2.7'])
})

test('contact_id filters; events include their contact, and other values become text', async () => {
  const { body } = await tenant.call('GET', `/v1/events?contact_id=${contactId}&sort_dir=asc&limit=1`)
  expect(body.events[0].contact).toEqual({ _id: contactId, email: 'c@example.com', firstname: 'C', lastname: '7' })
  expect(body.pagination).toEqual({ page: 1, limit: 1, total_pages: 2, total_items: 2 })
})

test('fields=summary is compact, and count_only returns only the count', async () => {
  const { body } = await tenant.call('GET', '/v1/events?fields=summary&event_type=signup')
  expect(body.events).toEqual([
    {
      id: expect.any(String),
      event: 'signup',
      url: `https://${tenant.site}/Signup?utm=Ünï`,
      timestamp: DAY(1),
      contact_id: contactId,
    },
  ])
  const count = await tenant.call('GET', '/v1/events?count_only=true&identified_only=1')
  expect(count.body).toEqual({ status: 'success', count: 2 })
})

test("types lists the tenant's distinct event names, and system events only on request", async () => {
  const { body } = await tenant.call('GET', '/v1/events/types')
  const pagination = { page: 1, limit: 1_000, total_pages: 1, total_items: 3 }
  const types = ['checkout', 'page_view', 'signup']
  expect(body).toEqual({ status: 'success', types, total_items: 3, pagination })
  const second = (await tenant.call('GET', '/v1/events/types?limit=2&page=2')).body
  expect([second.types, second.total_items, second.pagination.total_pages]).toEqual([['signup'], 3, 2])
  const past = (await tenant.call('GET', '/v1/events/types?limit=2&page=3')).body
  expect([past.types, past.total_items]).toEqual([[], 3])
  const system = await tenant.call('GET', '/v1/events/types?include=system')
  expect(system.body.types).toContain('contact_created')
  const wrong = await tenant.call('GET', '/v1/events/types?include=everything')
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'validation_error'])
})

test.each([
  'limit=0',
  'limit=101',
  'sort_by=url',
  'fields=all',
  'include=everything',
  'date_after=2026-02-30',
  'identified_only=2',
  'event_type=',
])('%s is 400', async (query) => {
  const { status, body } = await tenant.call('GET', `/v1/events?${query}`)
  expect([status, body.error?.code]).toEqual([400, 'validation_error'])
})

test.each([newId(), 'nope', '%00'])('an event with the id %s is 404', async (id) => {
  const { status, body } = await tenant.call('GET', `/v1/events/${id}`)
  expect([status, body.error.code]).toEqual([404, 'not_found'])
})

test('paging through equal timestamps shows every event once', async () => {
  const own = await createTestTenant(service)
  for (let batch = 0; batch < 4; batch++) {
    await own.track({ events: Array.from({ length: 10 }, (_, n) => ({ event: `e${n % 3}`, timestamp: DAY(1) })) })
  }
  for (const sort_by of ['timestamp', 'event', 'createdAt']) {
    const seen: string[] = []
    for (let page = 1; page <= 6; page++) {
      const { body } = await own.call('GET', `/v1/events?sort_by=${sort_by}&limit=7&page=${page}`)
      seen.push(...body.events.map(({ event_id }: { event_id: string }) => event_id))
    }
    expect(new Set(seen).size).toBe(40)
  }
})

test('a company filters the events of its contacts', async () => {
  const own = await createTestTenant(service)
  const { body } = await own.call('POST', '/v1/companies', { name: 'Engines' })
  const { company_id } = body.company
  await own.contact('ada@engines.example', {}, { visitor_id: 'ada', company_id })
  for (const visitor_id of ['ada', 'eve']) await own.track({ visitor_id, events: [{ event: `seen by ${visitor_id}` }] })
  const names = async (query: string) =>
    (await own.call('GET', `/v1/events?${query}`)).body.events.map(({ event }: { event: string }) => event)
  expect(await names(`company_id=${company_id}`)).toEqual(['seen by ada'])
  expect(await names(`company_id=${newId()}`)).toEqual([])
  expect(await names('company_id=none')).toEqual([])
})
