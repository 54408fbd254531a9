import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { codeOf } from '../../test/totp.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { allowNewPassword } from './password-reset.ts'
import { saltOf } from './passwords.ts'
import { createTenantUser } from './users.ts'

const OTHER = 'another password of the person'

let service: TestService
let now = new Date()

beforeAll(async () => {
  const settings = {
    CDS_RATE_LIMITS: 'on',
    CDS_TRUST_PROXY: '1',
    CDS_RATE_LIMIT_SIGN_IN_ELSEWHERE_PER_MINUTE: '8',
    CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE: '1000',
  }
  service = await startTestService(settings, { clock: () => now })
})
afterAll(() => service.close())

let networks = 0
let addresses = 0
const address = () => `person${++addresses}@example.com`
const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]
const me = async (browser: Browser) => (await browser.call('GET', '/api/me')).body

/** Creates a tenant and an account with this address that only this tenant vouches for, and signs in. */
async function vouched(email: string, password: string, ip = `10.30.0.${++networks}`) {
  const tenant = await createTestTenant(service)
  const owner = await signedIn(service, tenant.id, 'owner')
  const { body } = await owner.call('POST', '/v1/invitations', { email, role: 'admin' })
  const session = new Browser(service)
  const path = `/api/invitations/${body.link.split('/').at(-1)}/accept`
  const headers = { ...session.ownSite, 'x-forwarded-for': ip }
  expect((await session.call('POST', path, { name: 'Ada', password }, headers)).status).toBe(200)
  return { tenant, owner, session }
}

/** Creates a tenant and the verified account of this address. */
async function verified(email: string, password: string) {
  const tenant = await createTestTenant(service)
  await createTenantUser(service.stores, tenant.id, { email, password, role: 'member' }, { kind: 'command_line' }, now)
  return tenant
}

async function enter(email: string, password: string, more: object = {}, ip = `10.31.0.${++networks}`) {
  const browser = new Browser(service)
  const headers = { ...browser.ownSite, 'x-forwarded-for': ip }
  const response = await browser.call('POST', '/api/auth/sign-in/email', { email, password, ...more }, headers)
  return { browser, ...response }
}

test('each password opens its own account of an address', async () => {
  const email = address()
  const home = await verified(email, PASSWORD)
  const { tenant } = await vouched(email, OTHER)
  expect(await me((await enter(email, PASSWORD)).browser)).toMatchObject({ tenants: [{ tenant_id: home.id }] })
  expect(await me((await enter(email.toUpperCase(), OTHER)).browser)).toMatchObject({
    tenants: [{ tenant_id: tenant.id }],
  })
  expect(outcome(await enter(email, 'neither of the two'))).toEqual([401, 'invalid_email_or_password'])
})

test('a password that opens several accounts asks for the tenant, and a wrong one reveals no tenants', async () => {
  const email = address()
  const home = await verified(email, PASSWORD)
  const [one, two] = [await vouched(email, PASSWORD), await vouched(email, PASSWORD)]
  const asked = await enter(email, PASSWORD)
  const ids = [home, one.tenant, two.tenant].map(({ id }) => id)
  expect(asked.status).toBe(200)
  expect(asked.body.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id).sort()).toEqual(ids.sort())
  expect((await asked.browser.call('GET', '/api/me')).status).toBe(401)
  for (const tenant_id of ids) {
    const { browser } = await enter(email, PASSWORD, { tenant_id })
    expect(await me(browser)).toMatchObject({ tenant: { tenant_id }, tenants: [{ tenant_id }] })
  }
  const elsewhere = await createTestTenant(service)
  expect(outcome(await enter(email, PASSWORD, { tenant_id: elsewhere.id }))).toEqual([401, 'invalid_email_or_password'])
  expect(outcome(await enter(email, PASSWORD, { tenant_id: 'x' }))).toEqual([401, 'invalid_email_or_password'])
  expect(outcome(await enter(email, 'a wrong guess', { tenant_id: home.id }))).toEqual([
    401,
    'invalid_email_or_password',
  ])
})

test('a second factor protects its own account, and its label names the address', async () => {
  const email = address()
  const home = await verified(email, OTHER)
  const { session } = await vouched(email, PASSWORD)
  const { body } = await session.call('POST', '/api/auth/two-factor/enable', { password: PASSWORD })
  expect(decodeURIComponent(body.totpURI)).toContain(`:${email}?`)
  const code = { code: codeOf(body.totpURI) }
  expect((await session.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(200)
  const shown = await session.call('POST', '/api/auth/two-factor/get-totp-uri', { password: PASSWORD })
  expect(decodeURIComponent(shown.body.totpURI)).toContain(`:${email}?`)
  expect((await enter(email, PASSWORD)).body.twoFactorRedirect).toBe(true)
  expect(await me((await enter(email, OTHER)).browser)).toMatchObject({ tenants: [{ tenant_id: home.id }] })
})

test('all passwords of an address share a salt, so that an attempt costs the same for any number of accounts', async () => {
  const email = address()
  const [{ session }, other] = [await vouched(email, PASSWORD), await vouched(email, OTHER)]
  const change = { currentPassword: PASSWORD, newPassword: 'a changed password' }
  expect((await session.call('POST', '/api/auth/change-password', change)).status).toBe(200)
  const salts = async () => {
    const rows = await service.stores.database
      .selectFrom('user_accounts')
      .innerJoin('users', 'users.id', 'user_accounts.user_id')
      .select('password')
      .where('email', '=', email)
      .execute()
    return rows.map(({ password }) => saltOf(password ?? ''))
  }
  expect(await salts()).toHaveLength(2)
  expect(new Set(await salts()).size).toBe(1)
  // The same applies to the verified account that a link creates, and to an account vouched for after it.
  const { token } = await allowNewPassword(service.stores, email, false, now)
  const reset = { token, newPassword: 'a third password' }
  expect((await other.session.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
  await vouched(email, PASSWORD)
  const again = await allowNewPassword(service.stores, email, false, now)
  const second = { token: again.token, newPassword: 'a fourth password' }
  expect((await other.session.call('POST', '/api/auth/reset-password', second)).status).toBe(200)
  expect(await salts()).toHaveLength(2)
  expect(new Set(await salts()).size).toBe(1)
  expect((await enter(email, 'a fourth password')).status).toBe(200)
  expect((await enter(email, PASSWORD)).status).toBe(200)
})

test("another account with the same address gives an attacker no more guesses, and does not use up the owner's", async () => {
  const email = address()
  await verified(email, PASSWORD)
  const home = '10.32.0.1'
  expect((await enter(email, PASSWORD, {}, home)).status).toBe(200)
  const intruder = '10.32.1.1'
  await vouched(email, OTHER, intruder)
  now = new Date(now.getTime() + 3 * MINUTE_MS)
  for (let i = 0; i < 8; i++) expect((await enter(email, 'a wrong guess', {}, `10.32.2.${i}`)).status).toBe(401)
  expect((await enter(email, PASSWORD, {}, '10.32.3.1')).status).toBe(429)
  // From the network where the other account has signed in, only that account is tried.
  expect(outcome(await enter(email, PASSWORD, {}, intruder))).toEqual([401, 'invalid_email_or_password'])
  expect((await enter(email, OTHER, {}, intruder)).status).toBe(200)
  expect((await enter(email, PASSWORD, {}, home)).status).toBe(200)
  expect(outcome(await enter(email, OTHER, {}, home))).toEqual([401, 'invalid_email_or_password'])
})

test('the remaining attempts do not reveal to a tenant that an address has accounts elsewhere', async () => {
  const left: number[] = []
  for (const hasOther of [false, true]) {
    const email = address()
    if (hasOther) await verified(email, PASSWORD)
    const own = `10.33.${Number(hasOther)}.1`
    await vouched(email, OTHER, own)
    now = new Date(now.getTime() + 3 * MINUTE_MS)
    for (let i = 0; i < 4; i++) expect((await enter(email, OTHER, {}, own)).status).toBe(200)
    let attempts = 0
    while ((await enter(email, 'a wrong guess')).status === 401) attempts++
    left.push(attempts)
  }
  expect(left[1]).toBe(left[0])
})

test('a person whom the operator creates again in their tenant gets the role, and the log says which one they had', async () => {
  const email = address()
  const { tenant, owner } = await vouched(email, PASSWORD)
  const person = { email, password: OTHER, role: 'viewer' } as const
  const userId = await createTenantUser(service.stores, tenant.id, person, { kind: 'command_line' }, now)
  const log = (await owner.call('GET', `/v1/audit-log?subject_id=${userId}`)).body.entries
  expect(log.map(({ action, details }: { action: string; details: object }) => [action, details])).toEqual([
    ['member.role_changed', { from: 'admin', to: 'viewer' }],
    ['member.address_verified', { email }],
  ])
})
