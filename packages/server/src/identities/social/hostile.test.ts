import { beforeAll, describe, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { newId } from '../../platform/ids.ts'
import { parseCountry } from './requests.ts'

let service: TestService
let tenant: TestTenant
let identityId: string
let flow: ReturnType<typeof socialOf>

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  identityId = await createIdentity(tenant)
  flow = socialOf(tenant, identityId)
})

const CREDENTIALS = { username: 'ada@example.com', password: 'a password' }

test.each([
  [undefined, 'username'],
  [{}, 'username'],
  [{ country: 'DE' }, 'username'],
  [{ username: 'ada@example.com' }, 'password'],
  [{ password: 'a password' }, 'username'],
  [{ ...CREDENTIALS, username: ' ' }, 'username'],
  [{ ...CREDENTIALS, username: '' }, 'username'],
  [{ ...CREDENTIALS, password: '' }, 'password'],
  [{ ...CREDENTIALS, password: null }, 'password'],
  [{ ...CREDENTIALS, password: 'x'.repeat(1_001) }, 'password'],
  [{ ...CREDENTIALS, password: 'nul \u0000' }, 'password'],
  [{ ...CREDENTIALS, password: 'half \ud800' }, 'password'],
  [{ ...CREDENTIALS, username: 7 }, 'username'],
  [{ ...CREDENTIALS, country: 'XX' }, 'country'],
  [{ ...CREDENTIALS, country: 'EU' }, 'country'],
  [{ ...CREDENTIALS, country: 'ß' }, 'country'],
  [{ ...CREDENTIALS, country: 'USA' }, 'country'],
  [{ ...CREDENTIALS, country: '' }, 'country'],
  [{ ...CREDENTIALS, max_verification_wait_time: 0 }, 'max_verification_wait_time'],
  [{ ...CREDENTIALS, max_verification_wait_time: 3_601 }, 'max_verification_wait_time'],
  [{ ...CREDENTIALS, max_verification_wait_time: -1e308 }, 'max_verification_wait_time'],
  [{ ...CREDENTIALS, max_verification_wait_time: '600' }, 'max_verification_wait_time'],
  [{ ...CREDENTIALS, more: 1 }, 'more'],
  [[], ''],
])('the login body %j is 400 at %j, and nothing is queued', async (body, path) => {
  const { status, body: received } = await flow.login(body)
  expect([status, received.error.code, received.error.details[0].path]).toEqual([400, 'validation_error', path])
  expect(await tenant.handle.db.selectFrom('social_sessions').select('session_id').execute()).toEqual([])
})

test('the error for a rejected body does not contain the password', async () => {
  const password = 'never-repeat-me'
  for (const body of [
    { password },
    { ...CREDENTIALS, password: [password] },
    { ...CREDENTIALS, password, country: 'XX' },
  ]) {
    expect(JSON.stringify((await flow.login(body)).body)).not.toContain(password)
  }
})

test('only ISO 3166-1 countries are accepted, in either case', () => {
  for (const code of ['US', 'us', 'De', 'AX', 'ZW']) expect(parseCountry(code)).toBe(code.toUpperCase())
  for (const code of ['UK', 'XK', 'EU', 'AN', 'SU', 'U', '', 'ſs', 'U5', 'U\n'])
    expect(parseCountry(code), code).toBeNull()
})

describe('with a session that awaits a code', () => {
  let session: string
  beforeAll(async () => {
    session = await flow.begin('2fa@example.com')
    await flow.until(session, 'awaiting_2fa')
  })

  test.each([
    [undefined],
    [null],
    [''],
    ['123'],
    ['1'.repeat(13)],
    ['12 456'],
    ['12345\n'],
    ['①②③④'],
    [123456],
    [['123456']],
  ])('the code %j is 400', async (code) => {
    const { status, body } = await flow.code(session, code)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', 'code'])
  })

  test('no body is 400, and an unknown field is too', async () => {
    expect((await tenant.call('POST', `${flow.base}/code/${session}`)).status).toBe(400)
    expect((await tenant.call('POST', `${flow.base}/code/${session}`, { code: '123456', x: 1 })).status).toBe(400)
  })

  test('the session is 404 for another identity and another tenant, under both path names', async () => {
    const stranger = await createTestTenant(service)
    const mine = await createIdentity(tenant)
    const theirs = await createIdentity(stranger)
    const places = [
      socialOf(tenant, mine),
      socialOf(stranger, theirs),
      socialOf(stranger, identityId),
      socialOf(stranger, identityId, 'linkedin'),
      socialOf(tenant, newId()),
      socialOf(tenant, 'no-id'),
    ]
    for (const other of places) {
      for (const response of [await other.status(session), await other.code(session, '123456')]) {
        expect([response.status, response.body.error.code]).toEqual([404, 'not_found'])
      }
    }
    for (const id of [newId(), 'x', '%00', "'--"]) expect((await flow.status(id)).status).toBe(404)
    for (const other of [socialOf(stranger, identityId), socialOf(tenant, newId()), socialOf(tenant, '7')]) {
      expect((await other.check()).status).toBe(404)
      expect((await other.login(CREDENTIALS)).status).toBe(404)
    }
    expect((await flow.status(session)).body.status).toBe('awaiting_2fa')
  })

  test('of concurrent codes one is submitted, and the others are 409', async () => {
    const responses = await Promise.all(Array.from({ length: 6 }, () => flow.code(session, '123456')))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    const login = await tenant.handle.db
      .selectFrom('social_sandbox_logins')
      .select('codes')
      .where('session_id', '=', session)
      .execute()
    expect(login).toEqual([{ codes: 1 }])
  })
})

test('deleting the identity ends its login', async () => {
  const id = await createIdentity(tenant)
  const gone = socialOf(tenant, id)
  const session = await gone.begin('timeout@example.com')
  await tenant.handle.db.deleteFrom('identities').where('identity_id', '=', id).execute()
  expect((await gone.status(session)).status).toBe(404)
  expect((await gone.check()).status).toBe(404)
})

test('a login completes after its caller disconnects', async () => {
  const id = await createIdentity(tenant)
  const patient = socialOf(tenant, id)
  const giving = new AbortController()
  const request = fetch(`${service.url}${patient.base}/login`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'slow@example.com', password: 'x' }),
    signal: giving.signal,
  })
  const sessions = () =>
    tenant.handle.db.selectFrom('social_sessions').select('session_id').where('identity_id', '=', id).execute()
  await expect.poll(sessions).toHaveLength(1)
  giving.abort()
  await expect(request).rejects.toThrow()
  const [row] = await sessions()
  await patient.until(row?.session_id ?? '', 'completed')
})

test('a key without identities:write cannot check', async () => {
  const key = await tenant.keyWith('identities:read')
  const headers = { authorization: `Bearer ${key}` }
  expect((await call(service, 'GET', `${flow.base}/check`, { headers })).body.error.code).toBe('insufficient_scope')
})
