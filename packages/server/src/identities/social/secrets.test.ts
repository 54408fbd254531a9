import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everythingStored } from '../../../test/everything.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { startGateway, type TestGateway } from '../../../test/social-gateway.ts'
import { sweepLogins } from './sweep.ts'

const PASSWORD = 'never-kept-anywhere-Pa55'
const USERNAME_DOMAIN = 'never-kept-user.example'
const WRONG_CODE = 'wr0ngc0de77'

let ahead = 0
const clock = () => new Date(Date.now() + ahead)

async function newFlow(service: TestService) {
  const tenant = await createTestTenant(service)
  const identityId = await createIdentity(tenant)
  const flow = socialOf(tenant, identityId)
  const login = (name: string) => flow.login({ username: `${name}@${USERNAME_DOMAIN}`, password: PASSWORD })
  return { ...flow, login, tenant }
}

/** No secret is readable anywhere, or stored encrypted once it is no longer needed. */
async function expectNoTrace(service: TestService, tenant: TestTenant): Promise<void> {
  const everything = await everythingStored(service)
  expect(everything).toContain('-- public.social_sessions')
  expect(everything).toContain('-- pgboss.job')
  for (const text of [everything, service.logged.join('\n')]) {
    for (const secret of [PASSWORD, USERNAME_DOMAIN, WRONG_CODE]) {
      expect(text.includes(secret), secret).toBe(false)
      expect(text.includes(Buffer.from(secret).toString('base64').slice(0, -4)), `${secret} in base64`).toBe(false)
    }
  }
  const kept = await tenant.handle.db
    .selectFrom('social_sessions')
    .select(['credentials_sealed', 'code_sealed'])
    .where('is_begun', '=', true)
    .execute()
  expect(kept.flatMap((row) => Object.values(row)).filter((sealed) => sealed !== null)).toEqual([])
}

describe('in the sandbox no password or code remains', () => {
  let sandboxed: TestService
  beforeAll(async () => {
    sandboxed = await startTestService({}, { clock })
  })
  afterAll(() => sandboxed?.close())

  test('the search finds stored text', async () => {
    const tenant = await createTestTenant(sandboxed)
    await tenant.contact('found@example.com', { note: PASSWORD.toUpperCase() })
    expect(await everythingStored(sandboxed)).toContain(PASSWORD.toUpperCase())
  })

  test.each(['ada', 'wrong', 'locked', 'email', 'expired', 'refuse', 'down'])('after %s', async (name) => {
    const flow = await newFlow(sandboxed)
    const { status } = await flow.login(name)
    // The login call may return before or after the login fails.
    expect(name === 'down' ? [200, 503] : [200, 401, 423]).toContain(status)
    if (name !== 'down') await expectNoTrace(sandboxed, flow.tenant)
    const unfinished = () =>
      flow.tenant.handle.db
        .selectFrom('social_sessions')
        .select('session_id')
        .where('finished_at', 'is', null)
        .execute()
    await expect.poll(unfinished, { timeout: 50_000 }).toEqual([])
    await expectNoTrace(sandboxed, flow.tenant)
  })

  test('while waiting for a code, after wrong ones, and after the timeout', async () => {
    const flow = await newFlow(sandboxed)
    const { body } = await flow.login('2fa')
    const session = body.login_result.session_id
    await flow.until(session, 'awaiting_2fa')
    await expectNoTrace(sandboxed, flow.tenant)
    const wrong = await flow.code(session, WRONG_CODE)
    expect([wrong.status, JSON.stringify(wrong.body).includes(WRONG_CODE)]).toEqual([401, false])
    await expectNoTrace(sandboxed, flow.tenant)
    ahead += 600_000
    expect((await flow.status(session)).body.status).toBe('failed')
    await expectNoTrace(sandboxed, flow.tenant)
  })

  test('the database rejects a secret of a finished login', async () => {
    const flow = await newFlow(sandboxed)
    await flow.login('ada')
    const keep = flow.tenant.handle.db.updateTable('social_sessions').set({ code_sealed: 'v1.x.y' }).execute()
    await expect(keep).rejects.toThrow(/check constraint/)
  })
})

describe('with a gateway', () => {
  let gateway: TestGateway
  let gated: TestService
  beforeAll(async () => {
    const certificate = makeCertificate()
    gateway = await startGateway(certificate)
    gated = await startTestService(gateway.environment, { clock, outbound: { ca: certificate.certificate } })
  })
  afterAll(async () => {
    await gated?.close()
    await gateway?.close()
  })

  test.each(['ada', 'wrong', 'locked', 'odd'])('none remains after %s', async (name) => {
    const flow = await newFlow(gated)
    await flow.login(name)
    await expectNoTrace(gated, flow.tenant)
  })

  test('none remains if the gateway echoes the request', async () => {
    gateway.overrides.set('/v1/logins/begin', (response, { body }) => {
      response.end(JSON.stringify({ state: 'failed', reason: `no: ${body.password}`, error: body.password }))
    })
    const flow = await newFlow(gated)
    const { body } = await flow.login('ada')
    expect(JSON.stringify(body)).not.toContain(PASSWORD)
    await expectNoTrace(gated, flow.tenant)
    for (const echo of [`<h1>${PASSWORD}</h1>`, JSON.stringify({ state: PASSWORD })]) {
      gateway.overrides.set('/v1/logins/begin', (response) => response.end(echo))
      const other = await newFlow(gated)
      expect(JSON.stringify((await other.login('ada')).body)).not.toContain(PASSWORD)
      await expectNoTrace(gated, other.tenant)
    }
    gateway.overrides.clear()
  })

  test('they are stored encrypted until the gateway receives them, and erased when the login expires', async () => {
    // The password may be needed again until the gateway responds.
    gateway.overrides.set('/v1/logins/begin', () => {})
    const flow = await newFlow(gated)
    const login = flow.login('ada')
    const sealed = () =>
      flow.tenant.handle.db.selectFrom('social_sessions').select(['status', 'credentials_sealed']).execute()
    await expect.poll(sealed).toEqual([{ status: 'running', credentials_sealed: expect.stringMatching(/^v1\./) }])
    await expectNoTrace(gated, flow.tenant)
    ahead += 600_000
    await sweepLogins({ ...gated, clock: () => new Date(Date.now() + ahead) })
    expect(await sealed()).toEqual([{ status: 'failed', credentials_sealed: null }])
    gateway.overrides.clear()
    expect([200, 408]).toContain((await login).status)
    await expectNoTrace(gated, flow.tenant)
  })

  test('an encrypted password cannot be decrypted for another session', async () => {
    gateway.overrides.set('/v1/logins/begin', () => {})
    const flow = await newFlow(gated)
    const login = flow.login('ada')
    const row = () =>
      flow.tenant.handle.db.selectFrom('social_sessions').select('credentials_sealed').executeTakeFirst()
    await expect.poll(row).toBeDefined()
    const { credentials_sealed } = (await row()) ?? {}
    const place = `${flow.tenant.id}/another-session/social-credentials`
    expect(() => gated.secrets.open(credentials_sealed ?? '', place)).toThrow()
    gateway.overrides.clear()
    // The hanging call times out after ten seconds, and the retry gets a response.
    await login
  })
})
