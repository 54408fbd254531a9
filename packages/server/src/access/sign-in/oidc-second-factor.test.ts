import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  OPENID_CLIENT,
  type OpenIdProvider,
  startOpenIdProvider,
  visitProvider,
} from '../../../test/openid-provider.ts'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { codeOf } from '../../../test/totp.ts'

let provider: OpenIdProvider
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  provider = await startOpenIdProvider({ sub: '1', email: '', email_verified: true, name: 'From the provider' })
  service = await startTestService({
    CDS_PUBLIC_URL: 'https://cdp.example.com',
    CDS_OIDC_ISSUER: provider.issuer,
    CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
    CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
  })
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  await service.close()
  await provider.close()
})

async function protectedPerson() {
  const person = await signedIn(service, tenant.id, 'member')
  const { body } = await person.call('POST', '/api/auth/two-factor/enable', { password: PASSWORD })
  const code = { code: codeOf(body.totpURI) }
  expect((await person.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(200)
  provider.person = { ...provider.person, sub: `subject of ${person.email}`, email: person.email }
  return { person, address: body.totpURI as string, codes: body.backupCodes as string[] }
}

const verify = (browser: Browser, kind: string, body: object) =>
  browser.call('POST', `/api/auth/two-factor/verify-${kind}`, body)

test('a sign-in at the provider requires the second factor, then continues', async () => {
  const { person, address } = await protectedPerson()
  const browser = new Browser(service)
  const target = await visitProvider(service, browser, '/contacts?page=2')
  expect(target).toBe(`/sign-in?step=code&redirect=${encodeURIComponent('/contacts?page=2')}`)
  expect((await browser.call('GET', '/api/me')).status).toBe(401)
  expect((await browser.call('GET', '/v1/contacts')).status).toBe(401)
  expect((await verify(browser, 'totp', { code: '000000' })).status).toBe(401)
  expect((await verify(browser, 'totp', { code: codeOf(address, 1) })).status).toBe(200)
  expect((await browser.call('GET', '/api/me')).body.user.email).toBe(person.email)
})

test('recovery codes and trusted devices work there too', async () => {
  const { codes } = await protectedPerson()
  const browser = new Browser(service)
  await visitProvider(service, browser)
  expect((await verify(browser, 'backup-code', { code: codes[0], trustDevice: true })).status).toBe(200)
  await browser.call('POST', '/api/auth/sign-out', {})
  expect(await visitProvider(service, browser)).toBe('/')
  expect((await browser.call('GET', '/api/me')).status).toBe(200)
  const other = new Browser(service)
  await visitProvider(service, other)
  expect((await verify(other, 'backup-code', { code: codes[0] })).status).toBe(401)
  expect((await other.call('GET', '/api/me')).status).toBe(401)
})
