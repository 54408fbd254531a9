import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import {
  arrived,
  attempted,
  changesAreKnown,
  deliveriesOf,
  startWebhookBench,
  until,
  type WebhookBench,
} from '../../test/webhooks.ts'
import { eventCatalogue } from './catalogue.ts'
import { subscriptionHealth } from './health.ts'
import { deleteOldDeliveries } from './queue/retention.ts'
import { resendDelivery, sendTest } from './resend.ts'
import { resendRange } from './resend-range.ts'
import { rotateSecret } from './rotate-secret.ts'
import { pauseSubscription, resumeSubscription } from './subscriptions.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let bench: WebhookBench
let tenant: TestTenant
let paths = 0
beforeAll(async () => {
  bench = await startWebhookBench()
})
afterEach(() => {
  bench.receiver.respond = (response) => response.end('ok')
})
afterAll(() => bench.close())

/** Creates a tenant that has subscribed a path of its own. */
async function subscribed(settings: Parameters<WebhookBench['subscribe']>[1] = {}) {
  tenant = await createTestTenant(bench.service)
  const path = `/hook/${++paths}`
  const made = await bench.subscribe(tenant, { url: bench.receiver.url(path), ...settings })
  return { ...made, path }
}

async function view(url = 'https://shop.example/pricing?a=1', more: object = {}): Promise<string> {
  const event_id = crypto.randomUUID()
  const { status, body } = await tenant.track({
    visitor_id: 'v1',
    session_id: 's1',
    events: [{ event_id, event: 'page_view', url, title: 'Pricing', data: { n: 1 } }],
    ...more,
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return event_id
}

test('an event arrives with its payload, its headers and two valid signatures', async () => {
  const { subscriptionId, signingSecret, path } = await subscribed({
    headers: [
      { name: 'Authorization', value: 'Bearer of-the-receiver' },
      { name: 'X-Shop', value: 'one two' },
    ],
  })
  const contactId = await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'v1' })
  const eventId = await view()
  const [request] = await arrived(bench.receiver, path, 1)
  const { headers = {}, body = Buffer.alloc(0) } = request ?? {}
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-event': 'page_view',
    'x-service-subscription': subscriptionId,
    'webhook-id': eventId,
    authorization: 'Bearer of-the-receiver',
    'x-shop': 'one two',
  })
  expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const hex = createHmac('sha256', signingSecret).update(body).digest('hex')
  expect(headers['x-service-signature']).toBe(`sha256=${hex}`)
  const timestamp = String(headers['webhook-timestamp'])
  expect(Math.abs(Number(timestamp) - bench.now().getTime() / 1000)).toBeLessThan(10)
  const key = Buffer.from(signingSecret.slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${standard}`)

  const payload = JSON.parse(body.toString())
  const { event } = (await tenant.call('GET', `/v1/events/${eventId}`)).body
  expect(payload).toEqual({
    event: 'page_view',
    subscription_id: subscriptionId,
    event_id: eventId,
    tenant_id: tenant.id,
    timestamp: event.timestamp,
    data: { ...event, visitorId: 'v1', title: 'Pricing', path: '/pricing' },
  })
  expect(payload.data).toMatchObject({ internal_contact_id: contactId, contact: { email: 'ada@example.com' } })
})

test('an event that is sent twice is delivered once; other events and those of other tenants are not delivered', async () => {
  const { path } = await subscribed()
  const mine = tenant
  const eventId = await view()
  const again = { event_id: eventId, event: 'page_view' }
  await mine.track({ visitor_id: 'v1', events: [again] })
  await mine.track({ visitor_id: 'v1', events: [again, { event: 'page_leave' }, { event: 'page_view', title: 'B' }] })
  const stranger = await createTestTenant(bench.service)
  await stranger.track({ visitor_id: 'v1', events: [{ event: 'page_view' }] })
  await arrived(bench.receiver, path, 2)
  await sleep(300)
  const bodies = bench.receiver.received.filter((each) => each.path === path).map(({ body }) => JSON.parse(`${body}`))
  expect(bodies.map(({ data }) => data.title).sort()).toEqual(['B', 'Pricing'])
})

test('an event whose id another visitor has used is delivered with its new id', async () => {
  const { path } = await subscribed()
  const usedId = await view()
  await tenant.track({ visitor_id: 'v2', events: [{ event_id: usedId, event: 'page_view' }] })
  const requests = await arrived(bench.receiver, path, 2)
  const ids = requests.map(({ body }): string => JSON.parse(String(body)).event_id)
  expect(new Set(ids).size).toBe(2)
  const events = await Promise.all(ids.map((id) => tenant.call('GET', `/v1/events/${id}`)))
  const visitors = events.map(({ body }) => [body.event.visitor_id, body.event.event_id === usedId])
  expect(visitors.sort()).toEqual([
    ['v1', true],
    ['v2', false],
  ])
})

test('a refused batch delivers nothing', async () => {
  const { subscriptionId } = await subscribed()
  const { status } = await tenant.track({ events: [{ event: 'page_view' }, { event: 'page_view', timestamp: 'soon' }] })
  expect(status).toBe(400)
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toEqual([])
})

test("the service's own events are delivered, and a page's event of the same name is not", async () => {
  const { path } = await subscribed({ event: 'contact_created' })
  await tenant.track({ visitor_id: 'v1', events: [{ event: 'contact_created', data: { fake: true } }] })
  const contactId = await tenant.contact('ada@example.com')
  const [request] = await arrived(bench.receiver, path, 1)
  const { data } = JSON.parse(String(request?.body))
  expect(data).toMatchObject({ internal_contact_id: contactId, contact: { _id: contactId }, visitorId: null })
  await sleep(200)
  expect(bench.receiver.received.filter((each) => each.path === path)).toHaveLength(1)
})

test('a change that is refused delivers nothing', async () => {
  const { subscriptionId } = await subscribed({ event: 'contact_created' })
  await tenant.contact('ada@example.com')
  const { status } = await tenant.call('POST', '/v1/contacts', { email: 'ada@example.com' })
  expect(status).toBe(409)
  expect(await attempted(tenant, subscriptionId, 1)).toMatchObject({ status: 'succeeded' })
})

test.each([
  ['contains', 'all', [{ operator: 'contains', value: '/pricing' }], [1, 2]],
  ['not_contains', 'all', [{ operator: 'not_contains', value: '/pricing' }], [3, 4]],
  ['equals', 'all', [{ operator: 'equals', value: 'https://a.example/pricing' }], [1]],
  ['starts_with', 'all', [{ operator: 'starts_with', value: 'https://a.' }], [1, 3]],
  ['ends_with', 'all', [{ operator: 'ends_with', value: '.pdf' }], [3]],
  [
    'all of two',
    'all',
    [
      { operator: 'contains', value: '/pricing' },
      { operator: 'starts_with', value: 'https://b.' },
    ],
    [2],
  ],
  [
    'any of two',
    'any',
    [
      { operator: 'ends_with', value: '.pdf' },
      { operator: 'equals', value: 'https://a.example/pricing' },
    ],
    [1, 3],
  ],
] as const)('URL filter: %s', async (_, match, conditions, expected) => {
  const { path } = await subscribed({ url_filter: { match, conditions: [...conditions] } })
  const urls = ['https://a.example/pricing', 'https://b.example/pricing?x', 'https://a.example/a.pdf', undefined]
  await tenant.track({
    visitor_id: 'v1',
    events: urls.map((url, index) => ({ event: 'page_view', ...(url ? { url } : {}), data: { number: index + 1 } })),
  })
  const requests = await arrived(bench.receiver, path, expected.length)
  await sleep(100)
  expect(requests.map(({ body }) => JSON.parse(String(body)).data.data.number).sort()).toEqual(expected)
})

test('conditions on the event decide which ones are delivered, of the page and of a server', async () => {
  const where = [
    { property: 'data.plan', operator: 'in', value: ['pro', 'team'] },
    { match: 'any', conditions: [{ property: 'data.seats', operator: 'gte', value: 5 }, { property: 'url_path', operator: 'starts_with', value: '/big' }] }, // biome-ignore format: one line
  ]
  tenant = await createTestTenant(bench.service)
  const path = `/hook/${++paths}`
  const made = await tenant.call('POST', '/v1/webhooks', { event: 'paid', url: bench.receiver.url(path), where })
  expect([made.status, made.body.webhook?.where]).toEqual([201, where])
  await changesAreKnown(bench.service)
  const paid = (n: number, data: object, url?: string) => ({
    visitor_id: 'v',
    event: 'paid',
    url,
    data: { n, ...data },
  })
  const events = [
    paid(1, { plan: 'pro', seats: 5 }),
    paid(2, { plan: 'free', seats: 9 }),
    paid(3, { plan: 'pro', seats: '7' }),
    paid(4, { plan: ['team'] }, 'https://shop.example/big/one'),
    paid(5, { plan: 'pro' }),
  ]
  expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
  const requests = await arrived(bench.receiver, path, 3)
  expect(requests.map(({ body }) => JSON.parse(String(body)).data.data.n).sort()).toEqual([1, 3, 4])
  const webhook = `/v1/webhooks/${made.body.subscription_id}`
  const changed = await tenant.call('PATCH', webhook, { where: null })
  expect(changed.body).toMatchObject({ changed: ['where'], webhook: { where: null } })
  const refused = [
    [[{ property: 'contact.plan', operator: 'equals', value: 'pro' }], 'where[0].property'],
    [[{ property: 'timestamp', operator: 'after', value: '2026-05-01' }], 'where'],
    [[{ property: 'data.x', operator: 'near', value: 1 }], 'where[0].operator'],
    [{}, 'where'],
  ] as const
  for (const [sent, at] of refused) {
    const answers = [
      await tenant.call('PATCH', webhook, { where: sent }),
      await tenant.call('POST', '/v1/webhooks', { event: 'paid', url: bench.receiver.url(path), where: sent }),
    ]
    for (const { status, body } of answers) expect([status, body.error?.details[0].path]).toEqual([400, at])
  }
})

test('a subscription can be limited to one segment', async () => {
  tenant = await createTestTenant(bench.service)
  const segmentOf = async (name: string, value: string) => {
    const filter = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value }] }
    return (await tenant.call('POST', '/v1/segments', { name, filter })).body.segment.segment_id as string
  }
  const [pro] = [await segmentOf('Pro', 'pro'), await segmentOf('Free', 'free')]
  const path = `/hook/${++paths}`
  const one = { event: 'segment_entered', url: bench.receiver.url(path), segment_id: pro }
  const made = await tenant.call('POST', '/v1/webhooks', one)
  expect([made.status, made.body.webhook?.segment_id]).toEqual([201, pro])
  await changesAreKnown(bench.service)
  await tenant.contact('free@example.com', { plan: 'free' })
  await tenant.contact('pro@example.com', { plan: 'pro' })
  const [request] = await arrived(bench.receiver, path, 1)
  expect(JSON.parse(String(request?.body)).data.data).toMatchObject({ segment_id: pro, segment_name: 'Pro' })
  await sleep(100)
  expect(bench.receiver.received.filter((each) => each.path === path)).toHaveLength(1)

  const refused = [
    [{ ...one, event: 'page_view' }, 400, 'validation_error'],
    [{ ...one, segment_id: crypto.randomUUID() }, 400, 'validation_error'],
  ] as const
  for (const [sent, status, code] of refused) {
    const { status: answered, body } = await tenant.call('POST', '/v1/webhooks', sent)
    expect([answered, body]).toMatchObject([status, { error: { code } }])
  }
  const stranger = await createTestTenant(bench.service)
  expect((await stranger.call('POST', '/v1/webhooks', one)).status).toBe(400)
})

test('a delivery fails after six attempts with the same bytes, each after its delay; the subscription stays active', async () => {
  bench.receiver.respond = (response) => response.writeHead(500).end(`no ${bench.receiver.received.length}`)
  const { subscriptionId, path } = await subscribed()
  await view()
  let delivery = await attempted(tenant, subscriptionId, 1)
  // Health shows the first failure, not only the last one.
  const failing = { latest: 1, latest_failed: 1, is_failing: true, failed: 0 }
  expect(await subscriptionHealth(tenant.handle, [subscriptionId], bench.now())).toMatchObject([failing])
  for (const [index, delay] of [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR].entries()) {
    const last = delivery.attempts.at(-1)
    const ended = Date.parse(last?.at ?? '') + (last?.latency_ms ?? 0)
    expect(Date.parse(delivery.next_attempt_at ?? '') - ended).toBe(delay)
    // A second before it is due, a poll claims nothing.
    bench.pass(Date.parse(delivery.next_attempt_at ?? '') - 1_500 - bench.now().getTime())
    await sleep(300)
    const early = await deliveriesOf(tenant.handle, subscriptionId)
    // On a busy machine it may have become due meanwhile; the time of the attempt is checked below.
    if (bench.now().getTime() < ended + delay) expect(early).toMatchObject([{ attempt_count: index + 1 }])
    bench.pass(1_600)
    delivery = await attempted(tenant, subscriptionId, index + 2)
    expect(Date.parse(delivery.attempts.at(-1)?.at ?? '')).toBeGreaterThanOrEqual(ended + delay)
  }
  expect(delivery).toMatchObject({ status: 'failed', attempt_count: 6, next_attempt_at: null })
  expect(delivery.attempts.map(({ attempt, status_code }) => [attempt, status_code])).toEqual(
    [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 500]),
  )
  expect(delivery.attempts[0]).toMatchObject({ body: expect.stringMatching(/^no \d+$/), address: '127.0.0.1' })
  bench.pass(48 * HOUR)
  await sleep(300)
  const requests = await arrived(bench.receiver, path, 6)
  expect(requests).toHaveLength(6)
  expect(new Set(requests.map(({ body }) => String(body)))).toEqual(new Set([delivery.payload]))
  expect(new Set(requests.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(6)

  bench.receiver.respond = (response) => response.end('fine again')
  await view()
  await until(async () =>
    expect(await subscriptionHealth(tenant.handle, [subscriptionId], bench.now())).toMatchObject([
      { succeeded: 1, pending: 0, latest: 2, latest_failed: 1, is_failing: false },
    ]),
  )
})

test('later attempts send the same bytes as the first, even if the contact has changed', async () => {
  bench.receiver.respond = (response) => response.writeHead(503).end()
  const { subscriptionId, path } = await subscribed()
  await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'v1' })
  await view()
  await attempted(tenant, subscriptionId, 1)
  await tenant.contact('bob@example.com', {}, { visitor_id: 'v1' })
  bench.pass(2 * MINUTE)
  const [first, second] = await arrived(bench.receiver, path, 2)
  expect(String(second?.body)).toBe(String(first?.body))
})

test.each([
  [204, '', 'succeeded'],
  [299, 'no matter what', 'succeeded'],
  [500, 'ignore', 'succeeded'],
  [404, ' IGNORE\n', 'succeeded'],
  [302, 'Ignore', 'succeeded'],
  [302, '', 'pending'],
  [404, 'ignored', 'pending'],
  [500, '"ignore"', 'pending'],
])('a response with status %i and the body %j: %s', async (status, body, expected) => {
  bench.receiver.respond = (response) => response.writeHead(status, { location: '/elsewhere' }).end(body)
  const { subscriptionId, path } = await subscribed()
  await view()
  const delivery = await attempted(tenant, subscriptionId, 1)
  expect(delivery).toMatchObject({ status: expected, attempts: [{ status_code: status, body }] })
  expect(bench.receiver.received.filter((each) => each.path === '/elsewhere')).toEqual([])
  expect(bench.receiver.received.filter((each) => each.path === path)).toHaveLength(1)
})

test('unknown host names, TLS errors and broken connections are retried', async () => {
  const { subscriptionId } = await subscribed({ url: 'https://nowhere.example:8443/' })
  await view()
  const unknown = await attempted(tenant, subscriptionId, 1)
  expect(unknown).toMatchObject({ status: 'pending', attempts: [{ status_code: null, body: null }] })
  expect(unknown.attempts[0]?.error).toMatch(/^ENOTFOUND: (?!.*ENOTFOUND)/)

  bench.dns.zone.set('wrong.name', ['127.0.0.1'])
  const untrusted = await subscribed({ url: bench.receiver.url('/', 'wrong.name') })
  await view()
  const tls = await attempted(tenant, untrusted.subscriptionId, 1)
  expect(tls).toMatchObject({ status: 'pending', attempts: [{ error: expect.stringMatching(/^ERR_TLS/) }] })

  bench.receiver.respond = (response) => response.socket?.destroy()
  const broken = await subscribed()
  await view()
  expect(await attempted(tenant, broken.subscriptionId, 1)).toMatchObject({ status: 'pending' })
})

test('events that are recorded while a subscription is paused are never delivered', async () => {
  const { subscriptionId, path } = await subscribed()
  await pauseSubscription(tenant.handle, subscriptionId, bench.now())
  await sleep(100)
  await view()
  await expect(sendTest(tenant.handle, subscriptionId, bench.now())).rejects.toMatchObject({ code: 'webhook_paused' })
  await resumeSubscription(tenant.handle, subscriptionId, bench.now())
  // The collector is notified a moment after the commit, so only a later event is delivered.
  const eventId = await until(async () => {
    const seen = await view()
    expect(await deliveriesOf(tenant.handle, subscriptionId)).toHaveLength(1)
    return seen
  })
  const [request] = await arrived(bench.receiver, path, 1)
  expect(JSON.parse(String(request?.body)).event_id).toBe(eventId)
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toHaveLength(1)
})

test('deliveries that were pending when a subscription was paused are sent when it is resumed', async () => {
  bench.receiver.respond = (response) => response.writeHead(500).end()
  const { subscriptionId, path } = await subscribed()
  await view()
  await attempted(tenant, subscriptionId, 1)
  await pauseSubscription(tenant.handle, subscriptionId, bench.now())
  bench.receiver.respond = (response) => response.end()
  bench.pass(2 * MINUTE)
  await sleep(300)
  expect(bench.receiver.received.filter((each) => each.path === path)).toHaveLength(1)
  await resumeSubscription(tenant.handle, subscriptionId, bench.now())
  expect(await attempted(tenant, subscriptionId, 2)).toMatchObject({ status: 'succeeded' })
})

test('a failed delivery, or all of a time range, are sent again with the same bytes and six new attempts', async () => {
  bench.receiver.respond = (response) => response.writeHead(500).end()
  const { subscriptionId, path } = await subscribed()
  const began = bench.now()
  await view()
  for (let attempt = 1; attempt < 6; attempt++) {
    await attempted(tenant, subscriptionId, attempt)
    bench.pass(13 * HOUR)
  }
  const failed = await attempted(tenant, subscriptionId, 6)
  const { handle } = tenant
  await handle.transaction((tx) => resendDelivery(tx, failed.delivery_id, bench.now()))
  const pending = await attempted(tenant, subscriptionId, 7)
  expect(pending).toMatchObject({ status: 'pending', attempt_count: 7 })
  for (let attempt = 8; attempt <= 12; attempt++) {
    bench.pass(13 * HOUR)
    await attempted(tenant, subscriptionId, attempt)
  }
  bench.receiver.respond = (response) => response.end()
  const resendSince = (from: Date) =>
    handle.transaction((tx) => {
      const range = { from, to: bench.now(), only: 'failed', after: null } as const
      return resendRange(tx, subscriptionId, range, bench.now())
    })
  expect(await resendSince(bench.now())).toEqual({ resent: 0, next: null })
  expect(await resendSince(began)).toEqual({ resent: 1, next: null })
  const done = await attempted(tenant, subscriptionId, 13)
  expect(done).toMatchObject({ status: 'succeeded', attempt_count: 13 })
  const requests = await arrived(bench.receiver, path, 13)
  expect(new Set(requests.map(({ body }) => String(body))).size).toBe(1)
  const stranger = await createTestTenant(bench.service)
  await expect(resendDelivery(stranger.handle, failed.delivery_id, bench.now())).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('a test delivery contains the sample of its event and is signed like any other', async () => {
  const { subscriptionId, signingSecret, path } = await subscribed({ event: 'lifecycle_stage_changed' })
  await sendTest(tenant.handle, subscriptionId, bench.now())
  const [request] = await arrived(bench.receiver, path, 1)
  const { body = Buffer.alloc(0), headers } = request ?? {}
  const hex = createHmac('sha256', signingSecret).update(body).digest('hex')
  expect(headers?.['x-service-signature']).toBe(`sha256=${hex}`)
  expect(JSON.parse(String(body))).toMatchObject({
    event: 'lifecycle_stage_changed',
    subscription_id: subscriptionId,
    data: { contact: { email: 'ada@example.com' }, data: { test: true, from: 'lead', to: 'customer' } },
  })
  expect(await attempted(tenant, subscriptionId, 1)).toMatchObject({ is_test: true, status: 'succeeded' })
})

test('the sample of every known event type has the fields of a delivery', async () => {
  const { path } = await subscribed()
  await view()
  const [request] = await arrived(bench.receiver, path, 1)
  const real = JSON.parse(String(request?.body))
  const catalogue = eventCatalogue(tenant.id, bench.now())
  expect(catalogue.map(({ event }) => event)).toEqual(expect.arrayContaining(['page_view', 'segment_entered']))
  for (const { event, sample } of catalogue) {
    const { data, ...rest } = sample as { data: object }
    expect({ keys: Object.keys(rest), data: Object.keys(data) }, event).toEqual({
      keys: Object.keys(real).filter((key) => key !== 'data'),
      data: Object.keys(real.data),
    })
  }
})

test('during a rotation both secrets sign, and X-Service-Signature switches at the chosen time', async () => {
  const { subscriptionId, signingSecret: old, path } = await subscribed()
  const rotation = { overlapSeconds: 7_200, switchAt: new Date(bench.now().getTime() + HOUR) }
  const { secrets } = bench.service
  const rotate = (options: object) => rotateSecret(tenant.handle, secrets, subscriptionId, options, bench.now())
  const { signingSecret: fresh } = await rotate(rotation)
  await expect(rotate(rotation)).rejects.toMatchObject({ code: 'rotation_under_way' })

  const signers = async (count: number) => {
    await view()
    const request = (await arrived(bench.receiver, path, count))[count - 1]
    // Recorded before the clock moves, because that ends the lease and repeats the attempt.
    await until(async () => {
      const succeeded = (await deliveriesOf(tenant.handle, subscriptionId)).map(({ status }) => status === 'succeeded')
      expect(succeeded).toEqual(Array(count).fill(true))
    })
    const { headers = {}, body } = request ?? {}
    const standard = String(headers['webhook-signature']).split(' ')
    const names = new Map([
      [old, 'old'],
      [fresh, 'new'],
    ])
    const found = [...names].filter(([secret]) => {
      const signed: string = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      return standard.includes(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    })
    const primary = [...names].find(
      ([secret]) =>
        headers['x-service-signature'] ===
        `sha256=${createHmac('sha256', secret)
          .update(body ?? '')
          .digest('hex')}`,
    )
    return { standard: found.map(([, name]) => name), signatures: standard.length, primary: primary?.[1] }
  }
  expect(await signers(1)).toEqual({ standard: ['old', 'new'], signatures: 2, primary: 'old' })
  bench.pass(HOUR + 1_000)
  expect(await signers(2)).toEqual({ standard: ['old', 'new'], signatures: 2, primary: 'new' })
  bench.pass(HOUR)
  expect(await signers(3)).toEqual({ standard: ['new'], signatures: 1, primary: 'new' })
  await expect(rotate({ switchAt: new Date(0) })).rejects.toMatchObject({ code: 'validation_error' })
})

test('the retention deletes finished deliveries, not pending ones; deleting a subscription deletes all of its deliveries', async () => {
  const { subscriptionId } = await subscribed()
  await view()
  await attempted(tenant, subscriptionId, 1)
  bench.receiver.respond = (response) => response.writeHead(500).end()
  await view()
  await until(async () => {
    const all = await deliveriesOf(tenant.handle, subscriptionId)
    expect(all.map(({ attempts }) => attempts.length)).toEqual([1, 1])
  })
  const { database } = bench.service.stores
  const later = (days: number) => new Date(bench.now().getTime() + days * 24 * HOUR)
  await deleteOldDeliveries(database, later(29), 30)
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toHaveLength(2)
  await deleteOldDeliveries(database, later(31), 30)
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([{ status: 'pending' }])
  expect((await tenant.call('DELETE', `/v1/webhooks/${subscriptionId}`)).status).toBe(200)
  for (const table of ['webhook_deliveries', 'webhook_queue', 'webhook_attempts'] as const) {
    expect(await tenant.handle.db.selectFrom(table).select('subscription_id').execute()).toEqual([])
  }
})

test('events are recorded while their subscription or their tenant is being deleted', { repeats: 5 }, async () => {
  const { subscriptionId } = await subscribed()
  const [eventId] = await Promise.all([view(), tenant.call('DELETE', `/v1/webhooks/${subscriptionId}`)])
  const later = await view()
  for (const id of [eventId, later]) expect((await tenant.call('GET', `/v1/events/${id}`)).status).toBe(200)
  const { database } = bench.service.stores
  await deleteOldDeliveries(database, bench.now(), 30)
  const rowsOf = (table: 'webhook_deliveries' | 'webhook_queue') =>
    database.selectFrom(table).select('subscription_id').where('tenant_id', '=', tenant.id).execute()
  const left = async () => [...(await rowsOf('webhook_deliveries')), ...(await rowsOf('webhook_queue'))]
  expect(await left()).toEqual([])

  await subscribed()
  await view()
  await database.deleteFrom('tenants').where('tenant_id', '=', tenant.id).execute()
  await deleteOldDeliveries(database, bench.now(), 30)
  expect(await left()).toEqual([])
})
