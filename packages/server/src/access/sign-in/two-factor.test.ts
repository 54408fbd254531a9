import { beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { codeOf } from '../../../test/totp.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

type Person = Awaited<ReturnType<typeof signedIn>>

async function protectedPerson(): Promise<{ person: Person; address: string; codes: string[] }> {
  const person = await signedIn(service, tenant.id, 'member')
  const { status, body } = await person.call('POST', '/api/auth/two-factor/enable', { password: PASSWORD })
  expect(status).toBe(200)
  // Until the first correct code, sign-in does not ask for one.
  expect((await person.call('GET', '/api/me')).body.user.two_factor_enabled).toBe(false)
  const verified = await person.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(body.totpURI) })
  expect(verified.status).toBe(200)
  expect((await person.call('GET', '/api/me')).body.user.two_factor_enabled).toBe(true)
  return { person, address: body.totpURI, codes: body.backupCodes }
}

async function halfSignedIn(email: string): Promise<Browser> {
  const browser = new Browser(service)
  const { body } = await browser.call('POST', '/api/auth/sign-in/email', { email, password: PASSWORD })
  expect(body).toMatchObject({ twoFactorRedirect: true, twoFactorMethods: ['totp'] })
  return browser
}

const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

test('with a second factor, signing in needs the password and a code', async () => {
  const { person, address } = await protectedPerson()
  const browser = await halfSignedIn(person.email)
  expect(outcome(await browser.call('GET', '/v1/contacts'))[0]).toBe(401)
  expect(outcome(await browser.call('GET', '/api/me'))).toEqual([401, 'not_signed_in'])
  const wrong = String((Number(codeOf(address, 1)) + 1) % 1_000_000).padStart(6, '0')
  expect(outcome(await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: wrong }))).toEqual([
    401,
    'invalid_code',
  ])
  expect((await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(address, 1) })).status).toBe(
    200,
  )
  expect((await browser.call('GET', '/api/me')).body).toMatchObject({ user: { email: person.email }, role: 'member' })
})

test('a backup code works once', async () => {
  const { person, codes } = await protectedPerson()
  const [code = ''] = codes
  expect(codes.length).toBeGreaterThanOrEqual(8)
  const browser = await halfSignedIn(person.email)
  expect((await browser.call('POST', '/api/auth/two-factor/verify-backup-code', { code })).status).toBe(200)
  expect((await browser.call('GET', '/api/me')).status).toBe(200)
  const again = await halfSignedIn(person.email)
  expect((await again.call('POST', '/api/auth/two-factor/verify-backup-code', { code })).status).toBe(401)
  expect((await again.call('GET', '/api/me')).status).toBe(401)
})

test('an authenticator code works once, even for two concurrent requests', async () => {
  const { person, address, codes } = await protectedPerson()
  const code = codeOf(address, 1)
  const browsers = await Promise.all(Array.from({ length: 4 }, () => halfSignedIn(person.email)))
  const responses = await Promise.all(
    browsers.map((browser) => browser.call('POST', '/api/auth/two-factor/verify-totp', { code })),
  )
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
  const late = await halfSignedIn(person.email)
  const verify = (text: string) => late.call('POST', '/api/auth/two-factor/verify-totp', { code: text })
  expect(outcome(await verify(code))).toEqual([401, 'invalid_code'])
  // White space does not make it a different code.
  expect((await verify(`${code.slice(0, 3)} ${code.slice(3)}`)).status).toBe(401)
  const recovery = await late.call('POST', '/api/auth/two-factor/verify-backup-code', { code: codes[0] })
  expect(recovery.status).toBe(200)
})

test('a quoted cookie does not work, not even with a used code', async () => {
  const { person, address } = await protectedPerson()
  const code = { code: codeOf(address, 1) }
  const first = await halfSignedIn(person.email)
  expect((await first.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(200)
  const replayer = await halfSignedIn(person.email)
  for (const [name, value] of replayer.cookies) replayer.cookies.set(name, `"${value}"`)
  const response = await replayer.call('POST', '/api/auth/two-factor/verify-totp', code)
  expect(outcome(response)).toEqual([401, 'invalid_two_factor_cookie'])
  expect((await replayer.call('GET', '/api/me')).status).toBe(401)
})

test('after several wrong codes the password is required again, and the right code comes too late', async () => {
  const { person, address } = await protectedPerson()
  const browser = await halfSignedIn(person.email)
  const wrong = String((Number(codeOf(address, 1)) + 7) % 1_000_000).padStart(6, '0')
  const statuses: number[] = []
  for (let i = 0; i < 6; i++) {
    statuses.push((await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: wrong })).status)
  }
  expect(statuses.filter((status) => status >= 500 || status < 400)).toEqual([])
  const late = await browser.call('POST', '/api/auth/two-factor/verify-totp', { code: codeOf(address, 1) })
  expect([400, 401]).toContain(late.status)
  expect((await browser.call('GET', '/api/me')).status).toBe(401)
})

test('changing the second factor needs the password, and a person without one is told so', async () => {
  const { person } = await protectedPerson()
  for (const path of ['disable', 'generate-backup-codes', 'get-totp-uri']) {
    const { status } = await person.call('POST', `/api/auth/two-factor/${path}`, { password: 'not the password' })
    expect([path, status]).toEqual([path, 400])
  }
  const { body } = await person.call('POST', '/api/auth/two-factor/generate-backup-codes', { password: PASSWORD })
  expect(body.backupCodes.length).toBeGreaterThanOrEqual(8)
  expect((await person.call('POST', '/api/auth/two-factor/disable', { password: PASSWORD })).status).toBe(200)
  expect((await person.call('GET', '/api/me')).body.user.two_factor_enabled).toBe(false)
  const browser = await new Browser(service).signIn(person.email)
  expect((await browser.call('GET', '/api/me')).status).toBe(200)
})

test('secret and backup codes are not readable in the database', async () => {
  const { address, codes } = await protectedPerson()
  const rows = await service.stores.database.selectFrom('user_two_factors').selectAll().execute()
  const stored = JSON.stringify(rows)
  expect(stored).not.toContain(new URL(address).searchParams.get('secret'))
  for (const code of codes) expect(stored).not.toContain(code)
})

test('a trusted device needs no code until the password changes', async () => {
  const { person, address } = await protectedPerson()
  const browser = await halfSignedIn(person.email)
  const waiting = await halfSignedIn(person.email)
  const code = { code: codeOf(address, 1), trustDevice: true }
  expect((await browser.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(200)
  await browser.call('POST', '/api/auth/sign-out', {})
  await browser.signIn(person.email)
  expect((await browser.call('GET', '/api/me')).status).toBe(200)
  const change = { currentPassword: PASSWORD, newPassword: 'an entirely new one' }
  expect((await browser.call('POST', '/api/auth/change-password', change)).status).toBe(200)
  await browser.call('POST', '/api/auth/sign-out', {})
  const again = { email: person.email, password: change.newPassword }
  expect((await browser.call('POST', '/api/auth/sign-in/email', again)).body.twoFactorRedirect).toBe(true)
  expect((await browser.call('GET', '/api/me')).status).toBe(401)
  // A sign-in that was started with the old password cannot be completed.
  expect((await waiting.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(401)
})
