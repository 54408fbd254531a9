import { beforeAll, expect, test } from 'vitest'
import {
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { newId } from '../../platform/ids.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const send = (events: unknown, { key, of = tenant }: { key?: string; of?: TestTenant } = {}): Promise<TestResponse> =>
  of.call('POST', '/v1/events', { events }, key)
const eventsOf = async (query: string, of = tenant) => (await of.call('GET', `/v1/events?${query}`)).body.events
const count = async (query: string, of = tenant) =>
  (await of.call('GET', `/v1/events?count_only=true&${query}`)).body.count as number
const contactsNamed = async (email: string, of = tenant) =>
  (await of.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)).body.contacts

test('an event of a server has all that was sent, no session, and is never a bot’s', async () => {
  const contact_id = await tenant.contact('all@example.com')
  const event_id = crypto.randomUUID()
  const { status, body } = await send([
    {
      event: 'order_paid',
      event_id: event_id.toUpperCase(),
      contact_id: contact_id.toUpperCase(),
      timestamp: '2026-01-31T09:00:00+01:00',
      url: 'https://shop.example.com/checkout?step=3',
      title: 'Checkout',
      referrer: 'https://www.search.example/?q=shop',
      data: { amount: 49.9 },
      context: { screen: '1920x1080', language: 'de', timezone: 'Europe/Berlin', user_agent: 'curl/8.5.0', ip: '::1' },
    },
  ])
  expect([status, body]).toEqual([
    200,
    { status: 'success', results: [{ index: 0, status: 'accepted', event_id, contact_id }], failed: 0 },
  ])
  const [event] = await eventsOf(`contact_id=${contact_id}`)
  expect(event).toMatchObject({
    event_id,
    event: 'order_paid',
    internal_contact_id: contact_id,
    timestamp: '2026-01-31T08:00:00.000Z',
    url: 'https://shop.example.com/checkout?step=3',
    domain: 'shop.example.com',
    referring_domain: 'search.example',
    screen: '1920x1080',
    is_bot: false,
    user_agent: 'curl/8.5.0',
    visitor_id: null,
    session_id: null,
    data: { amount: 49.9, title: 'Checkout' },
  })
  expect((await tenant.call('GET', `/v1/contacts/${contact_id}`)).body.contact.first_seen_at).toBe(
    '2026-01-31T08:00:00.000Z',
  )
  await send([{ event: 'in_session', contact_id, session_id: 's1' }])
  expect(await eventsOf('event_type=in_session')).toMatchObject([{ session_id: 's1' }])
})

test('an unknown user is created as verified, and a later identification with an email joins it', async () => {
  const { body } = await send([
    { event: 'signed_up', user_id: 'u-new' },
    { event: 'logged_in', user_id: 'u-new' },
    { event: 'asked', email: ' Asks@Example.com ' },
  ])
  const [first, second, third] = body.results
  expect(body.failed).toBe(0)
  expect(first.contact_id).toBe(second.contact_id)
  expect(third.contact_id).not.toBe(first.contact_id)
  expect(await contactsNamed('asks@example.com')).toMatchObject([{ contact_id: third.contact_id }])
  const joined = await tenant.call('POST', '/v1/identify', { user_id: 'u-new', email: 'new@example.com' })
  expect(joined.body).toMatchObject({ contact_id: first.contact_id, created: false })
  const { contact } = (await tenant.call('GET', `/v1/contacts/${first.contact_id}`)).body
  expect(contact).toMatchObject({ creation_source: 'identify', properties: { email: 'new@example.com' } })
  expect(await count(`contact_id=${first.contact_id}`)).toBe(2)
  // A page's statement is unverified, so it cannot move the id to another contact.
  await tenant.track({
    visitor_id: 'thief',
    identify: { external_user_id: 'u-new', traits: { email: 't@example.com' } },
  })
  const again = await send([{ event: 'again', user_id: 'u-new' }])
  expect(again.body.results[0].contact_id).toBe(first.contact_id)
})

test('20 parallel requests about an unknown user create one contact', async () => {
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      send([
        { event: 'raced', user_id: 'u-raced' },
        { event: 'raced', user_id: 'u-raced', email: 'raced@example.com', data: { n } },
      ]),
    ),
  )
  const ids = new Set(
    responses.flatMap(({ body }) => body.results.map((each: { contact_id: string }) => each.contact_id)),
  )
  expect([responses.map(({ status }) => status).filter((status) => status !== 200), ids.size]).toEqual([[], 1])
  expect(await contactsNamed('raced@example.com')).toHaveLength(1)
  expect(await count(`contact_id=${[...ids][0]}`)).toBe(40)
})

test("an anonymous visitor's event joins its contact when it is identified; a known visitor's has it at once", async () => {
  const anonymous = await send([{ event: 'looked', visitor_id: 'v-server' }])
  expect(anonymous.body.results).toMatchObject([{ status: 'accepted', contact_id: null }])
  const linked = await send([{ event: 'bought', visitor_id: 'v-server', user_id: 'u-linked' }])
  const [{ contact_id }] = linked.body.results
  expect(await count(`contact_id=${contact_id}`)).toBe(2)
  await send([{ event: 'returned', visitor_id: 'v-server' }])
  await tenant.track({ visitor_id: 'v-server', events: [{ event: 'browsed' }] })
  expect(await count(`contact_id=${contact_id}`)).toBe(4)
  expect((await eventsOf(`visitor_id=v-server`)).map((each: { event: string }) => each.event).sort()).toEqual([
    'bought',
    'browsed',
    'looked',
    'returned',
  ])
})

test('the same batch twice, and at the same time, is recorded once', async () => {
  const of = await createTestTenant(service)
  const events = Array.from({ length: 50 }, (_, n) => ({
    event: 'once',
    event_id: crypto.randomUUID(),
    ...(n % 3 === 0
      ? { user_id: `u${n % 7}` }
      : n % 3 === 1
        ? { visitor_id: `v${n % 5}` }
        : { email: `e${n % 4}@example.com` }),
  }))
  const responses = await Promise.all(Array.from({ length: 6 }, () => send(events, { of })))
  responses.push(await send(events, { of }))
  for (const { status, body } of responses) {
    expect([status, body.failed]).toEqual([200, 0])
    expect(body.results.map((each: { event_id: string }) => each.event_id)).toEqual(events.map((each) => each.event_id))
  }
  expect(await count('', of)).toBe(50)
})

test('one bad event of many fails alone, and says why', async () => {
  const of = await createTestTenant(service)
  const stranger = await tenant.contact('stranger@example.com')
  const mine = await of.contact('mine@example.com')
  const bad: [unknown, string, RegExp][] = [
    [{ event: 'x' }, 'validation_error', /contact_id, user_id, email or visitor_id/],
    [{ event: 'x', contact_id: newId() }, 'unknown_contact', /no contact/],
    [{ event: 'x', contact_id: stranger }, 'unknown_contact', /no contact/],
    [{ event: 'x', contact_id: 'abc' }, 'validation_error', /contact_id/],
    [{ event: 'x', contact_id: mine, user_id: 'u' }, 'validation_error', /omit user_id/],
    [{ event: 'x', email: 'not an address' }, 'validation_error', /email/],
    [{ event: '', user_id: 'u' }, 'validation_error', /event/],
    [{ event: 'x'.repeat(201), user_id: 'u' }, 'validation_error', /event/],
    [{ event: 'x', user_id: 'u'.repeat(201) }, 'validation_error', /user_id/],
    [{ event: 'x', user_id: 'u', timestamp: '1999-12-31T00:00:00Z' }, 'validation_error', /2000/],
    [{ event: 'x', user_id: 'u', timestamp: 'yesterday' }, 'validation_error', /timestamp/],
    [{ event: 'x', user_id: 'u', event_id: '1' }, 'validation_error', /event_id/],
    [{ event: 'x', user_id: 'u', data: { text: 'x'.repeat(33_000) } }, 'validation_error', /data/],
    [{ event: 'x', user_id: 'u', data: [1] }, 'validation_error', /data/],
    [{ event: 'x', user_id: 'u', userId: 'u' }, 'validation_error', /userId/],
    ['x', 'validation_error', /record/],
    [null, 'validation_error', /record/],
  ]
  const events = bad.flatMap(([event], n) => [event, { event: 'good', user_id: `good ${n}` }])
  const { status, body } = await send(events, { of })
  expect([status, body.failed]).toEqual([200, bad.length])
  for (const [n, [event, code, message]] of bad.entries()) {
    const { error, ...result } = body.results[2 * n]
    expect([event, result, error]).toEqual([
      event,
      { index: 2 * n, status: 'failed' },
      { code, message: expect.stringMatching(message) },
    ])
    expect(body.results[2 * n + 1].status).toBe('accepted')
  }
  expect([await count('', of), await count('event_type=x', of)]).toEqual([bad.length, 0])
  expect((await of.call('GET', '/v1/contacts?search=stranger')).body.contacts).toEqual([])
})

test('a time more than a day ahead counts as now', async () => {
  const sentAt = Date.now()
  await send([{ event: 'future', user_id: 'u-future', timestamp: '2100-01-01T00:00:00Z' }])
  const [{ timestamp }] = await eventsOf('event_type=future')
  expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(sentAt)
  expect(Date.parse(timestamp)).toBeLessThanOrEqual(Date.now())
})

test('an event with the name of a system event is an ordinary event, as from a page', async () => {
  const of = await createTestTenant(service)
  const { body } = await send([{ event: 'contact_created', visitor_id: 'v' }], { of })
  await of.track({ visitor_id: 'v', events: [{ event: 'contact_created' }] })
  expect(body.failed).toBe(0)
  expect(await count('visitor_id=v', of)).toBe(2)
})

test('500 events in one request are recorded, 501 are refused', async () => {
  const of = await createTestTenant(service)
  const events = Array.from({ length: 501 }, (_, n) => ({ event: 'many', user_id: `u${n % 5}`, data: { n } }))
  const refused = await send(events, { of })
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'events'])
  expect((await send([], { of })).status).toBe(400)
  expect(await count('', of)).toBe(0)
  const { body } = await send(events.slice(0, 500), { of })
  expect([body.failed, await count('', of)]).toEqual([0, 500])
})

test.each([
  [{}, 400],
  [{ events: 'x' }, 400],
  [{ events: [{ event: 'x', user_id: 'u' }], sent_at: 'now' }, 400],
  [{ events: [{ event: 'x', user_id: 'u', data: { text: 'x'.repeat(5_000_000) } }] }, 413],
])('a malformed request is refused as a whole', async (body, status) => {
  expect((await tenant.call('POST', '/v1/events', body)).status).toBe(status)
})

test('a key needs the scope events:write', async () => {
  const key = await tenant.keyWith('events:read', 'contacts:write')
  const refused = await send([{ event: 'x', user_id: 'u' }], { key })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
  expect((await send([{ event: 'x', user_id: 'u' }], { key: await tenant.keyWith('events:write') })).status).toBe(200)
})

test('an event of a merged contact belongs to the survivor', async () => {
  const from = await tenant.contact('from@example.com')
  const into = await tenant.contact('into@example.com')
  await tenant.call('POST', `/v1/contacts/${from}/merge`, { into })
  const { body } = await send([
    { event: 'merged', contact_id: from },
    { event: 'merged', email: 'from@example.com' },
  ])
  expect(body.results).toMatchObject([{ contact_id: into }, { contact_id: into }])
  expect(await count(`contact_id=${into}`)).toBe(2)
})

test('an event starts a webhook delivery and changes segments, like one of a page', async () => {
  const of = await createTestTenant(service)
  const filter = { match: 'all', conditions: [{ event: { type: 'paid' }, operator: 'did' }] }
  const { body } = await of.call('POST', '/v1/segments', { name: 'Buyers', filter })
  const hook = { event: 'paid', url: 'https://hooks.example.com/paid' }
  const { subscription_id } = (await of.call('POST', '/v1/webhooks', hook)).body
  const contact_id = await of.contact('buyer@example.com')
  await send([{ event: 'paid', contact_id }], { of })
  const deliveries = await of.call('GET', `/v1/webhooks/${subscription_id}/deliveries`)
  expect(deliveries.body.pagination.total_items).toBe(1)
  await until(async () => {
    const { segment } = (await of.call('GET', `/v1/segments/${body.segment.segment_id}`)).body
    expect(segment.contact_count).toBe(1)
  })
})
