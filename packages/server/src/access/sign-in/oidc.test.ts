import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  comeBack,
  OPENID_CLIENT,
  type OpenIdProvider,
  startOpenIdProvider,
  visitProvider,
} from '../../../test/openid-provider.ts'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

const PUBLIC = 'https://cdp.example.com'

let provider: OpenIdProvider
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  provider = await startOpenIdProvider({ sub: '1', email: '', email_verified: true, name: 'From the provider' })
  service = await startTestService({
    CDS_PUBLIC_URL: PUBLIC,
    CDS_OIDC_ISSUER: provider.issuer,
    CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
    CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
    CDS_OIDC_LABEL: 'Example SSO',
  })
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  await service.close()
  await provider.close()
})
beforeEach(() => {
  provider.lies = {}
  provider.forges = false
})

let subjects = 0
function comes(email: string, more: object = {}): void {
  provider.person = { sub: `subject-${++subjects}`, email, email_verified: true, name: 'From the provider', ...more }
}

const me = async (browser: Browser) => (await browser.call('GET', '/api/me')).body

test('an existing person can sign in at the provider repeatedly, and keeps their name', async () => {
  const { email } = await signedIn(service, tenant.id, 'member')
  comes(email)
  for (const target of ['/', '/contacts?page=2']) {
    const browser = new Browser(service)
    expect(await visitProvider(service, browser, target)).toBe(target)
    expect(await me(browser)).toMatchObject({ user: { email, name: 'The member' }, role: 'member' })
  }
  const options = await new Browser(service).call('GET', '/api/sign-in-options')
  expect(options.body.oidc).toEqual({ label: 'Example SSO' })
})

test('with a provider, an invited person needs no password: they sign in there, then accept', async () => {
  const owner = await signedIn(service, tenant.id, 'owner')
  const { body } = await owner.call('POST', '/v1/invitations', { email: 'new@example.com', role: 'viewer' })
  const token = body.link.split('/').at(-1)
  const browser = new Browser(service)
  const accept = () => browser.call('POST', `/api/invitations/${token}/accept`, {})
  expect((await accept()).body.error.code).toBe('validation_error')
  comes('new@example.com', { name: 'New Person' })
  expect(await visitProvider(service, browser, `/invitation/${token}`)).toBe(`/invitation/${token}`)
  expect(await me(browser)).toMatchObject({ tenant: null, user: { name: 'New Person', email_verified: true } })
  expect((await accept()).body).toEqual({ status: 'success', tenant_id: tenant.id, signed_in: true })
  expect(await me(browser)).toMatchObject({ user: { email: 'new@example.com', has_password: false }, role: 'viewer' })
  const guess = { email: 'new@example.com', password: PASSWORD }
  expect((await new Browser(service).call('POST', '/api/auth/sign-in/email', guess)).status).toBe(401)
})

test('an invalid name from the provider is ignored', async () => {
  const owner = await signedIn(service, tenant.id, 'owner')
  await owner.call('POST', '/v1/invitations', { email: 'linked@example.com', role: 'viewer' })
  comes('linked@example.com', { name: 'Click https://evil.example' })
  const browser = new Browser(service)
  await visitProvider(service, browser)
  expect((await me(browser)).user.name).toBe('linked@example.com')
})

test('an account at the provider alone creates no person', async () => {
  comes('stranger@example.com')
  const browser = new Browser(service)
  expect(await visitProvider(service, browser)).toMatch(/^\/sign-in\?error=\w+/)
  expect((await browser.call('GET', '/api/me')).status).toBe(401)
  const users = await service.stores.database.selectFrom('users').select('email').execute()
  expect(users.map(({ email }) => email)).not.toContain('stranger@example.com')
})

test.each<[string, () => void]>([
  ['an address that the provider has not verified', () => Object.assign(provider.person, { email_verified: false })],
  ['no address', () => Object.assign(provider.lies, { email: undefined })],
  ['a token of another issuer', () => Object.assign(provider.lies, { iss: 'https://evil.example' })],
  ['a token for another service', () => Object.assign(provider.lies, { aud: 'another' })],
  ['a token of another sign-in', () => Object.assign(provider.lies, { nonce: 'another' })],
  ['an expired token', () => Object.assign(provider.lies, { exp: 1_000 })],
  ['a forged signature', () => Object.assign(provider, { forges: true })],
])('%s signs nobody in', async (_what, lie) => {
  const { email } = await signedIn(service, tenant.id, 'owner')
  comes(email)
  lie()
  const browser = new Browser(service)
  expect(await visitProvider(service, browser)).toMatch(/^\/sign-in\?error=\w+/)
  expect((await browser.call('GET', '/api/me')).status).toBe(401)
})

test('the callback works once, and only for the browser that started the sign-in', async () => {
  const { email } = await signedIn(service, tenant.id, 'owner')
  comes(email)
  const victim = new Browser(service)
  const attacker = new Browser(service)
  const { body } = await attacker.call('POST', '/api/auth/sign-in/oauth2', { providerId: 'oidc' })
  const location = (await fetch(body.url, { redirect: 'manual' })).headers.get('location') ?? ''
  expect(await comeBack(service, victim, location)).toMatch(/^\/sign-in\?error=/)
  expect((await victim.call('GET', '/api/me')).status).toBe(401)
  const garbage = new URL(location)
  for (const [state, code] of [
    ['', ''],
    ['x'.repeat(3_000), 'y'],
    ['\0', '\0'],
  ]) {
    garbage.searchParams.set('state', state ?? '')
    garbage.searchParams.set('code', code ?? '')
    expect(await comeBack(service, attacker, garbage.href)).toMatch(/^\/sign-in\?error=/)
  }
})

test('the callback never redirects to another site', async () => {
  for (const callbackURL of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '']) {
    const body = { providerId: 'oidc', callbackURL }
    const { status } = await new Browser(service).call('POST', '/api/auth/sign-in/oauth2', body)
    expect([callbackURL, status]).toEqual([callbackURL, 400])
  }
})

test('tokens of the provider are not readable in the database', async () => {
  const rows = await service.stores.database
    .selectFrom('user_accounts')
    .select('access_token')
    .where('provider_id', '=', 'oidc')
    .execute()
  expect(rows.length).toBeGreaterThan(0)
  for (const { access_token } of rows) expect(access_token).not.toBe('access')
})
