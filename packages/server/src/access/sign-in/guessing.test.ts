import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMailbox, type TestMailbox } from '../../../test/mailbox.ts'
import { Browser, PASSWORD } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { codeOf } from '../../../test/totp.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { createTenantUser } from '../users.ts'

let limited: TestService
let tenant: TestTenant
let mailbox: TestMailbox
// A fixed clock, so that all guesses count within one minute however long they take.
let now = new Date()
const later = (minutes: number) => {
  now = new Date(now.getTime() + minutes * MINUTE_MS)
}

beforeAll(async () => {
  mailbox = await startMailbox()
  const settings = {
    ...mailbox.settings,
    CDS_RATE_LIMITS: 'on',
    CDS_TRUST_PROXY: '1',
    CDS_RATE_LIMIT_SIGN_IN_ELSEWHERE_PER_MINUTE: '8',
    // Every guess costs one password hash.
    CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE: '12',
  }
  limited = await startTestService(settings, { clock: () => now })
  tenant = await createTestTenant(limited)
})
afterAll(async () => {
  await limited.close()
  await mailbox.close()
})

/** Each is the valid code only once in a million times. */
const WRONG = ['000001', '000002', '000003', '000004', '000005']

let people = 0
async function person(): Promise<string> {
  const email = `victim${++people}@example.com`
  await createTenantUser(
    limited.stores,
    tenant.id,
    { email, password: PASSWORD, role: 'owner' },
    { kind: 'command_line' },
    now,
  )
  return email
}

async function post(browser: Browser, ip: string, path: string, body: object) {
  return browser.call('POST', `/api/auth/${path}`, body, { ...browser.ownSite, 'x-forwarded-for': ip })
}

async function signIn(email: string, ip: string, password = 'a wrong guess') {
  const browser = new Browser(limited)
  const { status, body } = await post(browser, ip, 'sign-in/email', { email, password })
  return { browser, status, body }
}

test('wrong passwords from elsewhere lock nobody out', async () => {
  const email = await person()
  const byAttacker: number[] = []
  for (let i = 0; i < 7; i++) byAttacker.push((await signIn(email, '10.0.0.1')).status)
  expect(byAttacker).toEqual([401, 401, 401, 401, 401, 429, 429])
  const upper = await signIn(` ${email.toUpperCase()} `, '10.0.0.1')
  expect([upper.status, upper.body.error.code]).toEqual([429, 'rate_limited'])
  // The person signs in from a network never seen before.
  expect((await signIn(email, '10.0.0.2', PASSWORD)).status).toBe(200)
})

test('the spellings of an address are one account for guesses and for requests for reset links', async () => {
  const spellings = ['kim@b\u00fccher.example', 'kim@bu\u0308cher.example', 'Kim@xn--bcher-kva.example']
  const statuses: number[] = []
  for (const email of [...spellings, ...spellings]) statuses.push((await signIn(email, '10.11.0.1')).status)
  expect(statuses.splice(0)).toEqual([401, 401, 401, 401, 401, 429])
  later(2)
  for (const email of [...spellings, ...spellings]) {
    statuses.push((await post(new Browser(limited), '10.11.0.2', 'request-password-reset', { email })).status)
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
})

test('unknown networks share a limit of guesses per minute, which does not affect known ones', async () => {
  const email = await person()
  expect((await signIn(email, '2001:db8:1:2::10', PASSWORD)).status).toBe(200)
  later(2)
  const byMany: number[] = []
  for (let i = 0; i < 12; i++) byMany.push((await signIn(email, `10.3.0.${i}`)).status)
  expect(byMany).toEqual([...Array(8).fill(401), ...Array(4).fill(429)])
  expect((await signIn(email, '10.3.1.1', PASSWORD)).status).toBe(429)
  // Same network: devices change the lower half of their IPv6 address.
  expect((await signIn(email, '2001:db8:1:2::99', PASSWORD)).status).toBe(200)
  const byKnown: number[] = []
  for (let i = 0; i < 8; i++) byKnown.push((await signIn(email, '2001:db8:1:2::10')).status)
  expect(byKnown.slice(-2)).toEqual([429, 429])
})

test('the rate limit headers do not reveal who has signed in from the same network', async () => {
  const email = await person()
  expect((await signIn(email, '10.4.0.1', PASSWORD)).status).toBe(200)
  later(3)
  const limits: (string | null)[][] = []
  for (const tried of [email, 'nobody@example.com']) {
    const guess = { email: tried, password: 'a wrong guess' }
    const { headers } = await post(new Browser(limited), '10.4.0.1', 'sign-in/email', guess)
    limits.push(['limit', 'remaining', 'policy'].map((name) => headers.get(`ratelimit-${name}`)))
  }
  expect(limits[0]).toEqual(['5', '4', '5;w=60'])
  expect(limits[1]).toEqual(limits[0])
})

test('the limit per IP address covers guesses at all people together', async () => {
  const byAddress: number[] = []
  for (let i = 0; i < 14; i++) byAddress.push((await signIn(`someone${i}@example.com`, '10.1.1.1')).status)
  expect(byAddress.filter((status) => status === 401)).toHaveLength(12)
  expect(byAddress.slice(-2)).toEqual([429, 429])
  expect((await signIn('another@example.com', '10.2.2.2')).status).toBe(401)
})

test('wrong codes from unknown networks lock the second factor there, but not where the person has signed in', async () => {
  const home = '10.5.0.1'
  const { browser } = await signIn(await person(), home, PASSWORD)
  const { email } = (await browser.call('GET', '/api/me')).body.user
  const enabled = await post(browser, home, 'two-factor/enable', { password: PASSWORD })
  const address = enabled.body.totpURI
  const verify = (by: Browser, ip: string, code: string) => post(by, ip, 'two-factor/verify-totp', { code })
  expect((await verify(browser, home, codeOf(address))).status).toBe(200)
  const codes: string[] = []
  for (let round = 0; round < 3; round++) {
    later(2)
    const attacker = await signIn(email, `10.6.0.${round}`, PASSWORD)
    for (const code of WRONG) codes.push((await verify(attacker.browser, `10.6.0.${round}`, code)).body.error.code)
  }
  expect(codes).toEqual([...Array(10).fill('invalid_code'), ...Array(5).fill('second_factor_locked')])
  const attacker = await signIn(email, '10.6.0.9', PASSWORD)
  const right = await verify(attacker.browser, '10.6.0.9', codeOf(address, 1))
  expect([right.status, right.body.error.code]).toEqual([429, 'second_factor_locked'])
  expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
  const owner = await signIn(email, home, PASSWORD)
  expect((await verify(owner.browser, home, codeOf(address, 1))).status).toBe(200)
  later(16)
  const traveler = await signIn(email, '10.7.0.1', PASSWORD)
  const recovery = { code: enabled.body.backupCodes[0] }
  const there = await post(traveler.browser, '10.7.0.1', 'two-factor/verify-backup-code', recovery)
  expect(there.status).toBe(200)
})

test('an address gets five password reset mails per hour, whoever requests them', async () => {
  const [email, other] = [await person(), await person()]
  const ask = async (address: string, ip: string) =>
    (await post(new Browser(limited), ip, 'request-password-reset', { email: address })).status
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) statuses.push(await ask(email, `10.8.0.${i}`))
  // The response is the same for known and unknown addresses.
  expect(statuses).toEqual(Array(8).fill(200))
  await ask(other, '10.8.1.1')
  await mailbox.newest(other)
  const mails = () => mailbox.received.filter(({ to }) => to.includes(email))
  await expect.poll(() => mails().length).toBeGreaterThanOrEqual(5)
  expect(mails()).toHaveLength(5)
  later(61)
  mailbox.received.length = 0
  await ask(email, '10.8.2.1')
  await mailbox.newest(email)
})

test("another person's requests for reset links use up none of the person's own attempts", async () => {
  const email = await person()
  const ask = (ip: string) => post(new Browser(limited), ip, 'request-password-reset', { email })
  const byAttacker: number[] = []
  for (let i = 0; i < 6; i++) byAttacker.push((await ask('10.9.0.1')).status)
  expect(byAttacker).toEqual([200, 200, 200, 200, 200, 429])
  expect((await ask('10.9.0.2')).status).toBe(200)
  const { browser } = await signIn(email, '10.9.0.3', PASSWORD)
  expect((await browser.call('GET', '/api/me')).status).toBe(200)
})
