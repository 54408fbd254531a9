import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

test('a session reads and writes on /v1 as its role allows, and signs out', async () => {
  await tenant.contact('seen@example.com')
  const { email } = await signedIn(service, tenant.id, 'member')
  const browser = await new Browser(service).signIn(email)
  const list = await browser.call('GET', '/v1/contacts')
  expect([list.status, list.body.contacts.length]).toEqual([200, 1])
  expect((await browser.call('POST', '/v1/contacts', { email: 'made@example.com' })).status).toBe(201)
  const viewer = await signedIn(service, tenant.id, 'viewer')
  const refused = await viewer.call('POST', '/v1/contacts', { email: 'no@example.com' })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_role'])
  const { cookie } = browser
  expect((await browser.call('POST', '/api/auth/sign-out')).status).toBe(200)
  const after = await new Browser(service).call('GET', '/v1/contacts', undefined, { cookie })
  expect([after.status, after.body.error.code]).toEqual([401, 'not_signed_in'])
})

test('the cookie is HttpOnly and SameSite=Lax, and every sign-in creates a new session', async () => {
  const browser = await signedIn(service, tenant.id, 'viewer')
  const before = browser.cookie
  const { headers, body } = await browser.call('POST', '/api/auth/sign-in/email', {
    email: browser.email,
    password: PASSWORD,
  })
  expect(headers.getSetCookie()[0]).toMatch(/^cds\.session_token=\S+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/)
  expect(browser.cookie).not.toBe(before)
  expect(JSON.stringify(body)).not.toContain(browser.cookie.slice(18, 40))
})

test('people change their own name, and an empty one is refused', async () => {
  const browser = await signedIn(service, tenant.id, 'viewer')
  expect((await browser.call('PATCH', '/api/me', { name: '  Grace ' })).body).toMatchObject({ name: 'Grace' })
  expect((await browser.call('GET', '/api/me')).body.user.name).toBe('Grace')
  for (const name of ['', '   ', 'x'.repeat(201), 7]) {
    expect((await browser.call('PATCH', '/api/me', { name })).status).toBe(400)
  }
  expect((await browser.call('GET', '/api/me')).body.user.name).toBe('Grace')
})
