import { afterAll, beforeAll, expect, test } from 'vitest'
import { register, sendForm } from '../../../test/oauth.ts'
import { Browser, PASSWORD } from '../../../test/people.ts'
import { freePort } from '../../../test/ports.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { createTenantUser } from '../users.ts'

/** What a page of another site sends counts against no limit of its reader's office: it cannot lock anyone out. */

const PER_MINUTE = 4
const PAGE = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

let service: TestService
let tenant: TestTenant
// A fixed clock, so that everything counts within one minute.
let now = new Date()
const email = 'office@example.com'

beforeAll(async () => {
  const port = String(await freePort())
  service = await startTestService(
    {
      PORT: port,
      CDS_PUBLIC_URL: `http://127.0.0.1:${port}`,
      CDS_RATE_LIMITS: 'on',
      CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE: String(PER_MINUTE),
      CDS_RATE_LIMIT_INVALID_KEY_PER_IP_PER_MINUTE: String(PER_MINUTE),
      CDS_RATE_LIMIT_REGISTRATION_PER_IP_PER_MINUTE: String(PER_MINUTE),
      CDS_OIDC_ISSUER: 'http://127.0.0.1:9',
      CDS_OIDC_CLIENT_ID: 'client',
      CDS_OIDC_CLIENT_SECRET: 'secret',
    },
    { clock: () => now },
  )
  tenant = await createTestTenant(service)
  const person = { email, password: PASSWORD, role: 'owner' } as const
  await createTenantUser(service.stores, tenant.id, person, { kind: 'command_line' }, now)
})
afterAll(() => service?.close())

const BODIES = {
  'text/plain': '{"writeKey":"wrong","event":"x"}',
  'application/x-www-form-urlencoded': 'grant_type=refresh_token&token=cdsr_wrong',
  'application/json': '{"redirect_uris":["https://evil.example/cb"]}',
}

const posted = (type: string, body: string) => ({ headers: { ...PAGE, 'content-type': type }, body })

/** As images and scripts (GET), forms and `fetch` without a preflight (POST), and with one where it is granted. */
async function sentByPage(method: string, path: string): Promise<number[]> {
  const requests = method === 'GET' ? [{}] : Object.entries(BODIES).map(([type, body]) => posted(type, body))
  const statuses: number[] = []
  for (const sent of requests) {
    for (let count = 0; count <= PER_MINUTE; count++) statuses.push((await call(service, method, path, sent)).status)
  }
  return statuses
}

/** The public routes, each with a token or a key that nobody has. */
function openRoutes(): { method: string; path: string }[] {
  return service.app.accessOfRoutes.flatMap(({ method, url, access }) => {
    if (access !== 'public' || !['GET', 'POST'].includes(method) || url.includes('*')) return []
    const query = method === 'GET' ? '?writeKey=wrong&state=wrong&code=wrong' : ''
    return [{ method, path: url.replace(/:\w+/g, 'wrong') + query }]
  })
}

test('no public route lets a page of another site lock out sign-in, invitations, keys and applications', async () => {
  const routes = openRoutes()
  expect(routes.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/oauth/register', '/oauth/token', '/oauth/revoke', '/api/setup', '/v1/t']),
  )
  const limited: string[] = []
  for (const { method, path } of routes) {
    if ((await sentByPage(method, path)).includes(429)) limited.push(path.replace(/\?.*/, ''))
  }
  // The page itself is limited where strangers could guess or fill a table.
  expect(limited).toEqual(
    expect.arrayContaining(['/oauth/register', '/oauth/token', '/api/invitations/wrong', '/v1/t']),
  )

  const browser = new Browser(service)
  const dashboard = { 'x-requested-by': 'dashboard' }
  const signIn = await browser.call('POST', '/api/auth/sign-in/email', { email, password: PASSWORD })
  expect([signIn.status, signIn.body.error]).toEqual([200, undefined])
  expect((await browser.call('GET', '/api/invitations/wrong', undefined, dashboard)).status).toBe(404)
  // The key is new to the process, so it is looked up.
  const key = await tenant.keyWith('contacts:read')
  expect((await call(service, 'GET', '/v1/contacts', { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  expect((await register(service)).status).toBe(201)
  expect((await sendForm(service, '/oauth/token', { grant_type: 'refresh_token' })).body.error).toBe('invalid_grant')
  const started = { cookie: 'cds.state=x' }
  const comesBack = await call(service, 'GET', '/api/auth/callback/oidc?state=a&code=b', { headers: started })
  expect(comesBack.status).not.toBe(429)
})

test('registrations, wrong tokens, wrong write keys and unknown hooks each have a limit of their own', async () => {
  now = new Date(now.getTime() + 2 * MINUTE_MS)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const attempts = {
    registration: () => register(service),
    token: () => sendForm(service, '/oauth/token', { grant_type: 'refresh_token' }),
    'write key': () => call(service, 'POST', '/v1/track', { headers: { authorization: 'Basic d3Jvbmc6' }, body: '{}' }),
    hook: () => call(service, 'POST', '/v1/public/hooks/wrong', { headers, body: 'a=b' }),
    'API key': () => call(service, 'GET', '/v1/contacts', { headers: { authorization: 'Bearer wrong' } }),
  }
  for (const [what, attempt] of Object.entries(attempts)) {
    const statuses: number[] = []
    for (let count = 0; count <= PER_MINUTE; count++) statuses.push((await attempt()).status)
    expect([what, statuses.map((status) => status === 429)]).toEqual([what, [...Array(PER_MINUTE).fill(false), true]])
  }
})

test("wrong write keys of another site's page refuse no valid key on a verified domain, even one that is new", async () => {
  now = new Date(now.getTime() + 2 * MINUTE_MS)
  const created = await tenant.call('POST', '/v1/sources', { name: 'Shop', type: 'browser' })
  const from = (origin: string, writeKey: string, path = '/v1/t') =>
    call(service, 'POST', path, {
      headers: { origin, 'content-type': 'text/plain' },
      body: JSON.stringify({ writeKey, event: 'x', anonymousId: 'a-visitor' }),
    })
  const wrong: number[] = []
  for (let count = 0; count <= PER_MINUTE; count++) wrong.push((await from('https://evil.example', 'wrong')).status)
  expect(wrong.at(-1)).toBe(429)
  // Another site that nobody has verified shares the count, so that inventing one does not reset it.
  expect((await from('https://b.evil.example', 'wrong')).status).toBe(429)
  const shop = `https://${tenant.site}`
  const sent = await from(shop, created.body.write_key)
  expect([sent.status, sent.body.error]).toEqual([200, undefined])
  // What that domain's own pages guess is limited too.
  const guessed: number[] = []
  for (let count = 0; count <= PER_MINUTE; count++) guessed.push((await from(shop, 'wrong')).status)
  expect(guessed).toEqual([...Array(PER_MINUTE).fill(401), 429])
})
