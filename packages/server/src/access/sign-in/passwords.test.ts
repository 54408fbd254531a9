import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { deleteOldOf } from '../../../test/retention.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts'
import { allowNewPassword } from '../password-reset.ts'

const NEW = 'an entirely new one'

let service: TestService
let tenant: TestTenant
let now = new Date()

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]
const signIn = (email: string, password: string) =>
  new Browser(service).call('POST', '/api/auth/sign-in/email', { email, password })

test('a wrong password, an unknown address and a person without a password get the same response', async () => {
  const { email } = await signedIn(service, tenant.id, 'viewer')
  const refused = [401, 'invalid_email_or_password']
  expect(outcome(await signIn(email, 'not the password'))).toEqual(refused)
  expect(outcome(await signIn('nobody@example.com', PASSWORD))).toEqual(refused)
  expect(outcome(await signIn(email.toUpperCase(), PASSWORD))).toEqual([200, undefined])
})

test('a new password needs the old one, and ends every other session', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const other = await new Browser(service).signIn(person.email)
  const change = (currentPassword: string, newPassword: string) =>
    person.call('POST', '/api/auth/change-password', { currentPassword, newPassword })
  expect(outcome(await change('not the password', NEW))).toEqual([400, 'invalid_password'])
  expect((await change(PASSWORD, 'short')).status).toBe(400)
  const before = person.cookie
  expect((await change(PASSWORD, NEW)).status).toBe(200)
  expect(person.cookie).not.toBe(before)
  expect((await person.call('GET', '/api/me')).status).toBe(200)
  expect((await other.call('GET', '/api/me')).status).toBe(401)
  expect((await signIn(person.email, PASSWORD)).status).toBe(401)
  expect((await signIn(person.email, NEW)).status).toBe(200)
})

test('a link from the command line sets a new password once, and ends every session', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const { token } = await allowNewPassword(service.stores, person.email, false, new Date())
  const browser = new Browser(service)
  const reset = (newPassword: string, with_ = token) =>
    browser.call('POST', '/api/auth/reset-password', { token: with_, newPassword })
  expect(outcome(await reset(NEW, 'made-up'))).toEqual([400, 'invalid_token'])
  expect((await reset('short')).status).toBe(400)
  expect((await reset(NEW)).status).toBe(200)
  expect((await person.call('GET', '/api/me')).status).toBe(401)
  expect(outcome(await reset('yet another one'))).toEqual([400, 'invalid_token'])
  expect((await signIn(person.email, NEW)).status).toBe(200)
  const hourAgo = new Date(Date.now() - 61 * MINUTE_MS)
  const old = await allowNewPassword(service.stores, person.email, false, hourAgo)
  expect(outcome(await reset(PASSWORD, old.token))).toEqual([400, 'invalid_token'])
  await expect(allowNewPassword(service.stores, 'no@example.com', false, now)).rejects.toThrow('no such user')
})

test("a new password invalidates the person's other links", async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const stranger = await signedIn(service, tenant.id, 'viewer')
  const link = async (email = person.email) => (await allowNewPassword(service.stores, email, false, new Date())).token
  const reset = (token: string, newPassword: string) =>
    new Browser(service).call('POST', '/api/auth/reset-password', { token, newPassword })
  const [first, second, foreign] = [await link(), await link(), await link(stranger.email)]
  expect((await reset(first, NEW)).status).toBe(200)
  expect(outcome(await reset(second, 'of someone else'))).toEqual([400, 'invalid_token'])
  const third = await link()
  const browser = await new Browser(service).signIn(person.email, NEW)
  const change = { currentPassword: NEW, newPassword: PASSWORD }
  expect((await browser.call('POST', '/api/auth/change-password', change)).status).toBe(200)
  expect(outcome(await reset(third, 'of someone else'))).toEqual([400, 'invalid_token'])
  expect((await signIn(person.email, PASSWORD)).status).toBe(200)
  expect((await reset(foreign, NEW)).status).toBe(200)
})

test('requesting a link returns the same for every address, and sends none without a mail server', async () => {
  const { email } = await signedIn(service, tenant.id, 'viewer')
  const ask = (address: string) =>
    new Browser(service).call('POST', '/api/auth/request-password-reset', { email: address })
  const [known, unknown] = [await ask(email), await ask('nobody@example.com')]
  expect([known.status, known.body]).toEqual([unknown.status, unknown.body])
  expect(known.status).toBe(200)
  expect((await new Browser(service).call('GET', '/api/sign-in-options')).body.password_reset).toBe('operator')
})

test('a session ends a week after it was last renewed, and a visit renews it', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const { database } = service.stores
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)
  const sessions = database.updateTable('user_sessions').where('user_id', '=', person.userId)
  await sessions.set({ expires_at: inDays(3) }).execute()
  const renewed = await person.call('GET', '/api/me')
  expect(renewed.headers.getSetCookie()[0]).toMatch(/^cds\.session_token=/)
  now = inDays(6.9)
  expect((await person.call('GET', '/v1/contacts')).status).toBe(200)
  now = inDays(7.1)
  expect(outcome(await person.call('GET', '/v1/contacts'))).toEqual([401, 'not_signed_in'])
  await deleteOldOf(['user_sessions'], database, now)
  now = new Date()
  expect((await person.call('GET', '/v1/contacts')).status).toBe(401)
})

test('ending all other sessions leaves this one', async () => {
  const person = await signedIn(service, tenant.id, 'viewer')
  const other = await new Browser(service).signIn(person.email)
  expect((await person.call('POST', '/api/auth/revoke-other-sessions', {})).status).toBe(200)
  expect((await person.call('GET', '/api/me')).status).toBe(200)
  expect((await other.call('GET', '/api/me')).status).toBe(401)
})
