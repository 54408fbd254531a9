import { createHmac } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const POSTS = [
  '/api/setup',
  '/api/tenant',
  '/api/tenants',
  '/api/invitations/x/accept',
  '/api/auth/sign-in/email',
  '/api/auth/sign-in/oauth2',
  '/api/auth/sign-out',
  '/api/auth/change-password',
  '/api/auth/reset-password',
  '/api/auth/request-password-reset',
  '/api/auth/revoke-other-sessions',
  '/api/auth/two-factor/enable',
  '/api/auth/two-factor/disable',
  '/api/auth/two-factor/verify-totp',
  '/api/auth/two-factor/verify-backup-code',
  '/api/auth/two-factor/generate-backup-codes',
  '/api/auth/two-factor/get-totp-uri',
]

const NUL = JSON.stringify({ email: 'a\u0000@example.com', password: 'x\u0000y', code: '\u0000', name: '\u0000' })
const LONG = 'x'.repeat(2_000)
const BODIES = [
  '{',
  '[]',
  '"text"',
  'null',
  '7',
  '{"__proto__":{"admin":true}}',
  NUL,
  JSON.stringify({ email: '\ud800', password: '\udfff' }),
  JSON.stringify({ email: ['a@example.com'], password: { $ne: '' }, code: 1e308, role: ['owner'], token: [] }),
  JSON.stringify({ email: LONG, password: LONG, code: LONG, name: LONG, tenant_id: LONG, token: LONG }),
  JSON.stringify({ email: 'a@example.com', password: PASSWORD, role: 'owner', tenant_id: 'x', more: true }),
  `${'['.repeat(10_000)}`,
]

test('garbage is rejected with 400 and breaks nothing', async () => {
  const person = await signedIn(service, tenant.id, 'owner')
  for (const path of POSTS) {
    for (const body of BODIES) {
      const { status, body: received } = await person.call('POST', path, body)
      expect([path, body.slice(0, 40), status]).toEqual([path, body.slice(0, 40), 400])
      expect(received.error.code).toMatch(/^(invalid_json|validation_error)$/)
    }
  }
  expect((await person.call('GET', '/api/me')).status).toBe(200)
})

test('a malformed address matches no account', async () => {
  const addresses = [
    'no address',
    'a@b',
    '@',
    "' OR 1=1 --",
    'a\u0000@example.com',
    '\ud800@example.com',
    'ü@example.com',
  ]
  for (const email of addresses) {
    const browser = new Browser(service)
    const sign = await browser.call('POST', '/api/auth/sign-in/email', { email, password: PASSWORD })
    expect([email, [400, 401].includes(sign.status)]).toEqual([email, true])
    const reset = await browser.call('POST', '/api/auth/request-password-reset', { email })
    expect([email, [200, 400].includes(reset.status)]).toEqual([email, true])
  }
})

test('a body of ten megabytes is rejected', async () => {
  const person = await signedIn(service, tenant.id, 'owner')
  const body = JSON.stringify({ email: 'x'.repeat(10_000_000), password: 'y' })
  for (const path of ['/api/auth/sign-in/email', '/api/tenants', '/api/setup']) {
    const { status, body: received } = await person.call('POST', path, body)
    expect([status, received.error.code]).toEqual([413, 'body_too_large'])
  }
})

test('endpoints of the sign-in library that would bypass our rules do not exist', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  for (const path of [
    'sign-up/email',
    'update-user',
    'delete-user',
    'change-email',
    'update-session',
    'link-social',
    'unlink-account',
    'set-password',
    'verify-password',
    'send-verification-email',
    'organization/create',
    'organization/set-active',
    'admin/set-role',
    'two-factor/send-otp',
    'revoke-session',
    'get-access-token',
    'sign-in/social',
    'sign-in/email/../../sign-up/email',
    'sign-in/email%2f..%2f..%2fsign-up%2femail',
  ]) {
    const { status, body } = await person.call('POST', `/api/auth/${path}`, { email: 'a@example.com', role: 'owner' })
    expect([path, status, body.error.code]).toEqual([path, 404, 'route_not_found'])
  }
  for (const path of ['list-sessions', 'get-session', 'list-accounts', 'delete-user/callback', 'error', 'ok']) {
    expect((await person.call('GET', `/api/auth/${path}`)).status).toBe(404)
  }
})

test('a forged or broken cookie signs nobody in', async () => {
  const person = await signedIn(service, tenant.id, 'owner')
  const value = decodeURIComponent(person.cookies.get('cds.session_token') ?? '')
  const [token = '', signature = ''] = value.split('.')
  // Changes the first character: the last one before the padding has only four significant bits and may stay valid.
  const altered = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  const own = createHmac('sha256', 'a guessed secret').update(token).digest('base64')
  for (const forged of [
    token,
    `${token}.`,
    `${token}.${own}`,
    `${token.slice(1)}a.${signature}`,
    `${token}.${altered}`,
    `' OR 1=1 --.${signature}`,
    '%00.%00',
    '%',
    '%E0%A4%A',
    'x'.repeat(8_000),
  ]) {
    const headers = { cookie: `cds.session_token=${forged.startsWith('%') ? forged : encodeURIComponent(forged)}` }
    const { status, body } = await new Browser(service).call('GET', '/v1/contacts', undefined, headers)
    expect([forged.slice(0, 60), status, body.error.code]).toEqual([forged.slice(0, 60), 401, 'not_signed_in'])
  }
  const good = { cookie: `a=b; cds.session_token=${encodeURIComponent(value)}; c` }
  expect((await new Browser(service).call('GET', '/v1/contacts', undefined, good)).status).toBe(200)
})

test('a sign-in does not reuse a session that someone else chose', async () => {
  const attacker = await signedIn(service, tenant.id, 'viewer')
  const victim = await signedIn(service, tenant.id, 'owner')
  const browser = new Browser(service)
  for (const [name, value] of attacker.cookies) browser.cookies.set(name, value)
  await browser.signIn(victim.email)
  expect((await attacker.call('GET', '/api/me')).body.user.email).toBe(attacker.email)
  expect((await browser.call('GET', '/api/me')).body.user.email).toBe(victim.email)
})

test('without a provider, the callback does not exist', async () => {
  const { status, body } = await new Browser(service).call('GET', '/api/auth/callback/oidc?code=x&state=y')
  expect([status, body.error.code]).toEqual([404, 'oidc_not_configured'])
})
