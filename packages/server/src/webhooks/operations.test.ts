import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { call, createTestTenant, type TestTenant } from '../../test/service.ts'
import { addDelivery, arrived, startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import type { WebhookDelivery } from './schema.ts'

let bench: WebhookBench
let tenant: TestTenant
let admin: Browser

const FILTER = { match: 'any', conditions: [{ operator: 'contains', value: '/shop' }] }

beforeAll(async () => {
  bench = await startWebhookBench()
  tenant = await createTestTenant(bench.service)
  admin = await signedIn(bench.service, tenant.id, 'admin')
})
afterAll(() => bench.close())

const webhook = async (more: object = {}) => {
  const { status, body } = await admin.call('POST', '/v1/webhooks', {
    event: 'page_view',
    url: bench.receiver.url(),
    ...more,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { path: `/v1/webhooks/${body.webhook.subscription_id}`, ...body }
}

test('a subscription is created, changed, paused, resumed, rotated and deleted; no secret is shown twice', async () => {
  const headers = [{ name: 'X-Token', value: 'the-header-value' }]
  const made = await webhook({ url_filter: FILTER, headers })
  expect(made.signing_secret).toMatch(/^whsec_/)
  expect(made.webhook).toMatchObject({ url_filter: FILTER, header_names: ['X-Token'], status: 'active' })
  const url = bench.receiver.url('/new')
  const changed = await admin.call('PATCH', made.path, { url, url_filter: null, headers: [] })
  expect(changed.body.webhook).toMatchObject({ url, url_filter: null, header_names: [] })
  expect(changed.body.changed).toEqual(['url', 'url_filter', 'headers'])
  expect((await admin.call('PATCH', made.path, { url_filter: FILTER })).body.webhook).toMatchObject({ url })
  expect((await admin.call('POST', `${made.path}/pause`)).body.webhook.status).toBe('paused')
  // Paused already: nothing changes, and the audit log below has one entry.
  expect((await admin.call('POST', `${made.path}/pause`)).body.changed).toEqual([])
  expect((await admin.call('POST', `${made.path}/test`)).body.error.code).toBe('webhook_paused')
  expect((await admin.call('POST', `${made.path}/resume`)).body.webhook.status).toBe('active')
  const switch_at = new Date(bench.now().getTime() + 3_600_000).toISOString()
  const rotated = await admin.call('POST', `${made.path}/rotate`, { overlap_seconds: 5_400, switch_at })
  expect(rotated.body.signing_secret).not.toBe(made.signing_secret)
  expect(rotated.body.switch_at).toBe(switch_at)
  expect((await admin.call('POST', `${made.path}/rotate`)).body.error.code).toBe('rotation_under_way')
  const viewer = await signedIn(bench.service, tenant.id, 'viewer')
  const shown = JSON.stringify([
    (await viewer.call('GET', '/v1/webhooks')).body,
    (await viewer.call('GET', made.path)).body,
    (await admin.call('GET', '/v1/audit-log')).body,
  ])
  for (const secret of [made.signing_secret, rotated.body.signing_secret, 'the-header-value'])
    expect(shown).not.toContain(secret)
  expect((await admin.call('DELETE', made.path)).body).toMatchObject({ deleted: true })
  expect((await admin.call('GET', made.path)).status).toBe(404)
  const { entries } = (await admin.call('GET', `/v1/audit-log?subject_id=${made.webhook.subscription_id}`)).body
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'webhook.deleted',
    'webhook.secret_rotated',
    'webhook.resumed',
    'webhook.paused',
    'webhook.updated',
    'webhook.updated',
    'webhook.created',
  ])
})

test('a test delivery arrives, is listed with its attempt, and is sent again', async () => {
  const { path } = await webhook({ url: bench.receiver.url('/tested') })
  const sent = await admin.call('POST', `${path}/test`)
  expect(sent.status).toBe(200)
  await arrived(bench.receiver, '/tested', 1)
  const one = `${path}/deliveries/${sent.body.delivery_id}`
  await until(async () => expect((await admin.call('GET', one)).body.delivery.status).toBe('succeeded'))
  const { delivery } = (await admin.call('GET', one)).body
  expect(JSON.parse(delivery.payload)).toMatchObject({ data: { event: 'page_view', data: { test: true } } })
  expect(delivery.attempts).toMatchObject([{ attempt: 1, status_code: 200 }])
  expect((await admin.call('POST', `${one}/resend`)).body.delivery).toMatchObject({ status: 'pending' })
  await arrived(bench.receiver, '/tested', 2)
  await until(async () => expect((await admin.call('GET', one)).body.delivery.attempt_count).toBe(2))
  const listed = await admin.call('GET', `${path}/deliveries?status=succeeded&limit=1&page=1`)
  expect(listed.body.pagination).toEqual({ page: 1, limit: 1, total_pages: 1, total_items: 1 })
  expect((await admin.call('GET', `${path}/deliveries?status=failed`)).body.deliveries).toEqual([])
  expect((await admin.call('GET', `${path}/health`)).body.health).toMatchObject({ succeeded: 1, failed: 0 })
  const { path: other } = await webhook()
  const elsewhere = await admin.call('GET', one.replace(path, other))
  expect([elsewhere.status, elsewhere.body.error.code]).toEqual([404, 'not_found'])
})

test('failed deliveries of a time range are sent again', async () => {
  const { path, webhook: made } = await webhook({ url: bench.receiver.url('/range') })
  for (const day of ['2026-01-01', '2026-02-01']) {
    const failed = { subscriptionId: made.subscription_id, createdAt: new Date(day) }
    await addDelivery(tenant.handle, failed, 'failed', { attempts: 6 })
  }
  const resend = (range: object) => admin.call('POST', `${path}/deliveries/resend`, range)
  const resent = await resend({ from: '2026-01-31', to: '2026-02-01' })
  expect([resent.status, resent.body.resent]).toEqual([200, 1])
  await arrived(bench.receiver, '/range', 1)
  expect((await resend({ from: '2026-01-01' })).body.resent).toBe(1)
  for (const range of [{ from: 'soon', to: '2026-02-01' }, { to: '2026-02-01' }, { from: 7 }]) {
    const wrong = await resend(range)
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'from'])
  }
})

test('a paused webhook is sent nothing again, and neither is a delivery that workers keep moving', async () => {
  const { path, webhook: made } = await webhook()
  const createdAt = new Date('2026-01-01')
  const deliveryId = await addDelivery(tenant.handle, { subscriptionId: made.subscription_id, createdAt }, 'pending')
  const resend = () => admin.call('POST', `${path}/deliveries/${deliveryId}/resend`)
  const queued = tenant.handle.db.deleteFrom('webhook_queue').where('subscription_id', '=', made.subscription_id)
  await queued.execute()
  const moving = await resend()
  expect([moving.status, moving.body.error.code]).toEqual([409, 'delivery_moving'])
  await admin.call('POST', `${path}/pause`)
  for (const refused of [
    await resend(),
    await admin.call('POST', `${path}/deliveries/resend`, { from: '2026-01-01' }),
  ]) {
    expect([refused.status, refused.body.error.code]).toEqual([409, 'webhook_paused'])
  }
})

test('subscriptions and their health are listed in pages, newest first', async () => {
  const own = await createTestTenant(bench.service)
  const ids: string[] = []
  for (const event of ['one', 'two', 'three']) {
    const made = await own.call('POST', '/v1/webhooks', { event, url: bench.receiver.url() })
    ids.unshift(made.body.subscription_id)
  }
  for (const [path, name] of [
    ['/v1/webhooks', 'webhooks'],
    ['/v1/webhooks/health', 'health'],
  ] as const) {
    const page = async (query: string) => (await own.call('GET', `${path}?${query}`)).body
    const idsOf = (body: Record<string, { subscription_id: string }[]>) =>
      body[name]?.map((each) => each.subscription_id)
    expect(idsOf(await page(''))).toEqual(ids)
    const second = await page('page=2&limit=2')
    expect(idsOf(second)).toEqual(ids.slice(2))
    expect(second.pagination).toEqual({ page: 2, limit: 2, total_pages: 2, total_items: 3 })
    expect(idsOf(await page('page=3&limit=2'))).toEqual([])
    for (const query of ['limit=0', 'limit=201', 'page=x']) {
      expect((await own.call('GET', `${path}?${query}`)).body.error.code).toBe('validation_error')
    }
  }
})

test('a key can call the operations of its scope, and the audit log names it', async () => {
  const [reader, writer] = [
    await tenant.keyWith('webhooks:read'),
    await tenant.keyWith('webhooks:write', 'contacts:read', 'events:read'),
  ]
  const body = { event: 'page_view', url: bench.receiver.url() }
  const made = await tenant.call('POST', '/v1/webhooks', body, writer)
  expect(made.status).toBe(201)
  const path = `/v1/webhooks/${made.body.subscription_id}`
  expect((await tenant.call('GET', path, undefined, reader)).body.webhook).toEqual(made.body.webhook)
  const refused = await tenant.call('GET', path, undefined, writer)
  expect([refused.status, refused.body.error.details]).toEqual([403, [{ path: 'scope', message: 'webhooks:read' }]])
  const { entries } = (await admin.call('GET', `/v1/audit-log?subject_id=${made.body.subscription_id}`)).body
  expect(entries).toMatchObject([{ action: 'webhook.created', actor: { kind: 'api_key', name: 'some' } }])
})

test('an invalid body, or one with an unknown field, changes nothing', async () => {
  const { path, webhook: made } = await webhook()
  const writes = OPERATIONS.filter(({ tag, http }) => tag === 'Webhooks' && !/^(GET|DELETE) /.test(http))
  const log = async () => (await admin.call('GET', `/v1/audit-log?subject_id=${made.subscription_id}`)).body.entries
  const before = await log()
  for (const { http } of writes) {
    const [method = '', pattern = ''] = http.split(' ')
    const place = pattern
      .replace(':subscription_id', made.subscription_id)
      .replace(':delivery_id', made.subscription_id)
    for (const text of ['{', '[]', '"x"', '{"unknown":1}', '{"url":"\\u0000"}', '{"__proto__":{}}']) {
      const { status, body } = await call(bench.service, method, place, {
        headers: { authorization: `Bearer ${tenant.key}` },
        body: text,
      })
      expect([status, body.status], `${http} ${text}`).toEqual([400, 'error'])
    }
  }
  expect((await admin.call('GET', path)).body.webhook).toEqual(made)
  expect(await log()).toEqual(before)
})

test('the catalogue has a sample delivery of each event type', async () => {
  const { event_types } = (await admin.call('GET', '/v1/webhooks/event-types')).body
  const created = event_types.find(({ event }: { event: string }) => event === 'contact_created')
  expect(created).toMatchObject({ is_system: true, sample: { data: { event: 'contact_created' } } })
})

test.each([
  [{}, 'validation_error'],
  [{ event: '', url: 'https://hooks.example/' }, 'validation_error'],
  [{ event: 'x', url: 'http://hooks.example/' }, 'url_not_allowed'],
  [{ event: 'x', url: 'javascript:alert(1)' }, 'url_not_allowed'],
  [{ event: 'x', url: 'https://hooks.example/', url_filter: { match: 'none' } }, 'validation_error'],
  [{ event: 'x', url: 'https://hooks.example/', headers: [{ name: 'Host', value: 'x' }] }, 'validation_error'],
  [{ event: 'x', url: 'https://hooks.example/', headers: [{ name: 'A', value: 'a\r\nB: c' }] }, 'validation_error'],
  [{ event: 'x', url: 'https://hooks.example/', secret: 'mine' }, 'validation_error'],
])('creating %j is 400', async (body, code) => {
  const response = await admin.call('POST', '/v1/webhooks', body)
  expect([response.status, response.body.error.code]).toEqual([400, code])
})

test('an invalid change is 400 and changes nothing', async () => {
  const { path, webhook: made } = await webhook()
  for (const body of [
    { url: 'ftp://x' },
    { headers: [{ name: 'Host', value: 'x' }] },
    { url_filter: 7 },
    { event: 'e' },
  ]) {
    expect((await admin.call('PATCH', path, body)).status).toBe(400)
  }
  expect((await admin.call('GET', path)).body.webhook).toEqual(made)
})

test('a receiver is failing when its latest three deliveries failed, whatever came before or is pending', async () => {
  const { path, webhook: made } = await webhook({ url: bench.receiver.url('/failing') })
  let minute = 0
  const delivered = async (
    status: WebhookDelivery['status'],
    logged: { attempts?: number; attemptsBefore?: number } = {},
  ) => {
    const createdAt = new Date(Date.UTC(2026, 0, 1, 0, ++minute))
    await addDelivery(tenant.handle, { subscriptionId: made.subscription_id, createdAt }, status, logged)
    const { health } = (await admin.call('GET', `${path}/health`)).body
    return [health.latest, health.latest_failed, health.is_failing]
  }
  expect((await admin.call('GET', `${path}/health`)).body.health).toMatchObject({ latest: 0, is_failing: false })
  expect(await delivered('pending', { attempts: 0 })).toEqual([0, 0, false])
  expect(await delivered('failed', { attempts: 6 })).toEqual([1, 1, true])
  for (let sent = 0; sent < 8; sent++) await delivered('succeeded')
  expect(await delivered('pending')).toEqual([10, 2, false])
  expect(await delivered('pending')).toEqual([10, 2, false])
  expect(await delivered('pending')).toEqual([10, 3, true])
  // Sent again by hand and not attempted yet, so its earlier attempts count.
  expect(await delivered('pending', { attempts: 6, attemptsBefore: 6 })).toEqual([10, 4, true])
  expect(await delivered('succeeded')).toEqual([10, 4, false])
})
