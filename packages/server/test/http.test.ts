import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant
const auth = () => ({ authorization: `Bearer ${tenant.key}` })

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  call(service, 'POST', '/v1/contacts', { headers: { ...auth(), ...headers }, body })

describe('request ids', () => {
  test('a valid one from the caller is returned, any other is replaced', async () => {
    const kept = await call(service, 'GET', '/v1/health', { headers: { 'x-request-id': 'my.Request_1-2' } })
    expect(kept.headers.get('x-request-id')).toBe('my.Request_1-2')
    for (const unusable of ['', 'a b', 'x'.repeat(129), '<script>']) {
      const { headers } = await call(service, 'GET', '/v1/health', { headers: { 'x-request-id': unusable } })
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('errors have it in the body too', async () => {
    const { body, headers } = await call(service, 'GET', '/v1/nope', { headers: { 'x-request-id': 'r1' } })
    expect(body.error.request_id).toBe('r1')
    expect(headers.get('x-request-id')).toBe('r1')
  })
})

describe('routes', () => {
  test.each<Record<string, string>>([{}, { authorization: 'Bearer cds_wrong' }])(
    'an unknown route is 404 with %j',
    async (headers) => {
      const { status, body } = await call(service, 'GET', '/v1/nope', { headers })
      expect([status, body.error.code]).toEqual([404, 'route_not_found'])
    },
  )

  test.each<[string, string, Record<string, string>]>([
    ['no JSON', '{', {}],
    ['of an unknown encoding', '{}', { 'content-encoding': 'zstd' }],
    ['corrupt', '{}', { 'content-encoding': 'gzip' }],
    ['of an empty content type', '{}', { 'content-type': '' }],
    ['too large', ' '.repeat(2 * 1024 * 1024), {}],
  ])('an unknown route is 404 with a body that is %s', async (_, body, headers) => {
    const response = await call(service, 'POST', '/v1/nope', { body, headers })
    expect([response.status, response.body.error.code]).toEqual([404, 'route_not_found'])
  })

  test('another method is 405 with Allow', async () => {
    const { status, body, headers } = await call(service, 'PATCH', '/v1/contacts/x', { body: '{' })
    expect([status, body.error.code]).toEqual([405, 'method_not_allowed'])
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT'])
  })

  test.each([
    ['DELETE', '/v1/agents/dry-run', 'POST'],
    ['PUT', '/v1/contacts/bulk', 'POST'],
    ['PUT', '/v1/contacts/export.csv', 'GET'],
    ['PROPFIND', '/v1/contacts/bulk', 'POST'],
  ])('%s of %s is 405, although its last part could be an id', async (method, path, allowed) => {
    const { status, body, headers } = await call(service, method, path, { body: '{' })
    expect([status, body.error.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', allowed])
  })

  test.each(['/v1/contacts/%zz', '/v1/contacts/%'])('the path %s is 400', async (path) => {
    const { status, body } = await call(service, 'GET', path, { headers: auth() })
    expect([status, body.error.code]).toEqual([400, 'invalid_url'])
  })

  test('there is no CORS on /v1', async () => {
    const { headers, status } = await call(service, 'OPTIONS', '/v1/contacts', {
      headers: { origin: `https://${tenant.site}` },
    })
    expect(status).toBe(405)
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('bodies', () => {
  test.each([
    ['malformed JSON', '{"email":', 'invalid_json'],
    ['text', 'hello', 'invalid_json'],
    ['nothing', '', 'validation_error'],
    ['a list', '[]', 'validation_error'],
    ['null', 'null', 'validation_error'],
    ['a NUL in a value', '{"email":"a@example.com","properties":{"a":"x\\u0000"}}', 'validation_error'],
    ['a NUL in a key', '{"email":"a@example.com","properties":{"a\\u0000":1}}', 'validation_error'],
    ['a lone surrogate', '{"email":"a@example.com","properties":{"a":"\\ud800"}}', 'validation_error'],
    ['a reversed pair', '{"email":"a@example.com","properties":{"a":"\\udc00\\ud800"}}', 'validation_error'],
    [
      '500 levels',
      `{"email":"a@example.com","properties":{"a":${'['.repeat(500)}${']'.repeat(500)}}}`,
      'validation_error',
    ],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'validation_error'],
    ['a prototype key', '{"email":"a@example.com","properties":{"__proto__":1}}', 'validation_error'],
  ])('%s is 400 and writes nothing', async (_name, body, code) => {
    const response = await post(body)
    expect([response.status, response.body.error.code]).toEqual([400, code])
    const { body: after } = await tenant.call('GET', '/v1/contacts?count_only=true')
    expect(after.count).toBe(0)
  })

  test('over 1 MiB is 413, 10 MB too', async () => {
    for (const size of [1024 * 1024 + 1, 10_000_000]) {
      const response = await post(JSON.stringify({ email: 'a@example.com', properties: { a: 'x'.repeat(size) } }))
      expect([response.status, response.body.error.code]).toEqual([413, 'body_too_large'])
    }
  })

  test.each([
    ['/v1/contacts', 'content-length'],
    ['/v1/contacts', 'transfer-encoding'],
    ['/track', 'content-length'],
    ['/track', 'transfer-encoding'],
  ])(
    'over the limit of %s, with %s, is 413 for a client that sends everything before it reads',
    async (path, framing) => {
      const chunks = Array.from({ length: 150 }, () => Buffer.alloc(100_000, 'x'))
      const length = framing === 'content-length' ? { [framing]: 15_000_000 } : { [framing]: 'chunked' }
      const headers = { ...auth(), origin: `https://${tenant.site}`, 'content-type': 'application/json', ...length }
      const sending = request(service.url + path, { method: 'POST', headers })
      const responding = once(sending, 'response')
      await pipeline(Readable.from(chunks), sending)
      const [response] = (await responding) as [IncomingMessage]
      expect(response.statusCode).toBe(413)
      response.resume()
    },
  )

  test('another content type is 415, and a charset is accepted', async () => {
    const other = await post('email=a', { 'content-type': 'application/x-www-form-urlencoded' })
    expect([other.status, other.body.error.code]).toEqual([415, 'unsupported_media_type'])
    const charset = await post('{"email":"c@example.com"}', { 'content-type': 'application/json; charset=utf-8' })
    expect(charset.status).toBe(201)
    await tenant.call('DELETE', `/v1/contacts/${charset.body.contact.contact_id}`)
  })
})

test('thousands of query parameters are ignored with at most 20 warnings', async () => {
  const query = Array.from({ length: 2_000 }, (_, n) => `p${n}=1`).join('&')
  const { status, body } = await call(service, 'GET', `/v1/contacts?${query}`, { headers: auth() })
  expect(status).toBe(200)
  expect(body.warnings).toHaveLength(20)
})

test('a name of the prototype as a query parameter is an ordinary unknown parameter', async () => {
  const { status, body } = await call(service, 'GET', '/v1/contacts?__proto__=1&constructor=2&toString=3', {
    headers: auth(),
  })
  expect(status).toBe(200)
  expect(body.warnings).toHaveLength(3)
})

test('a header that is too large is 431, and a request that is not HTTP is 400, in the shape of every error', async () => {
  const large = await call(service, 'GET', `/v1/contacts?search=${'x'.repeat(20_000)}`, { headers: auth() })
  expect([large.status, large.body.error.code]).toEqual([431, 'headers_too_large'])
  const raw = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
  })
  expect(raw).toContain('400 Bad Request')
  expect(raw).toContain('"malformed_http"')
})

test('health, readiness, metrics and the API reference are served without a key', async () => {
  expect((await call(service, 'GET', '/v1/health')).body).toEqual({ status: 'ok' })
  expect((await call(service, 'GET', '/health/ready')).body).toEqual({ status: 'ok', postgres: 'ok', clickhouse: 'ok' })
  const metrics = await call(service, 'GET', '/metrics')
  expect(metrics.body).toContain('cds_http_request_duration_seconds_bucket')
  expect(metrics.body).toContain('route="health"')
  expect(metrics.body).toContain('cds_postgres_pool_connections{state="open"}')
  expect((await call(service, 'GET', '/docs/')).status).toBe(200)
})

test('logs name routes and requests, and contain no key and no email address', async () => {
  await tenant.call('GET', '/v1/contacts?search=someone@example.com')
  await tenant.call('POST', '/v1/contacts', { email: 'someone@example.com' })
  await tenant.call('POST', '/v1/contacts', { email: 'someone@example.com' })
  const text = service.logged.join('')
  expect(text).toContain('"route":"createContact"')
  expect(text).not.toContain('someone@example.com')
  expect(text).not.toContain(tenant.key)
})
