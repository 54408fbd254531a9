import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { newId } from '../../platform/ids.ts'
import { HOUR_MS } from '../../platform/time.ts'
import { socialStates } from './profiles.ts'

let service: TestService
let tenant: TestTenant
/** The frozen time of the service's clock; null while it runs. */
let frozenAt: Date | null = null

beforeAll(async () => {
  service = await startTestService({}, { clock: () => frozenAt ?? new Date() })
  tenant = await createTestTenant(service)
})
afterEach(() => {
  frozenAt = null
})
afterAll(() => service.close())

/** Freezes the clock at a time relative to the start of a session, however long the test has taken so far. */
async function freezeAt(sessionId: string, milliseconds: number): Promise<void> {
  const { created_at } = await tenant.handle.db
    .selectFrom('social_sessions')
    .select('created_at')
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
  frozenAt = new Date(created_at.getTime() + milliseconds)
}

const newFlow = async (network?: string) => {
  const identityId = await createIdentity(tenant)
  return { identityId, ...socialOf(tenant, identityId, network) }
}

/** The audit entries of an identity, oldest first. */
async function auditOf(identityId: string) {
  const rows = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'actor', 'details'])
    .where('subject_id', '=', identityId)
    .orderBy('entry_id')
    .execute()
  return rows.map(({ action, actor, details }) => ({ action, actor, ...(details as object) }))
}

describe.each(['social', 'linkedin'])('under /%s', (network) => {
  test('a login is queued, completes, and makes the identity connected', async () => {
    const flow = await newFlow(network)
    const { status, body } = await flow.login({
      username: 'ada@example.com',
      password: 'a password',
      country: 'gb',
      max_verification_wait_time: 120.5,
    })
    expect(status).toBe(200)
    const { session_id } = body.login_result
    expect(body).toMatchObject({
      status: 'success',
      message: expect.stringContaining('sandbox'),
      identity_id: flow.identityId,
      login_result: { profile_id: null, status: 'queued' },
    })
    const done = await flow.until(session_id, 'completed')
    const { profile_id } = done.body
    expect(profile_id).toMatch(/^sandbox-ok-/)
    expect(done.body).toEqual({
      status: 'completed',
      session_id,
      identity_id: flow.identityId,
      profile_id,
      login_result: { profile_id, session_id, status: 'completed' },
    })
    const checked = await flow.check()
    expect(checked.body).toEqual({ status: 'success', connected: true, profile_id, checked_at: expect.any(String) })
    const states = await socialStates(tenant.handle, [flow.identityId, newId()])
    expect([...states.values()]).toEqual([
      { connected: true, profile_id, checked_at: checked.body.checked_at },
      { connected: false, profile_id: null, checked_at: null },
    ])
    expect(await auditOf(flow.identityId)).toEqual([
      expect.objectContaining({ action: 'identity.social_login_started', session_id, connector: 'sandbox' }),
      expect.objectContaining({
        action: 'identity.social_connected',
        actor: expect.objectContaining({ kind: 'api_key' }),
        profile_id,
      }),
    ])
  })

  test('a login waits for a two-factor code, which may be wrong twice (401)', async () => {
    const flow = await newFlow(network)
    const session = await flow.begin('2fa@example.com')
    const asked = await flow.until(session, 'awaiting_2fa')
    expect(asked.body).not.toHaveProperty('error')
    for (let i = 0; i < 2; i++) {
      const wrong = await flow.code(session, '000000')
      expect([wrong.status, wrong.body.error.code]).toEqual([401, 'code_rejected'])
      const again = await flow.status(session)
      expect(again.body).toMatchObject({ status: 'awaiting_2fa', error: { code: 'code_rejected', http_status: 401 } })
    }
    const right = await flow.code(session, '123456')
    expect([right.status, right.body]).toEqual([
      200,
      {
        status: 'success',
        session_id: session,
        login_result: { profile_id: expect.any(String), session_id: session, status: 'completed' },
      },
    ])
    expect((await flow.status(session)).body).not.toHaveProperty('error')
    const late = await flow.code(session, '123456')
    expect([late.status, late.body.error.code]).toEqual([409, 'no_code_awaited'])
  })
})

test('an identity with a stored profile logs in again without credentials, and without a body', async () => {
  const flow = await newFlow()
  const first = await flow.until(await flow.begin('ada@example.com'), 'completed')
  const again = await flow.login()
  expect(again.body.login_result).toMatchObject({ profile_id: first.body.profile_id, status: 'queued' })
  const done = await flow.until(again.body.login_result.session_id, 'completed')
  expect(done.body.profile_id).toBe(first.body.profile_id)
  const other = await flow.until(await flow.begin('charles@example.com'), 'completed')
  expect(other.body.profile_id).not.toBe(first.body.profile_id)
})

test('the next check detects an expired session, which cannot be renewed without credentials', async () => {
  const flow = await newFlow()
  await flow.until(await flow.begin('expired@example.com'), 'completed')
  expect((await socialStates(tenant.handle, [flow.identityId])).get(flow.identityId)?.connected).toBe(true)
  expect((await flow.check()).body.connected).toBe(false)
  expect((await socialStates(tenant.handle, [flow.identityId])).get(flow.identityId)?.connected).toBe(false)
  const again = await flow.login({})
  expect([again.status, again.body.error.code]).toEqual([401, 'credentials_rejected'])
  await flow.until(await flow.begin('ada@example.com'), 'completed')
  expect((await flow.check()).body.connected).toBe(true)
})

test.each([
  ['wrong@example.com', 401, 'credentials_rejected'],
  ['LOCKED@example.com', 423, 'account_locked'],
])(
  'the rejection of %s is returned by the login call, and by the status call as a failed session',
  async (username, status, code) => {
    const flow = await newFlow()
    const refused = await flow.login({ username, password: 'a password' })
    expect([refused.status, refused.body.error.code]).toEqual([status, code])
    const [{ path, message: sessionId }] = refused.body.error.details
    expect(path).toBe('session_id')
    const current = await flow.status(sessionId)
    expect([current.status, current.body]).toEqual([
      200,
      expect.objectContaining({
        status: 'failed',
        profile_id: null,
        error: { code, message: expect.any(String), http_status: status },
        login_result: { profile_id: null, session_id: sessionId, status: 'failed' },
      }),
    ])
    const late = await flow.code(sessionId, '123456')
    expect([late.status, late.body.error.code]).toEqual([status, code])
    expect((await flow.check()).body).toMatchObject({ connected: false, profile_id: null })
    expect((await auditOf(flow.identityId)).at(-1)).toMatchObject({ action: 'identity.social_login_failed', code })
  },
)

describe('a two-factor code', () => {
  test('that is wrong three times fails the login', async () => {
    const flow = await newFlow()
    const session = await flow.begin('2fa+three@example.com')
    await flow.until(session, 'awaiting_2fa')
    for (let i = 0; i < 3; i++) expect((await flow.code(session, '999999')).status).toBe(401)
    expect((await flow.status(session)).body).toMatchObject({ status: 'failed', error: { code: 'code_rejected' } })
    expect((await flow.code(session, '123456')).status).toBe(401)
  })

  test('can lock the account: 423', async () => {
    const flow = await newFlow()
    const session = await flow.begin('2fa-locked@example.com')
    await flow.until(session, 'awaiting_2fa')
    const locked = await flow.code(session, '123456')
    expect([locked.status, locked.body.error.code]).toEqual([423, 'account_locked'])
  })

  test('that arrives after the deadline is 408, and the session has failed', async () => {
    const flow = await newFlow()
    const session = await flow.begin('2fa@example.com', { max_verification_wait_time: 3_600 })
    await flow.until(session, 'awaiting_2fa')
    await freezeAt(session, 3_599_999)
    expect((await flow.status(session)).body.status).toBe('awaiting_2fa')
    await freezeAt(session, HOUR_MS)
    const late = await flow.code(session, '123456')
    expect([late.status, late.body.error.code]).toEqual([408, 'verification_timed_out'])
    expect((await flow.status(session)).body).toMatchObject({
      status: 'failed',
      error: { code: 'verification_timed_out', http_status: 408 },
    })
    expect((await auditOf(flow.identityId)).at(-1)).toMatchObject({ actor: { kind: 'service' } })
  })

  test('that was not requested is 409', async () => {
    const flow = await newFlow()
    const session = await flow.begin('email@example.com')
    await flow.until(session, 'awaiting_email')
    const response = await flow.code(session, '123456')
    expect([response.status, response.body.error.code]).toEqual([409, 'no_code_awaited'])
    await flow.until(session, 'completed')
  })
})

test('a login whose link is never followed times out after 600 seconds', async () => {
  const flow = await newFlow()
  const session = await flow.begin('timeout@example.com')
  await flow.until(session, 'awaiting_email')
  await freezeAt(session, 599_999)
  expect((await flow.status(session)).body.status).toBe('awaiting_email')
  await freezeAt(session, 600_000)
  expect((await flow.status(session)).body).toMatchObject({ status: 'failed', error: { http_status: 408 } })
})

test('a login at a slow network is running', async () => {
  const flow = await newFlow()
  const login = flow.login({ username: 'slow@example.com', password: 'x' })
  const running = () =>
    tenant.handle.db.selectFrom('social_sessions').select('status').where('identity_id', '=', flow.identityId).execute()
  await expect.poll(running).toEqual([{ status: 'running' }])
  const { status, body } = await login
  expect(status).toBe(200)
  await flow.until(body.login_result.session_id, 'completed')
})

test('a later login replaces the one in progress', async () => {
  const flow = await newFlow()
  const first = await flow.begin('2fa@example.com')
  const second = await flow.begin('email@example.com')
  expect((await flow.status(first)).body).toMatchObject({ status: 'failed', error: { code: 'superseded' } })
  const late = await flow.code(first, '123456')
  expect([late.status, late.body.error.code]).toEqual([409, 'superseded'])
  expect(await auditOf(flow.identityId)).toContainEqual(
    expect.objectContaining({ action: 'identity.social_login_superseded', session_id: first }),
  )
  await flow.until(second, 'completed')
})

test('a caller that waits for a login gets 409 when a later one replaces it', async () => {
  const flow = await newFlow()
  const waiting = flow.login({ username: 'slow@example.com', password: 'x' })
  const sessions = () =>
    tenant.handle.db
      .selectFrom('social_sessions')
      .select('session_id')
      .where('identity_id', '=', flow.identityId)
      .execute()
  await expect.poll(sessions).toHaveLength(1)
  await flow.begin('ada@example.com')
  const { status, body } = await waiting
  expect([status, body.error.code]).toEqual([409, 'superseded'])
})

test('of concurrent logins one remains, and it completes', async () => {
  const flow = await newFlow()
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => flow.login({ username: 'a@b.example', password: 'x' })),
  )
  expect(new Set(responses.map(({ status }) => status))).toEqual(
    new Set(responses.some(({ status }) => status === 409) ? [200, 409] : [200]),
  )
  const sessions = await tenant.handle.db
    .selectFrom('social_sessions')
    .select(['status', 'error_code'])
    .where('identity_id', '=', flow.identityId)
    .execute()
  expect(sessions).toHaveLength(8)
  expect(sessions.filter(({ status }) => !['completed', 'failed'].includes(status))).toEqual([])
  expect(sessions.filter(({ status }) => status === 'completed').length).toBeGreaterThan(0)
  expect(new Set(sessions.map(({ error_code }) => error_code))).not.toContain('network_unavailable')
})
