import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificate } from '../../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { startGateway, type TestGateway } from '../../../test/social-gateway.ts'
import { readConfig } from '../../config.ts'
import { sendSocialConnect, sendSocialMessage } from './send.ts'

let gateway: TestGateway
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  const certificate = makeCertificate()
  gateway = await startGateway(certificate)
  service = await startTestService(gateway.environment, { outbound: { ca: certificate.certificate } })
  tenant = await createTestTenant(service)
})
afterEach(() => {
  gateway.overrides.clear()
  gateway.asked.length = 0
})
afterAll(async () => {
  await service?.close()
  await gateway?.close()
})

async function newFlow() {
  const identityId = await createIdentity(tenant)
  return { identityId, ...socialOf(tenant, identityId) }
}

const CREDENTIALS = { username: 'ada@example.com', password: 'pass word' }

test('a login is sent to the gateway as documented, and connects the identity', async () => {
  const flow = await newFlow()
  const { body } = await flow.login({ ...CREDENTIALS, country: 'fr', max_verification_wait_time: 90 })
  expect(body.message).not.toContain('sandbox')
  const { session_id } = body.login_result
  const done = await flow.until(session_id, 'completed')
  expect(done.body.profile_id).toBe('profile-ada')
  expect(gateway.asked).toEqual([
    {
      path: '/v1/logins/begin',
      key: session_id,
      body: {
        ...CREDENTIALS,
        tenant_id: tenant.id,
        login_id: session_id,
        profile_id: null,
        country: 'FR',
        expires_in_seconds: expect.any(Number),
      },
    },
  ])
  expect(gateway.asked[0]?.body.expires_in_seconds).toBeLessThanOrEqual(90)
  expect((await flow.check()).body).toMatchObject({ connected: true, profile_id: 'profile-ada' })
  expect(gateway.asked.at(-1)).toEqual({
    path: '/v1/profiles/check',
    key: undefined,
    body: { tenant_id: tenant.id, profile_id: 'profile-ada' },
  })
  const again = await flow.login()
  await flow.until(again.body.login_result.session_id, 'completed')
  const { body: renewal } = gateway.askedOf('/v1/logins/begin').at(-1) ?? {}
  expect(renewal).toMatchObject({ profile_id: 'profile-ada', country: 'US' })
  expect(renewal).not.toHaveProperty('password')
})

test('a code is sent to the gateway with its number; a wrong one is 401', async () => {
  const flow = await newFlow()
  const session = await flow.begin('2fa@example.com')
  await flow.until(session, 'awaiting_2fa')
  expect((await flow.code(session, '111111')).status).toBe(401)
  expect((await flow.code(session, '424242')).body.login_result.status).toBe('completed')
  expect(gateway.askedOf('/v1/logins/code').map(({ key, body }) => [key, body.code, body.code_number])).toEqual([
    [`${session}-1`, '111111', 1],
    [`${session}-2`, '424242', 2],
  ])
  expect(gateway.askedOf('/v1/logins/begin')).toHaveLength(1)
})

test.each([
  ['wrong', 401, 'credentials_rejected'],
  ['locked', 423, 'account_locked'],
  ['odd', 409, 'login_refused'],
])('the login of %s is rejected with %d', async (name, status, code) => {
  const flow = await newFlow()
  const { status: received, body } = await flow.login({ ...CREDENTIALS, username: `${name}@example.com` })
  expect([received, body.error.code]).toEqual([status, code])
})

describe('a gateway that', () => {
  test.each([[500], [503], [429], [408]])(
    'responds with %d at first is called again, for the same login',
    async (status) => {
      let times = 0
      const path = '/v1/logins/begin'
      gateway.overrides.set(path, (response) => {
        if (++times === 2) gateway.overrides.delete(path)
        response.writeHead(status).end('busy')
      })
      const flow = await newFlow()
      await flow.until(await flow.begin('ada@example.com'), 'completed')
      const keys = gateway.askedOf(path).map(({ key }) => key)
      expect(keys).toHaveLength(3)
      expect(new Set(keys).size).toBe(1)
    },
  )

  test('breaks the connection is called again', async () => {
    let times = 0
    gateway.overrides.set('/v1/logins/begin', (response) => {
      if (++times === 2) gateway.overrides.delete('/v1/logins/begin')
      response.destroy()
    })
    const flow = await newFlow()
    await flow.until(await flow.begin('ada@example.com'), 'completed')
  })

  test.each([
    ['HTML', '<html>hello</html>'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['an unknown state', '{"state":"dancing"}'],
    ['a login without a profile', '{"state":"completed"}'],
    ['a profile that is not a string', '{"state":"completed","profile_id":{"$ne":1}}'],
    ['a profile with control characters', '{"state":"completed","profile_id":"a\\u0000b"}'],
    ['a huge profile', JSON.stringify({ state: 'completed', profile_id: 'x'.repeat(201) })],
    ['a failure without a reason', '{"state":"failed"}'],
    ['20 kB', JSON.stringify({ state: 'completed', profile_id: 'x', more: 'x'.repeat(20_000) })],
  ])('responds with %s fails the login with network_unavailable', async (_, text) => {
    gateway.overrides.set('/v1/logins/begin', (response) => response.end(text))
    const flow = await newFlow()
    const { status, headers, body } = await flow.login(CREDENTIALS)
    expect([status, body.error.code]).toEqual([503, 'network_unavailable'])
    expect(headers.get('retry-after')).toBe('30')
    expect(gateway.asked).toHaveLength(1)
    const [{ message: session }] = body.error.details
    expect((await flow.status(session)).body).toMatchObject({
      status: 'failed',
      error: { code: 'network_unavailable' },
    })
    const late = await flow.code(session, '123456')
    expect([late.status, late.body.error.code]).toEqual([409, 'network_unavailable'])
  })

  test.each([[301], [400], [401], [403], [404], [422]])('responds with %d is not called again', async (status) => {
    gateway.overrides.set('/v1/logins/begin', (response) => {
      response.writeHead(status, { location: '/elsewhere' }).end('{}')
    })
    const flow = await newFlow()
    expect((await flow.login(CREDENTIALS)).body.error.code).toBe('network_unavailable')
    expect(gateway.asked).toHaveLength(1)
  })

  test('stays unavailable fails the login after several attempts', async () => {
    gateway.overrides.set('/v1/logins/begin', (response) => response.writeHead(503).end())
    const flow = await newFlow()
    // The login call may return before or after the login fails.
    const { body } = await flow.login(CREDENTIALS)
    const session = body.login_result?.session_id ?? body.error.details[0].message
    const codeOf = async () => (await flow.status(session)).body.error?.code
    await expect.poll(codeOf, { timeout: 50_000 }).toBe('network_unavailable')
    expect(new Set(gateway.asked.map(({ body }) => body.login_id))).toEqual(new Set([session]))
    expect(gateway.asked).toHaveLength(9)
  })

  test.each([
    ['does not respond', (end: () => void) => end(), 3],
    ['gives an invalid response', null, 1],
  ])('%s makes a check 503 and keeps the stored state', async (_, breaks, times) => {
    const flow = await newFlow()
    await flow.until(await flow.begin('ada@example.com'), 'completed')
    const path = '/v1/profiles/check'
    gateway.overrides.set(path, (response) => {
      if (breaks) breaks(() => response.destroy())
      else response.end('{"connected":"yes"}')
    })
    const { status, body } = await flow.check()
    expect([status, body.error.code]).toEqual([503, 'social_unavailable'])
    expect(gateway.askedOf(path)).toHaveLength(times)
    const profile = await tenant.handle.db
      .selectFrom('social_profiles')
      .select('connected')
      .where('identity_id', '=', flow.identityId)
      .execute()
    expect(profile).toEqual([{ connected: true }])
  })
})

test('messages and invitations are sent with their key, and refusals have their own codes', async () => {
  const flow = await newFlow()
  await flow.until(await flow.begin('ada@example.com'), 'completed')
  const dependencies = { social: service.social, clock: () => new Date() }
  const message = { recipientProfileUrl: 'https://social.example/in/bob', message: 'Hello', idempotencyKey: 'one' }
  const send = (changes: object) =>
    sendSocialMessage(tenant.handle, dependencies, flow.identityId, { ...message, ...changes })
  const first = await send({})
  expect(await send({})).toEqual(first)
  expect(gateway.askedOf('/v1/messages/send')[0]).toEqual({
    path: '/v1/messages/send',
    key: `${tenant.id}-one`,
    body: {
      tenant_id: tenant.id,
      profile_id: 'profile-ada',
      recipient_profile_url: message.recipientProfileUrl,
      message: 'Hello',
    },
  })
  const refused = { status: 409, code: 'social_refused' }
  const nobody = 'https://social.example/in/nobody'
  await expect(send({ recipientProfileUrl: nobody })).rejects.toMatchObject(refused)
  await expect(send({ recipientProfileUrl: 'https://social.example/odd' })).rejects.toMatchObject(refused)
  const invitation = { recipientProfileUrl: message.recipientProfileUrl, note: 'Hi', idempotencyKey: 'two' }
  const sent = await sendSocialConnect(tenant.handle, dependencies, flow.identityId, invitation)
  expect(sent.external_id).not.toBe(first.external_id)
  expect(gateway.askedOf('/v1/invitations/send')[0]?.body).toMatchObject({ note: 'Hi' })
  gateway.overrides.set('/v1/messages/send', (response) => response.end('{"outcome":"sent"}'))
  await expect(send({ idempotencyKey: 'three' })).rejects.toMatchObject({ status: 503, code: 'social_unavailable' })
  gateway.overrides.clear()

  const gone = await newFlow()
  await gone.until(await gone.begin('gone@example.com'), 'completed')
  const late = sendSocialMessage(tenant.handle, dependencies, gone.identityId, message)
  await expect(late).rejects.toMatchObject({ status: 409, code: 'social_session_expired' })
  expect((await gone.check()).body.connected).toBe(false)
})

describe('the configuration', () => {
  const GATEWAY = { CDS_SOCIAL_GATEWAY_URL: 'https://gateway.example.com/x', CDS_SOCIAL_GATEWAY_TOKEN: 'a-token' }

  test('defaults to the gateway if one is configured, else to the sandbox', () => {
    expect(readConfig({}).socialGateway).toBeNull()
    expect(readConfig(GATEWAY).socialGateway).toEqual({ url: 'https://gateway.example.com/x', token: 'a-token' })
    expect(readConfig({ ...GATEWAY, CDS_SOCIAL_CONNECTOR: 'sandbox' }).socialGateway).toBeNull()
  })

  test.each([
    { CDS_SOCIAL_CONNECTOR: 'http' },
    { CDS_SOCIAL_CONNECTOR: 'smoke' },
    { CDS_SOCIAL_GATEWAY_URL: GATEWAY.CDS_SOCIAL_GATEWAY_URL },
    { ...GATEWAY, CDS_SOCIAL_GATEWAY_URL: 'http://gateway.example.com' },
    { ...GATEWAY, CDS_SOCIAL_GATEWAY_TOKEN: 'a secret token' },
  ])('%j is refused without repeating the token', (environment) => {
    expect(() => readConfig(environment)).toThrow(/CDS_SOCIAL_/)
    expect(() => readConfig(environment)).not.toThrow(/a secret token/)
  })
})
