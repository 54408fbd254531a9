import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant
let browser: Awaited<ReturnType<typeof signedIn>>

beforeAll(async () => {
  service = await startTestService({ CDS_PUBLIC_URL: 'https://cdp.example.com' })
  tenant = await createTestTenant(service)
  browser = Object.assign(new Browser(service), { email: 'owner@example.com', userId: '' })
})
afterAll(() => service.close())

const OWN = { origin: 'https://cdp.example.com', 'x-requested-by': 'dashboard' }

test('over HTTPS the cookie is Secure', async () => {
  const person = await signedIn(service, tenant.id, 'owner')
  const response = await person.call('POST', '/api/auth/sign-in/email', { email: person.email, password: PASSWORD })
  expect(response.headers.getSetCookie()[0]).toMatch(
    /^__Secure-cds\.session_token=\S+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
  browser = person
})

test.each<[string, () => Record<string, string>, number]>([
  ['the public address', () => OWN, 201],
  [
    'no origin, but Sec-Fetch-Site: same-origin',
    () => ({ 'sec-fetch-site': 'same-origin', 'x-requested-by': 'dashboard' }),
    201,
  ],
  ['both', () => ({ ...OWN, 'sec-fetch-site': 'same-origin' }), 201],
  ['another site', () => ({ ...OWN, origin: 'https://evil.example' }), 403],
  ['a site whose name starts like ours', () => ({ ...OWN, origin: 'https://cdp.example.com.evil.example' }), 403],
  ['our site over HTTP', () => ({ ...OWN, origin: 'http://cdp.example.com' }), 403],
  ['the address that the service listens on', () => ({ ...OWN, origin: service.url }), 403],
  ['another port', () => ({ ...OWN, origin: 'https://cdp.example.com:8443' }), 403],
  ['an opaque origin', () => ({ ...OWN, origin: 'null' }), 403],
  ['no origin at all', () => ({ 'x-requested-by': 'dashboard' }), 403],
  ['our origin with Sec-Fetch-Site: cross-site', () => ({ ...OWN, 'sec-fetch-site': 'cross-site' }), 403],
  ['our origin with Sec-Fetch-Site: same-site', () => ({ ...OWN, 'sec-fetch-site': 'same-site' }), 403],
  ['our origin without the header', () => ({ origin: OWN.origin }), 403],
  ['our origin with another header', () => ({ ...OWN, 'x-requested-by': 'me' }), 403],
])('a write from %s', async (_from, headers, status) => {
  const response = await browser.call('POST', '/v1/contacts', { email: `c${Math.random()}@example.com` }, headers())
  expect(response.status).toBe(status)
  if (status === 403) expect(response.body.error.code).toBe('cross_site_request')
})

test('every kind of write is checked, also those that only the dashboard uses', async () => {
  const id = await tenant.contact('target@example.com')
  const bare = { origin: 'https://evil.example' }
  for (const [method, path] of [
    ['PUT', `/v1/contacts/${id}`],
    ['DELETE', `/v1/contacts/${id}`],
    ['PATCH', '/api/me'],
    ['POST', '/api/tenants'],
    ['DELETE', `/v1/members/${browser.userId}`],
    ['POST', '/api/auth/change-password'],
    ['POST', '/api/auth/sign-out'],
    ['POST', '/api/auth/sign-in/email'],
    ['POST', '/api/setup'],
    ['POST', '/api/invitations/x/accept'],
  ] as const) {
    const { status, body } = await browser.call(method, path, {}, bare)
    expect([path, status, body.error.code]).toEqual([path, 403, 'cross_site_request'])
  }
  const read = await browser.call('GET', `/v1/contacts/${id}`, undefined, bare)
  expect([read.status, read.headers.get('cache-control')]).toEqual([200, 'no-store'])
})

test('a request with an API key needs no such header, and a cookie beside the key changes nothing', async () => {
  const headers = { authorization: `Bearer ${await tenant.keyWith('contacts:read')}` }
  const refused = await browser.call('POST', '/v1/contacts', { email: 'k@example.com' }, headers)
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
  expect((await tenant.call('POST', '/v1/contacts', { email: 'k@example.com' })).status).toBe(201)
})

test('an API key cannot use routes for people', async () => {
  for (const [method, path] of [
    ['GET', '/api/me'],
    ['POST', '/api/tenants'],
  ] as const) {
    const { status, body } = await tenant.call(method, path)
    expect([path, status, body.error.code]).toEqual([path, 401, 'not_signed_in'])
  }
})

test('CORS admits no other site', async () => {
  const preflight = await call(service, 'OPTIONS', '/v1/contacts', {
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  })
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  const read = await browser.call('GET', '/api/me', undefined, { origin: 'https://evil.example' })
  expect(read.headers.get('access-control-allow-origin')).toBeNull()
})
