import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { createSource } from '../../../test/sources.ts'
import { until } from '../../../test/webhooks.ts'

let service: TestService
let tenant: TestTenant
let serverKey: string
let browserKey: string
beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  serverKey = await createSource(tenant, 'server')
  browserKey = await createSource(tenant, 'browser')
})

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` })
const SUCCESS = { status: 'success', success: true }
const CALL = { userId: 'u1', event: 'x' }
const page = (site = tenant.site) => ({ origin: `https://${site}`, 'user-agent': CHROME })

const send = (path: string, body: object, headers: Record<string, string> = {}) =>
  call(service, 'POST', path, { headers, body: JSON.stringify(body) })
const count = async () => (await tenant.call('GET', '/v1/events?count_only=1')).body.count

describe('a write key', () => {
  test('may be in the header, the body or the query', async () => {
    expect((await send('/v1/track', CALL, basic(serverKey))).status).toBe(200)
    expect((await send('/v1/track', { ...CALL, writeKey: serverKey })).status).toBe(200)
    expect((await send(`/v1/track?writeKey=${serverKey}`, CALL)).status).toBe(200)
    expect(await count()).toBe(3)
  })

  test.each([
    [{}, 'missing_write_key'],
    [basic('wk_unknown'), 'invalid_write_key'],
    [basic(''), 'invalid_write_key'],
    [{ authorization: 'Basic' }, 'invalid_write_key'],
    [{ authorization: `Basic ${'x'.repeat(5_000)}` }, 'invalid_write_key'],
    [{ authorization: 'Bearer wk_unknown' }, 'invalid_write_key'],
  ])('that is missing or unknown is 401: %.60j', async (headers, code) => {
    const { status, body } = await send('/v1/batch', { batch: [{ ...CALL, type: 'track' }] }, headers)
    expect([status, body.error.code]).toEqual([401, code])
  })

  test('of a deleted source is 401 once the deletion has returned', async () => {
    for (let round = 0; round < 20; round++) {
      const { body: created } = await tenant.call('POST', '/v1/sources', { name: 'Gone', type: 'server' })
      const status = async () => (await send('/v1/track', CALL, basic(created.write_key))).status
      expect(await status()).toBe(200)
      await tenant.call('DELETE', `/v1/sources/${created.source.source_id}`)
      expect(await status()).toBe(401)
    }
  })

  test('of a browser works on verified domains of its tenant only, and the tenant sees what is rejected', async () => {
    const other = await createTestTenant(service)
    const own = await send('/v1/t', CALL, { ...page(), ...basic(browserKey) })
    expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, `https://${tenant.site}`])
    for (const headers of [page(other.site), page('unknown.example.com'), { 'user-agent': CHROME }]) {
      const { status, body } = await send('/v1/t', { ...CALL, writeKey: browserKey }, headers)
      expect([status, body.error.code]).toEqual([403, 'domain_not_allowed'])
    }
    expect(await count()).toBe(1)
    await until(async () => {
      const { problems } = (await tenant.call('GET', '/v1/tracker/problems')).body
      expect(problems).toHaveLength(3)
      expect(problems[0]).toMatchObject({ code: 'domain_not_allowed', body: null })
    })
  })

  test('of a server must not be in a page', async () => {
    const { status, body } = await send('/v1/t', CALL, { ...page(), ...basic(serverKey) })
    expect([status, body.error.code]).toEqual([403, 'server_key_in_browser'])
    // An image is fetched without an Origin.
    const pixel = `/pixel/v1/track?writeKey=${serverKey}&anonymousId=a&event=x`
    const fetched = await call(service, 'GET', pixel, { headers: { referer: `https://${tenant.site}/` } })
    expect([fetched.status, await count()]).toEqual([403, 0])
  })

  test('writes to its own tenant', async () => {
    const other = await createTestTenant(service)
    await send('/v1/track', { ...CALL, tenant_id: other.id }, basic(serverKey))
    expect((await other.call('GET', '/v1/events?count_only=1')).body.count).toBe(0)
  })
})

describe('POST /v1/identify', () => {
  test('with an API key is the operation, with a write key the call of an SDK', async () => {
    const operation = await tenant.call('POST', '/v1/identify', { user_id: 'u1', email: 'ada@example.com' })
    expect(operation.body).toMatchObject({ status: 'success', created: true })
    const sent = { userId: 'u1', traits: { plan: 'pro' } }
    expect((await send('/v1/identify', sent, basic(serverKey))).body).toEqual(SUCCESS)
    expect((await send('/v1/identify', { ...sent, writeKey: serverKey })).body).toEqual(SUCCESS)
    const { contact } = (await tenant.call('GET', `/v1/contacts/${operation.body.contact_id}`)).body
    expect(contact.properties.plan).toBe('pro')
    // Each accepts only its own fields.
    expect((await tenant.call('POST', '/v1/identify', sent)).status).toBe(400)
  })

  test('without credentials is 401', async () => {
    const { status, body } = await send('/v1/identify', { userId: 'u1' })
    expect([status, body.error.code]).toEqual([401, 'missing_api_key'])
  })
})

describe('a page', () => {
  const PATHS = [
    '/v1/t',
    '/v1/b',
    '/v1/batch',
    '/v1/identify',
    '/v1/m',
    '/beacon/v1/batch',
    '/v1/projects/k/settings',
    '/sourceConfig/',
  ]

  test.each(PATHS)('of a verified domain may send the headers of the SDKs to %s', async (path) => {
    const { status, headers } = await call(service, 'OPTIONS', path, { headers: page() })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, `https://${tenant.site}`])
    const allowed = headers.get('access-control-allow-headers')?.split(', ')
    expect(allowed).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'x-retry-count',
        'anonymousid',
        'sentat',
        'rsa-retry-attempt',
      ]),
    )
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST')
  })

  test('of another domain may not', async () => {
    const { status, headers } = await call(service, 'OPTIONS', '/v1/t', { headers: page('unknown.example.com') })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([403, null])
  })

  test('may read why a call was rejected, and when to send it again', async () => {
    const { status, headers } = await send('/v1/t', CALL, { ...page(), ...basic('wk_unknown') })
    expect(status).toBe(401)
    expect(headers.get('access-control-allow-origin')).toBe(`https://${tenant.site}`)
    expect(headers.get('access-control-expose-headers')).toBe('Retry-After')
  })

  test("loads Segment's settings, which name this service", async () => {
    const path = `/v1/projects/${browserKey}/settings`
    const { status, body, headers } = await call(service, 'GET', path, { headers: page() })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    const { host, protocol } = new URL(service.config.publicUrl)
    expect(body.integrations).toEqual({
      'Segment.io': expect.objectContaining({
        apiKey: browserKey,
        apiHost: `${host}/v1`,
        protocol: protocol.slice(0, -1),
      }),
    })
    expect((await call(service, 'GET', path, { headers: page('unknown.example.com') })).status).toBe(403)
    expect((await call(service, 'GET', '/v1/projects/wk_unknown/settings', { headers: page() })).status).toBe(401)
  })

  test("loads RudderStack's settings, without destinations", async () => {
    const headers = { ...page(), ...basic(browserKey) }
    const { status, body } = await call(service, 'GET', '/sourceConfig/?p=npm&v=3&build=modern', { headers })
    expect([status, body.warnings]).toEqual([200, undefined])
    expect(body.source).toMatchObject({ id: expect.any(String), enabled: true, destinations: [] })
    const inQuery = await call(service, 'GET', `/sourceConfig/?writeKey=${browserKey}`, { headers: page() })
    expect(inQuery.body).toEqual(body)
  })

  test('sends a beacon with the key in its URL', async () => {
    const body = { batch: [{ type: 'track', anonymousId: 'v1', event: 'x' }] }
    const headers = { ...page(), 'content-type': 'text/plain;charset=UTF-8' }
    const response = await send(`/beacon/v1/batch?writeKey=${browserKey}`, body, headers)
    expect([response.status, response.body]).toEqual([200, 'OK'])
    expect(await count()).toBe(1)
  })

  test('sends metrics about the SDK, which are discarded', async () => {
    expect((await send('/v1/m', { series: [] }, page())).body).toEqual(SUCCESS)
  })
})

describe('a pixel', () => {
  const load = (path: string, headers: Record<string, string> = { referer: `https://${tenant.site}/a` }) =>
    call(service, 'GET', path, { headers })

  test('records the call in its URL and is an image', async () => {
    const query = `writeKey=${browserKey}&anonymousId=%22v1%22&properties.plan=pro&context.page.url=https%3A%2F%2Fshop.example.com%2Fa`
    const response = await load(`/pixel/v1/track?${query}&event=opened`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/gif'])
    expect((await load(`/pixel/v1/page?${query}&name=Home`)).status).toBe(200)
    const { events } = (await tenant.call('GET', '/v1/events?visitor_id=v1')).body
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: 'opened', data: { plan: 'pro' }, url: 'https://shop.example.com/a' }),
        expect.objectContaining({
          event: 'page_view',
          data: { name: 'Home', title: 'Home', plan: 'pro' },
        }),
      ]),
    )
  })

  test.each([
    ['writeKey=wk_unknown&event=x&anonymousId=v1', 401],
    ['event=x&anonymousId=v1', 401],
    ['writeKey=KEY&anonymousId=v1', 400],
    ['writeKey=KEY&anonymousId=v1&event=x&properties.__proto__.a=1&__proto__=2', 200],
  ])('is an image even if the call is rejected: %s', async (query, status) => {
    const response = await load(`/pixel/v1/track?${query.replace('KEY', browserKey)}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'image/gif'])
  })
})

describe.each(['track', 'page', 'screen', 'group', 'alias', 'batch', 'import'])('POST /v1/%s', (name) => {
  const sent = {
    userId: 'u1',
    anonymousId: 'v1',
    messageId: 'm1',
    timestamp: new Date().toISOString(),
    context: { locale: 'en' },
    ...{ event: 'x', groupId: 'g.example', previousId: 'v0' },
  }
  const isBatch = name === 'batch' || name === 'import'
  const body = (writeKey: string) => ({
    ...(isBatch ? { batch: [{ ...sent, type: 'track' }], context: { locale: 'en' } } : sent),
    sentAt: new Date().toISOString(),
    writeKey,
  })

  test('accepts every field', async () => {
    expect((await send(`/v1/${name}`, body(serverKey))).body).toEqual(SUCCESS)
  })

  test('rejects a body that is not valid', async () => {
    const { status, body: received } = await send(`/v1/${name}`, isBatch ? { batch: 7 } : {}, basic(serverKey))
    expect([status, received.error.code]).toEqual([400, 'validation_error'])
  })

  test('refuses pages of another tenant', async () => {
    const other = await createTestTenant(service)
    const { status, body: received } = await send(`/v1/${name}`, body(browserKey), page(other.site))
    expect([status, received.error.code]).toEqual([403, 'domain_not_allowed'])
    expect((await other.call('GET', '/v1/events?count_only=1')).body.count).toBe(0)
  })
})

test('requests of a source are limited, and every 429 says when to send again', async () => {
  const limited = await startTestService({ CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_SOURCE_PER_MINUTE: '2' })
  try {
    const own = await createTestTenant(limited)
    const [key, otherKey] = [await createSource(own, 'server'), await createSource(own, 'browser')]
    const sendTo = (headers: Record<string, string>) =>
      call(limited, 'POST', '/v1/track', { headers, body: JSON.stringify(CALL) })
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await sendTo(basic(key))).status)
    expect(statuses).toEqual([200, 200, 429])
    const refused = await sendTo(basic(key))
    expect(refused.body.error.code).toBe('rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await sendTo({ ...page(own.site), ...basic(otherKey) })).status).toBe(200)
  } finally {
    await limited.close()
  }
})
