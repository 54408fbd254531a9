import { Readable } from 'node:stream'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { request } from 'undici'
import { beforeAll, describe, expect, test } from 'vitest'
import { Browser } from './people.ts'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from './service.ts'

const MIB = 1024 * 1024

let service: TestService
let tenant: TestTenant
let count = 0

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

interface Route {
  path(): string
  headers(): Record<string, string>
  /** A valid body that contains the given text. */
  body(text: string): unknown
  limit: number
  accepted: number
  /** Whether a text that is not UTF-8 is left out of it, so that its neighbors are kept. */
  leavesOut?: true
}

const page = () => ({ origin: `https://${tenant.site}`, 'user-agent': CHROME })
const email = () => `b${++count}@example.com`

/** One route for each way to read a body. */
const ROUTES: Record<string, Route> = {
  'the API': {
    path: () => '/v1/contacts',
    headers: () => ({ authorization: `Bearer ${tenant.key}` }),
    body: (text) => ({ email: email(), properties: { firstname: text } }),
    limit: MIB,
    accepted: 201,
  },
  'the tracker, application/json': {
    path: () => '/track',
    headers: page,
    body: (text) => ({ events: [{ event: 'x', title: text }] }),
    limit: MIB / 4,
    accepted: 200,
    leavesOut: true,
  },
  'the tracker, text/plain': {
    path: () => '/track',
    headers: () => ({ ...page(), 'content-type': 'text/plain' }),
    body: (text) => ({ events: [{ event: 'x', title: text }] }),
    limit: MIB / 4,
    accepted: 200,
    leavesOut: true,
  },
  'a form': {
    path: () => `/v1/public/form-submission/${tenant.id}/f`,
    headers: page,
    body: (text) => ({ contact_data: { email: email(), firstname: text } }),
    limit: MIB / 4,
    accepted: 200,
  },
  'the sign-in': {
    path: () => '/api/auth/sign-in/email',
    headers: () => ({ ...new Browser(service).ownSite, host: new URL(new Browser(service).ownSite.origin ?? '').host }),
    body: (text) => ({ email: email(), password: text }),
    limit: 16 * 1024,
    // The account is unknown, so the body was read.
    accepted: 401,
  },
}

function send(route: Route, bytes: Uint8Array, headers: Record<string, string> = {}): Promise<TestResponse> {
  return call(service, 'POST', route.path(), {
    headers: { ...route.headers(), ...headers },
    body: new Uint8Array(bytes),
  })
}

const outcome = ({ status, body }: TestResponse) => [status, body.error?.code]
const json = (route: Route, text: string) => Buffer.from(JSON.stringify(route.body(text)))

describe.each(Object.entries(ROUTES))('%s', (_name, route) => {
  test('rejects a body that is not UTF-8, unless it can do without the text', async () => {
    const latin1 = Buffer.from(JSON.stringify(route.body('Müller')), 'latin1')
    const expected = route.leavesOut ? [route.accepted, undefined] : [400, 'invalid_json']
    expect(outcome(await send(route, latin1))).toEqual(expected)
    expect(outcome(await send(route, gzipSync(latin1), { 'content-encoding': 'gzip' }))).toEqual(expected)
    expect(outcome(await send(route, Buffer.from([0x7b, 0xff, 0x7d])))).toEqual([400, 'invalid_json'])
  })

  test.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['identity', (bytes: Buffer) => bytes],
  ])('understands Content-Encoding: %s', async (encoding, compress) => {
    const response = await send(route, compress(json(route, 'Müller 🎉')), { 'content-encoding': encoding })
    expect(response.status).toBe(route.accepted)
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('rejects a truncated and a corrupt %s stream', async (encoding, compress) => {
    const whole = compress(json(route, 'Müller'))
    const truncated = await send(route, whole.subarray(0, -4), { 'content-encoding': encoding })
    expect(outcome(truncated)).toEqual([400, 'invalid_content_encoding'])
    const corrupt = await send(route, json(route, 'Müller'), { 'content-encoding': encoding })
    expect(outcome(corrupt)).toEqual([400, 'invalid_content_encoding'])
  })

  test.each(['zip', 'gzip, br', 'constructor'])('rejects Content-Encoding: %s with 415', async (encoding) => {
    const response = await send(route, json(route, 'x'), { 'content-encoding': encoding })
    expect(outcome(response)).toEqual([415, 'unsupported_content_encoding'])
    expect(response.headers.get('accept-encoding')).toBe('gzip, br, deflate')
  })

  test('applies its limit before and after decompression', async () => {
    const unpacked = await send(route, gzipSync(json(route, 'x'.repeat(route.limit))), { 'content-encoding': 'gzip' })
    expect(outcome(unpacked)).toEqual([413, 'body_too_large'])
    // Random bytes do not compress: the request is over the limit, whatever it decompresses to.
    const random = crypto.getRandomValues(new Uint8Array(Math.min(65_536, route.limit)))
    const packed = gzipSync(Buffer.concat(Array.from({ length: route.limit / random.length + 1 }, () => random)), {
      level: 0,
    })
    expect(outcome(await send(route, packed, { 'content-encoding': 'gzip' }))).toEqual([413, 'body_too_large'])
  })
})

test('a compressed body is stored as it was before compression', async () => {
  const [route] = Object.values(ROUTES)
  if (!route) throw new Error('no route')
  const { body } = await send(route, gzipSync(json(route, 'Müller 🎉')), { 'content-encoding': 'gzip' })
  expect(body.contact.properties.firstname).toBe('Müller 🎉')
})

test('a decompression bomb is not decompressed beyond the limit', async () => {
  const bomb = brotliCompressSync(Buffer.alloc(64 * MIB, 0x20), { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
  expect(bomb.length).toBeLessThan(4_096)
  const before = process.memoryUsage.rss()
  const headers = { authorization: `Bearer ${tenant.key}`, 'content-encoding': 'br' }
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => call(service, 'POST', '/v1/contacts', { headers, body: new Uint8Array(bomb) })),
  )
  expect(responses.map(outcome)).toEqual(Array.from({ length: 20 }, () => [413, 'body_too_large']))
  expect(process.memoryUsage.rss() - before).toBeLessThan(300 * MIB)
})

test('reading of a chunked body stops at the limit too', async () => {
  const chunk = Buffer.alloc(64 * 1024, 0x20)
  const { statusCode } = await request(`${service.url}/v1/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    body: Readable.from(Array.from({ length: 32 }, () => chunk)),
  })
  expect(statusCode).toBe(413)
})
