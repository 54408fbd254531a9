import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startMailbox, type TestMailbox, tokenIn } from '../../test/mailbox.ts'
import { OPENID_CLIENT, type OpenIdProvider, startOpenIdProvider, visitProvider } from '../../test/openid-provider.ts'
import { Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { codeOf } from '../../test/totp.ts'
import { allowNewPassword } from './password-reset.ts'
import { createTenantUser } from './users.ts'

const THEIRS = 'chosen by the inviter'
const OWN = 'chosen by the owner of the address'

let service: TestService
/** The service that browsers call, also after a restart. */
const current = {
  get url() {
    return service.url
  },
  get config() {
    return service.config
  },
}
let addresses = 0
const address = () => `ceo${++addresses}@b.example`
const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]
const me = async (browser: Browser) => (await browser.call('GET', '/api/me')).body

/** Invites an address. @returns the token, which the inviter sees if there is no mail server. */
async function invite(tenant: TestTenant, email: string): Promise<string> {
  const owner = await signedIn(service, tenant.id, 'owner')
  const { status, body } = await owner.call('POST', '/v1/invitations', { email, role: 'admin' })
  expect(status).toBe(201)
  return body.link.split('/').at(-1)
}

const accept = (browser: Browser, token: string, body: object = {}) =>
  browser.call('POST', `/api/invitations/${token}/accept`, body)

/** Everything that an attacker who accepts an invitation in another person's place has of the account. */
interface Hijacked {
  email: string
  session: Browser
  trusted: Browser
  /** A browser that has sent the password but not yet the code. */
  waiting: Browser
  address: string
  codes: string[]
  resetToken: string
  /** The token of an invitation that the account itself sent. */
  invitationToken: string
}

/** The owner of tenant A invites an address and accepts in place of the person who owns it. */
async function hijackAddress(a: TestTenant, email = address()): Promise<Hijacked> {
  const session = new Browser(current)
  const token = await invite(a, email)
  expect((await accept(session, token, { name: 'The CEO', password: THEIRS })).body.signed_in).toBe(true)
  const invited = await session.call('POST', '/v1/invitations', { email: address(), role: 'admin' })
  const invitationToken = invited.body.link.split('/').at(-1)
  const enabled = await session.call('POST', '/api/auth/two-factor/enable', { password: THEIRS })
  const { totpURI, backupCodes } = enabled.body
  const code = { code: codeOf(totpURI) }
  expect((await session.call('POST', '/api/auth/two-factor/verify-totp', code)).status).toBe(200)
  const halfSignedIn = async () => {
    const browser = new Browser(current)
    const { body } = await browser.call('POST', '/api/auth/sign-in/email', { email, password: THEIRS })
    expect(body.twoFactorRedirect).toBe(true)
    return browser
  }
  const [trusted, waiting] = [await halfSignedIn(), await halfSignedIn()]
  const trust = { code: codeOf(totpURI, 1), trustDevice: true }
  expect((await trusted.call('POST', '/api/auth/two-factor/verify-totp', trust)).status).toBe(200)
  const { token: resetToken } = await allowNewPassword(service.stores, email, false, new Date())
  return { email, session, trusted, waiting, address: totpURI, codes: backupCodes, resetToken, invitationToken }
}

/** Checks that nothing set before the verification of the address gives access any more. */
async function expectShutOut(hijacked: Hijacked): Promise<void> {
  const { email, session, trusted, waiting } = hijacked
  for (const browser of [session, trusted]) {
    expect(outcome(await browser.call('GET', '/api/me'))).toEqual([401, 'not_signed_in'])
    expect(outcome(await browser.call('GET', '/v1/contacts'))).toEqual([401, 'not_signed_in'])
  }
  for (const browser of [new Browser(current), trusted]) {
    const guess = await browser.call('POST', '/api/auth/sign-in/email', { email, password: THEIRS })
    expect(outcome(guess)).toEqual([401, 'invalid_email_or_password'])
  }
  const totp = { code: codeOf(hijacked.address, 1) }
  expect((await waiting.call('POST', '/api/auth/two-factor/verify-totp', totp)).status).toBe(401)
  const backup = { code: hijacked.codes[0] }
  expect((await waiting.call('POST', '/api/auth/two-factor/verify-backup-code', backup)).status).toBe(401)
  const reset = { token: hijacked.resetToken, newPassword: THEIRS }
  expect(outcome(await waiting.call('POST', '/api/auth/reset-password', reset))).toEqual([400, 'invalid_token'])
  expect((await waiting.call('GET', `/api/invitations/${hijacked.invitationToken}`)).status).toBe(404)
}

describe('with an OpenID provider and without mail', () => {
  let provider: OpenIdProvider
  let a: TestTenant
  let b: TestTenant

  beforeAll(async () => {
    provider = await startOpenIdProvider({ sub: '1', email: '', email_verified: true, name: 'From the provider' })
    service = await startTestService({
      CDS_PUBLIC_URL: 'https://cdp.example.com',
      CDS_OIDC_ISSUER: provider.issuer,
      CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
      CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
    })
    a = await createTestTenant(service)
    b = await createTestTenant(service)
  })
  afterAll(async () => {
    await service.close()
    await provider.close()
  })

  async function signInByProvider(email: string, more: object = {}): Promise<Browser> {
    provider.person = { ...provider.person, sub: `subject of ${email}`, email, email_verified: true, ...more }
    const browser = new Browser(current)
    await visitProvider(service, browser)
    return browser
  }

  test('an account created in advance loses access when the owner of the address signs in, before or after B invites', async () => {
    for (const invitesFirst of [true, false]) {
      const hijacked = await hijackAddress(a)
      let token = invitesFirst ? await invite(b, hijacked.email) : ''
      const ceo = await signInByProvider(hijacked.email)
      if (!invitesFirst) token = await invite(b, hijacked.email)
      expect((await accept(ceo, token)).body).toMatchObject({ tenant_id: b.id, signed_in: true })
      expect(await me(ceo)).toMatchObject({ tenant: { tenant_id: b.id }, user: { has_password: false } })
      await expectShutOut(hijacked)
      const again = await signInByProvider(hijacked.email)
      expect((await me(again)).tenants).toHaveLength(2)
    }
  })

  test('an address that the provider has not verified shuts nobody out', async () => {
    const hijacked = await hijackAddress(a)
    for (const email_verified of [false, 'false', undefined]) {
      const browser = await signInByProvider(hijacked.email, { email_verified })
      expect((await browser.call('GET', '/api/me')).status).toBe(401)
    }
    expect((await me(hijacked.session)).user).toMatchObject({ email: hijacked.email, email_verified: false })
  })

  test("B's link rejects the session of an account that A created, and creates another account", async () => {
    const hijacked = await hijackAddress(a)
    const token = await invite(b, hijacked.email)
    expect(outcome(await accept(hijacked.session, token))).toEqual([403, 'address_not_verified'])
    const ceo = new Browser(current)
    expect((await accept(ceo, token, { name: 'CEO', password: OWN })).body).toMatchObject({ tenant_id: b.id })
    for (const [person, tenant] of [
      [hijacked.session, a],
      [ceo, b],
    ] as const) {
      expect((await me(person)).tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id)).toEqual([tenant.id])
    }
    expect((await me(ceo)).user.user_id).not.toBe((await me(hijacked.session)).user.user_id)
  })

  test('the first verification merges all accounts that tenants vouch for into one', async () => {
    const hijacked = await hijackAddress(a)
    const joined = { name: 'CEO', password: OWN }
    expect((await accept(new Browser(current), await invite(b, hijacked.email), joined)).status).toBe(200)
    const ceo = await signInByProvider(hijacked.email)
    expect((await me(ceo)).tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id).sort()).toEqual(
      [a.id, b.id].sort(),
    )
    await expectShutOut(hijacked)
    await expect(new Browser(current).signIn(hijacked.email, OWN)).rejects.toThrow('invalid_email_or_password')
    const rows = await service.stores.database
      .selectFrom('users')
      .select('id')
      .where('email', '=', hijacked.email)
      .execute()
    expect(rows).toHaveLength(1)
  })

  test("the owner of an address who accepted B's invitation first shares nothing with A's account, at no sign-in", async () => {
    const email = address()
    const [fromA, fromB] = [await invite(a, email), await invite(b, email)]
    const ceo = await signInByProvider(email)
    expect((await accept(ceo, fromB)).body).toMatchObject({ tenant_id: b.id })
    const intruder = new Browser(current)
    expect((await accept(intruder, fromA, { name: 'CEO', password: THEIRS })).body.signed_in).toBe(true)
    expect((await me(intruder)).tenants).toMatchObject([{ tenant_id: a.id }])
    const again = await signInByProvider(email)
    expect(await me(again)).toMatchObject({ tenants: [{ tenant_id: b.id }], user: { email_verified: true } })
    // A sees no trace of the owner's account.
    expect((await me(intruder)).user).toMatchObject({ email, email_verified: false })
    const actions = await a.handle.db
      .selectFrom('audit_log')
      .select('action')
      .where('subject_id', '=', (await me(intruder)).user.user_id)
      .execute()
    expect(actions).toEqual([{ action: 'member.joined' }])
    // The person joins A too once A removes the account that it created.
    await (await signedIn(service, a.id, 'owner')).call('DELETE', `/v1/members/${(await me(intruder)).user.user_id}`)
    expect((await intruder.call('GET', '/api/me')).status).toBe(401)
    expect((await accept(again, await invite(a, email))).body).toMatchObject({ tenant_id: a.id })
    expect((await me(again)).tenants).toHaveLength(2)
  })

  test('a verified person keeps the password and sessions at the first provider sign-in', async () => {
    const person = await signedIn(service, a.id, 'member')
    await signInByProvider(person.email)
    expect((await me(person)).user).toMatchObject({ email_verified: true, has_password: true })
    await new Browser(current).signIn(person.email)
  })
})

describe('with neither', () => {
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.close())

  test('an account that only one tenant vouches for is deleted when that tenant removes it, and a new invitation creates a new one', async () => {
    const a = await createTestTenant(service)
    const owner = await signedIn(service, a.id, 'owner')
    const hijacked = await hijackAddress(a)
    await owner.call('DELETE', `/v1/members/${(await me(hijacked.session)).user.user_id}`)
    await expectShutOut(hijacked)
    const guest = new Browser(current)
    const joined = await accept(guest, await invite(a, hijacked.email), { name: 'CEO', password: OWN })
    expect(joined.body).toMatchObject({ tenant_id: a.id, signed_in: true })
  })

  test('an account that owns a tenant of its own stays there when another tenant removes it', async () => {
    const a = await createTestTenant(service)
    const owner = await signedIn(service, a.id, 'owner')
    const { session, email } = await hijackAddress(a)
    const { user } = await me(session)
    await owner.call('PATCH', `/v1/members/${user.user_id}`, { role: 'owner' })
    const made = await session.call('POST', '/api/tenants', { name: 'Their own' })
    expect((await owner.call('DELETE', `/v1/members/${user.user_id}`)).status).toBe(200)
    expect((await me(session)).tenants).toMatchObject([{ tenant_id: made.body.tenant_id }])
    const guest = new Browser(current)
    expect((await accept(guest, await invite(a, email), { name: 'CEO', password: OWN })).status).toBe(200)
    expect((await me(guest)).user.user_id).not.toBe(user.user_id)
  })

  test("the operator's link verifies the address and drops everything set before", async () => {
    const [a, b] = [await createTestTenant(service), await createTestTenant(service)]
    const hijacked = await hijackAddress(a)
    const token = await invite(b, hijacked.email)
    const { token: link } = await allowNewPassword(service.stores, hijacked.email, false, new Date())
    const ceo = new Browser(current)
    // A rejected password does not use up the link.
    const short = await ceo.call('POST', '/api/auth/reset-password', { token: link, newPassword: 'short' })
    expect(short.status).toBe(400)
    const reset = await ceo.call('POST', '/api/auth/reset-password', { token: link, newPassword: OWN })
    expect(reset.status).toBe(200)
    await ceo.signIn(hijacked.email, OWN)
    expect((await accept(ceo, token)).body).toMatchObject({ tenant_id: b.id })
    await expectShutOut(hijacked)
  })

  test('creating a person with the address on the command line verifies it too', async () => {
    const [a, b] = [await createTestTenant(service), await createTestTenant(service)]
    const hijacked = await hijackAddress(a)
    const person = { email: hijacked.email, password: OWN, name: 'The real CEO', role: 'owner' } as const
    await createTenantUser(service.stores, b.id, person, { kind: 'command_line' }, new Date())
    const ceo = await new Browser(current).signIn(hijacked.email, OWN)
    expect(await me(ceo)).toMatchObject({ user: { name: 'The real CEO', email_verified: true } })
    await expectShutOut(hijacked)
  })

  test('each tenant of the account has an audit entry', async () => {
    const a = await createTestTenant(service)
    const hijacked = await hijackAddress(a)
    const { token } = await allowNewPassword(service.stores, hijacked.email, false, new Date())
    await new Browser(current).call('POST', '/api/auth/reset-password', { token, newPassword: OWN })
    const rows = await a.handle.db.selectFrom('audit_log').select(['action', 'details']).execute()
    const [entry] = rows.filter(({ action }) => action === 'member.address_verified')
    expect(entry?.details).toEqual({ email: hijacked.email })
  })

  test('a concurrent sign-in with the old password gets no session', async () => {
    const hijacked = await hijackAddress(await createTestTenant(service))
    const { token } = await allowNewPassword(service.stores, hijacked.email, true, new Date())
    const guesses = Array.from({ length: 6 }, () => {
      const browser = new Browser(current)
      const body = { email: hijacked.email, password: THEIRS }
      return browser.call('POST', '/api/auth/sign-in/email', body).then(({ status }) => ({ browser, status }))
    })
    const reset = { token, newPassword: OWN }
    expect((await new Browser(current).call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
    for (const { browser, status } of await Promise.all(guesses)) {
      expect([200, 401]).toContain(status)
      expect((await browser.call('GET', '/api/me')).status).toBe(401)
    }
    await new Browser(current).signIn(hijacked.email, OWN)
  })
})

describe('with a mail server, for an account created before it was configured', () => {
  let mailbox: TestMailbox
  let a: TestTenant
  let hijacked: Hijacked
  let hijackedToo: Hijacked
  let shownToB: string
  const settings = { CDS_PUBLIC_URL: 'https://cdp.example.com' }

  beforeAll(async () => {
    mailbox = await startMailbox()
    service = await startTestService(settings)
    a = await createTestTenant(service)
    hijacked = await hijackAddress(a)
    hijackedToo = await hijackAddress(a)
    shownToB = await invite(await createTestTenant(service), hijacked.email)
    // Restarts the same service with a mail server.
    const { dataDirectory, databaseUrl } = service.config
    const same = { CDS_DATA_DIR: dataDirectory, DATABASE_URL: databaseUrl ?? '' }
    await service.close()
    service = await startTestService({ ...settings, ...same, ...mailbox.settings })
  })
  afterAll(async () => {
    await service.close()
    await mailbox.close()
  })

  test("accepting B's mailed link verifies the address, and needs a new password", async () => {
    const c = await createTestTenant(service)
    const owner = await signedIn(service, c.id, 'owner')
    await owner.call('POST', '/v1/invitations', { email: hijacked.email, role: 'admin' })
    const token = tokenIn(await mailbox.newest(hijacked.email))
    expect((await new Browser(current).call('GET', `/api/invitations/${token}`)).body.proves_address).toBe(true)
    expect((await new Browser(current).call('GET', `/api/invitations/${shownToB}`)).body.proves_address).toBe(false)
    for (const browser of [new Browser(current), hijacked.session]) {
      expect(outcome(await accept(browser, token, { name: 'Real' }))).toEqual([400, 'validation_error'])
    }
    expect((await hijacked.session.call('GET', '/api/me')).status).toBe(200)
    const ceo = new Browser(current)
    const joined = await accept(ceo, token, { name: 'Real', password: OWN })
    expect(joined.body).toEqual({ status: 'success', tenant_id: c.id, signed_in: true })
    expect(await me(ceo)).toMatchObject({ tenant: { tenant_id: c.id }, user: { name: 'Real', email_verified: true } })
    await expectShutOut(hijacked)
    // A mailed link reveals to its reader that they have an account.
    await owner.call('DELETE', `/v1/members/${(await me(ceo)).user.user_id}`)
    await owner.call('POST', '/v1/invitations', { email: hijacked.email, role: 'admin' })
    const again = tokenIn(await mailbox.newest(hijacked.email))
    expect(outcome(await accept(new Browser(current), again, { name: 'X', password: THEIRS }))).toEqual([
      403,
      'sign_in_first',
    ])
    expect((await accept(ceo, again)).status).toBe(200)
    // A link that the inviter saw reveals nothing, and creates an account that only their tenant vouches for.
    const guest = new Browser(current)
    expect((await accept(guest, shownToB, { name: 'X', password: THEIRS })).status).toBe(200)
    expect((await me(guest)).user.email_verified).toBe(false)
  })

  test('a mailed link for a new password verifies an address that only a tenant vouched for', async () => {
    const { email } = hijackedToo
    const ceo = new Browser(current)
    expect((await ceo.call('POST', '/api/auth/request-password-reset', { email })).status).toBe(200)
    const reset = { token: tokenIn(await mailbox.newest(email)), newPassword: OWN }
    expect((await ceo.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
    await ceo.signIn(email, OWN)
    expect(await me(ceo)).toMatchObject({ tenants: [{ tenant_id: a.id }], user: { email_verified: true } })
    await expectShutOut(hijackedToo)
  })

  test('a link that the inviter saw verifies nothing later either', async () => {
    const email = address()
    const guest = new Browser(current)
    await (await signedIn(service, a.id, 'owner')).call('POST', '/v1/invitations', { email, role: 'viewer' })
    const token = tokenIn(await mailbox.newest(email))
    await accept(guest, token, { name: 'Guest', password: OWN })
    expect((await me(guest)).user.email_verified).toBe(true)
  })
})
