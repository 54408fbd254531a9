import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  allow,
  authorizationRequest,
  CALLBACK,
  McpApp,
  register,
  sendForm,
  startOAuthService,
  whoCalls,
} from '../../../test/oauth.ts'
import { type Browser, signedIn } from '../../../test/people.ts'
import { deleteOldOf } from '../../../test/retention.ts'
import { call, createTestTenant, type TestService, type TestTenant } from '../../../test/service.ts'
import { deleteRowsOfTenant } from '../../closing/delete-rows.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts'

let service: TestService
let tenant: TestTenant
let owner: Browser & { userId: string }
let passed = 0

beforeAll(async () => {
  service = await startOAuthService({}, { clock: () => new Date(Date.now() + passed) })
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())
beforeEach(async () => {
  passed = 0
  // Tests that move the clock end sessions.
  owner = await signedIn(service, tenant.id, 'owner')
})

/** A person of the tenant whom a test changes. */
const member = () => signedIn(service, tenant.id, 'member')

/** A new application. @returns its id. */
const registered = async () => (await register(service)).body.client_id as string

/** The parameters with which an application exchanges the code that a person gave it. */
async function codeFor(browser: Browser, scopes = ['contacts:read'], clientId?: string) {
  const client_id = clientId ?? (await registered())
  const { query, verifier } = authorizationRequest(service, client_id)
  const { body } = await allow(browser, query, tenant.id, { scopes })
  const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
  return { grant_type: 'authorization_code', client_id, code, code_verifier: verifier, redirect_uri: CALLBACK }
}

const token = (parameters: Record<string, string>) => sendForm(service, '/oauth/token', parameters)

/** An application that a person has connected. */
async function connected(browser: Browser, scopes?: string[], clientId?: string) {
  const parameters = await codeFor(browser, scopes, clientId)
  const { status, body } = await token(parameters)
  expect([status, body.error_description]).toEqual([200, undefined])
  const refresh = (refresh_token: string = body.refresh_token) =>
    token({ grant_type: 'refresh_token', client_id: parameters.client_id, refresh_token })
  return {
    parameters,
    client_id: parameters.client_id,
    access: body.access_token as string,
    refreshToken: body.refresh_token as string,
    refresh,
  }
}

/** The status of a call with an access token. */
const statusOf = async (access: string) => (await whoCalls(service, access)).status

/** The id of the grant behind an access token. */
const grantOf = async (access: string): Promise<string> => (await whoCalls(service, access)).body.caller_id

/** The codes and tokens of a grant that are kept. */
const tokensOf = (grantId: string) =>
  service.stores.database.selectFrom('oauth_tokens').select('token_id').where('grant_id', '=', grantId).execute()

/** The audit entry of an action on a grant. */
const auditOf = async (action: string, grantId: string) => {
  const { body } = await owner.call('GET', `/v1/audit-log?action=${action}&subject_id=${grantId}`)
  return body.entries[0]
}

test('the official client finds its way from the refusal to tokens, calls, and refreshes them', async () => {
  const app = new McpApp(service)
  const query = await app.connect()
  const page = await owner.call('GET', `/api/oauth/authorization?query=${encodeURIComponent(query)}`)
  expect(page.body.consent).toMatchObject({
    application: 'Claude',
    redirect_host: '127.0.0.1:33418',
    is_local: true,
    active_tenant_id: tenant.id,
    tenants: [{ tenant_id: tenant.id, name: 'Test', scopes: expect.arrayContaining(['contacts:write']) }],
  })
  expect(page.body.consent.requested_scopes).toContain('events:read')
  expect(page.body.consent.requested_scopes).not.toContain('contacts:write')

  const scopes = ['contacts:read', 'contacts:write']
  const { body } = await allow(owner, query, tenant.id, { scopes, redact_personal_data: false })
  expect(new URL(body.redirect_to).searchParams.get('state')).toBe('a state & its = signs')
  const held = await app.comeBack(body.redirect_to)
  expect(held).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: scopes.join(' ') })
  const who = await whoCalls(service, held.access_token)
  expect(who.body).toMatchObject({
    tenant_id: tenant.id,
    actor: { kind: 'user', id: owner.userId, name: 'The owner (via Claude)' },
    scopes,
    redacts: false,
  })

  passed = 61 * MINUTE_MS
  expect(await statusOf(held.access_token)).toBe(401)
  const renewed = await app.refresh()
  expect(renewed.refresh_token).not.toBe(held.refresh_token)
  expect(await statusOf(renewed.access_token)).toBe(200)

  const { body: listed } = await owner.call('GET', '/v1/connected-apps')
  expect(listed.connected_apps[0]).toMatchObject({
    name: 'Claude',
    redirect_host: '127.0.0.1:33418',
    user: { user_id: owner.userId, name: 'The owner' },
    scopes,
    redact_personal_data: false,
    last_used_at: expect.any(String),
  })
  expect(await auditOf('connected_app.authorized', listed.connected_apps[0].grant_id)).toMatchObject({
    actor: { kind: 'user', id: owner.userId },
    details: { name: 'Claude', scopes, redact_personal_data: false },
  })
  const log = service.logged.join('')
  for (const secret of [held.access_token, held.refresh_token ?? '', new URL(body.redirect_to).search]) {
    expect(log).not.toContain(secret)
  }
})

test('the metadata names the endpoints, and pages of other sites may read it and call them', async () => {
  const { publicUrl } = service.config
  const cors = { origin: 'https://inspector.example' }
  for (const path of ['', '/mcp']) {
    const resource = await call(service, 'GET', `/.well-known/oauth-protected-resource${path}`, { headers: cors })
    expect(resource.body).toMatchObject({ resource: `${publicUrl}/mcp`, authorization_servers: [publicUrl] })
    expect(resource.headers.get('access-control-allow-origin')).toBe('*')
  }
  const { body } = await call(service, 'GET', '/.well-known/oauth-authorization-server')
  expect(body).toMatchObject({
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ['none'],
  })
  for (const path of ['/oauth/register', '/oauth/token', '/oauth/revoke']) {
    const preflight = await call(service, 'OPTIONS', path, { headers: cors })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('content-type'),
    ])
    const response = await sendForm(service, path, {})
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  }
})

describe('a registration', () => {
  test.each([
    ['http://attacker.example/cb'],
    ['https://user@app.example/cb'],
    ['https://app.example/cb#part'],
    ['javascript:alert(1)'],
    ['data:text/html,hello'],
    ['//app.example'],
    ['https://*.example.com/cb'],
    ['https://*/cb'],
    ['https://%2A.example.com/cb'],
    ['http://*.localhost/cb'],
    ['com.example.app://*/cb'],
    ['https://@app.example/cb'],
    ['com.example.app://user@host/cb'],
    ['https://app.example\\@evil.example/cb'],
    ['https:/app.example/cb'],
    ['https:///app.example/cb'],
    ['http://localhost.evil.example/cb'],
    ['http://[::2]/cb'],
    ['http://app.example/cb'],
    ['file:///etc/passwd'],
    ['blob:https://app.example/1'],
    ['about:blank'],
    ['vbscript:x'],
    ['JavaScript:alert(1)'],
    ['ms-settings:network'],
    ['myapp://cb'],
    ['x-apple.systempreferences:x'],
    ['.app:/cb'],
    [7],
  ])('with the redirect URI %s is refused', async (uri) => {
    const { status, body } = await register(service, { redirect_uris: [uri] })
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri'])
  })

  test.each([['[]'], ['{}'], ['{"client_name":7,"redirect_uris":["https://app.example"]}'], ['{'], ['null']])(
    'with the body %s is refused in the form of OAuth',
    async (text) => {
      const { status, body } = await call(service, 'POST', '/oauth/register', { body: text })
      expect([status, body]).toEqual([400, { error: expect.any(String), error_description: expect.any(String) }])
    },
  )

  test('keeps what it may, gives no secret, and makes a name harmless', async () => {
    const uris = [
      'https://app.example/cb?a=*',
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'vscode-insiders://publisher.extension/cb',
      'com.example.app:/cb',
      'com.example-app.mcp://oauth/cb',
      'http://[::1]:7/cb',
      'http://localhost/cb',
      'http://127.0.0.1:50123/cb',
    ]
    const name = `Ada\u202e\u0007 ${'x'.repeat(200)}`
    const metadata = { client_name: name, redirect_uris: uris, token_endpoint_auth_method: 'client_secret_post' }
    const { status, body } = await register(service, metadata)
    expect([status, body.redirect_uris]).toEqual([201, uris])
    expect(body).toMatchObject({ token_endpoint_auth_method: 'none', client_name: `Ada ${'x'.repeat(76)}` })
    expect(body).not.toHaveProperty('client_secret')
  })

  test('that nobody has used is deleted after a day', async () => {
    const clientId = await registered()
    passed = 2 * DAY_MS
    await deleteOldOf(['oauth_grants'], service.stores.database, service.clock())
    const { body } = await allow(owner, authorizationRequest(service, clientId).query, tenant.id)
    expect(body.error.code).toBe('unknown_application')
  })
})

describe('an authorization request', () => {
  test.each([
    ['unknown_application', { client_id: '0190c3a0-0000-7000-8000-000000000000' }],
    ['unknown_application', { client_id: 'x' }],
    ['invalid_redirect_uri', { redirect_uri: 'https://attacker.example/cb' }],
    ['invalid_redirect_uri', { redirect_uri: 'http://127.0.0.1:33418/other' }],
    ['invalid_redirect_uri', { redirect_uri: 'http://127.0.0.1.attacker.example:33418/callback' }],
    ['invalid_redirect_uri', { redirect_uri: '' }],
  ])('is refused with %s and sends nobody away: %j', async (code, changes) => {
    const { query } = authorizationRequest(service, await registered(), changes as Record<string, string>)
    const asked = await owner.call('GET', `/api/oauth/authorization?query=${encodeURIComponent(query)}`)
    for (const { status, body } of [asked, await allow(owner, query, tenant.id)]) {
      expect([status, body.error.code]).toEqual([400, code])
      expect(body).not.toHaveProperty('redirect_to')
    }
  })

  test.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge: '' }],
    ['invalid_target', { resource: 'https://other.example/mcp' }],
  ])('is refused with %s, and the person can go back to the application: %j', async (error, changes) => {
    const { query } = authorizationRequest(service, await registered(), changes as Record<string, string>)
    const { body } = await owner.call('GET', `/api/oauth/authorization?query=${encodeURIComponent(query)}`)
    const { origin, pathname, searchParams } = new URL(body.refusal.redirect_to)
    expect(origin + pathname).toBe(CALLBACK)
    expect(Object.fromEntries(searchParams)).toMatchObject({ error, state: 's', iss: service.config.publicUrl })
    expect(body.consent).toBeNull()
    const allowed = await allow(owner, query, tenant.id)
    expect([allowed.status, allowed.body.error.code]).toEqual([400, error])
  })

  test('may name another port of this machine', async () => {
    const uri = 'http://127.0.0.1:50123/callback'
    const { query } = authorizationRequest(service, await registered(), { redirect_uri: uri })
    const { body } = await allow(owner, query, tenant.id)
    expect(body.redirect_to).toMatch(`${uri}?code=`)
  })

  test('needs a person, the dashboard and a workspace of theirs', async () => {
    const { query } = authorizationRequest(service, await registered())
    const path = '/api/oauth/authorization'
    const decision = { query, tenant_id: tenant.id, scopes: ['contacts:read'], redact_personal_data: true }
    const anonymous = await call(service, 'POST', path, { body: JSON.stringify(decision) })
    expect([anonymous.status, anonymous.body.error.code]).toEqual([401, 'not_signed_in'])
    for (const headers of [{ origin: 'https://evil.example', 'x-requested-by': 'dashboard' }, { origin: 'null' }]) {
      const { status, body } = await owner.call('POST', path, decision, headers as Record<string, string>)
      expect([status, body.error.code]).toEqual([403, 'cross_site_request'])
    }
    const other = await createTestTenant(service)
    expect((await allow(owner, query, other.id)).status).toBe(404)
  })

  test('gives no scope that the person lacks, or that nobody can give', async () => {
    const viewer = await signedIn(service, tenant.id, 'viewer')
    const { query } = authorizationRequest(service, await registered())
    const { status, body } = await allow(viewer, query, tenant.id, { scopes: ['contacts:write'] })
    expect([status, body.error.code]).toEqual([403, 'insufficient_role'])
    for (const scopes of [['keys:write'], ['data:export'], ['all'], []]) {
      expect((await allow(owner, query, tenant.id, { scopes })).status).toBe(400)
    }
    const asked = await viewer.call('GET', `/api/oauth/authorization?query=${encodeURIComponent(query)}`)
    expect(asked.body.consent.tenants[0].scopes.filter((scope: string) => !scope.endsWith(':read'))).toEqual([])
  })
})

describe('a code', () => {
  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another application', { client_id: '0190c3a0-0000-7000-8000-000000000000' }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['another code', { code: 'cdsc_x' }, 'invalid_grant'],
  ])('is not exchanged with %s', async (_what, changes, error) => {
    const parameters = await codeFor(owner)
    const { status, body } = await token({ ...parameters, ...changes })
    expect([status, body.error]).toEqual([400, error])
    expect(body).not.toHaveProperty('access_token')
    expect((await token(parameters)).status).toBe(200)
  })

  test('expires after five minutes', async () => {
    const parameters = await codeFor(owner)
    passed = 5 * MINUTE_MS + 1
    expect((await token(parameters)).body.error).toBe('invalid_grant')
  })

  test('that is used twice ends what it gave', async () => {
    const app = await connected(owner)
    const grantId = await grantOf(app.access)
    expect((await token(app.parameters)).body.error).toBe('invalid_grant')
    expect(await statusOf(app.access)).toBe(401)
    expect((await app.refresh()).body.error).toBe('invalid_grant')
    expect(await auditOf('connected_app.revoked', grantId)).toMatchObject({
      actor: { kind: 'service' },
      details: { reason: 'code_reused' },
    })
  })

  test('is exchanged by one of two who try at once', async () => {
    const parameters = await codeFor(owner)
    const responses = await Promise.all([token(parameters), token(parameters)])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('that is given twice, or as JSON, is refused', async () => {
    const twice = await call(service, 'POST', '/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=authorization_code&code=a&code=b',
    })
    const json = await call(service, 'POST', '/oauth/token', { body: '{"grant_type":"authorization_code"}' })
    for (const { status, body } of [twice, json]) expect([status, body.error]).toEqual([400, 'invalid_request'])
  })
})

describe('a refresh token', () => {
  test('is rotated, and a later use of the old one ends the grant', async () => {
    const app = await connected(owner)
    const { body: second } = await app.refresh()
    passed = MINUTE_MS
    const grantId = await grantOf(second.access_token)
    const reused = await app.refresh(app.refreshToken)
    expect([reused.status, reused.body.error]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(second.access_token)).toBe(401)
    expect((await app.refresh(second.refresh_token)).body.error).toBe('invalid_grant')
    expect((await auditOf('connected_app.revoked', grantId)).details.reason).toBe('refresh_token_reused')
  })

  test('may be repeated within seconds, because responses get lost', async () => {
    const app = await connected(owner)
    const [one, two] = await Promise.all([app.refresh(), app.refresh()])
    for (const { status, body } of [one, two]) {
      expect(status).toBe(200)
      expect(await statusOf(body.access_token)).toBe(200)
    }
  })

  test('that is repeated gives two chains, of which one ends when the other goes on', async () => {
    for (const goesOn of [0, 1]) {
      const app = await connected(owner)
      const chains = [(await app.refresh()).body, (await app.refresh()).body]
      const [on, off] = goesOn === 0 ? chains : chains.toReversed()
      const next = await app.refresh(on.refresh_token)
      expect(next.status).toBe(200)
      expect(await Promise.all([next.body, on, off].map((held) => statusOf(held.access_token)))).toEqual([
        200, 200, 401,
      ])
      const grantId = await grantOf(next.body.access_token)
      const other = await app.refresh(off.refresh_token)
      expect([other.status, other.body.error]).toEqual([400, 'invalid_grant'])
      expect(await statusOf(next.body.access_token)).toBe(401)
      expect((await app.refresh(next.body.refresh_token)).body.error).toBe('invalid_grant')
      expect((await auditOf('connected_app.revoked', grantId)).details.reason).toBe('refresh_token_reused')
    }
  })

  test('cannot be repeated once its successor was used, which ends the grant', async () => {
    const app = await connected(owner)
    const first = await app.refresh()
    const second = await app.refresh(first.body.refresh_token)
    expect((await app.refresh(app.refreshToken)).body.error).toBe('invalid_grant')
    expect(await statusOf(second.body.access_token)).toBe(401)
  })

  test('may lose two responses in a row', async () => {
    const app = await connected(owner)
    await app.refresh()
    const first = await app.refresh()
    await app.refresh(first.body.refresh_token)
    const second = await app.refresh(first.body.refresh_token)
    const third = await app.refresh(second.body.refresh_token)
    expect([third.status, await statusOf(third.body.access_token)]).toEqual([200, 200])
  })

  test('of two chains that go on at once, at most one does', async () => {
    for (let round = 0; round < 5; round++) {
      const app = await connected(owner)
      const chains = await Promise.all([app.refresh(), app.refresh(), app.refresh()])
      const next = await Promise.all(chains.map(({ body }) => app.refresh(body.refresh_token)))
      expect(next.map(({ status }) => status).sort()).toEqual([200, 400, 400])
      // Two have held the tokens of one, so neither keeps them.
      const held = [...chains, ...next].flatMap(({ body }) => body.access_token ?? [])
      expect(await Promise.all(held.map(statusOf))).toEqual(held.map(() => 401))
    }
  })

  test('that is refreshed in a loop leaves a limited number of tokens', async () => {
    const app = await connected(owner)
    let { body } = await app.refresh()
    for (let n = 0; n < 60; n++) body = (await app.refresh(body.refresh_token)).body
    expect(await statusOf(body.access_token)).toBe(200)
    const grantId = await grantOf(body.access_token)
    expect(await tokensOf(grantId)).toHaveLength(100)
  })

  test('that was deleted because a thief refreshed so often still ends the grant when its owner uses it', async () => {
    const app = await connected(owner)
    let { body } = await app.refresh()
    const [ofOwner, grantId] = [body, await grantOf(body.access_token)] as const
    body = (await app.refresh()).body
    for (let n = 0; n < 60; n++) body = (await app.refresh(body.refresh_token)).body
    expect(await statusOf(body.access_token)).toBe(200)
    const returned = await app.refresh(ofOwner.refresh_token)
    expect(await tokensOf(grantId)).toHaveLength(100)
    expect([returned.status, returned.body.error]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(body.access_token)).toBe(401)
    expect((await auditOf('connected_app.revoked', grantId)).details.reason).toBe('refresh_token_reused')
  })

  test('that is repeated so often that it is deleted ends the grant', async () => {
    const app = await connected(owner)
    const { body } = await app.refresh()
    const grantId = await grantOf(body.access_token)
    const statuses = new Set<number>()
    for (let n = 0; n < 60; n++) statuses.add((await app.refresh()).status)
    expect([...statuses]).toEqual([200, 400])
    expect((await app.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await auditOf('connected_app.revoked', grantId)).details.reason).toBe('refresh_token_reused')
  })

  test('that nobody has been given ends nothing, whatever it begins with', async () => {
    const app = await connected(owner)
    for (const text of ['cdsr_', `cdsr_${'A'.repeat(65)}`, app.refreshToken.slice(0, 30), `${app.refreshToken}A`]) {
      expect((await app.refresh(text)).body.error).toBe('invalid_grant')
      expect(await statusOf(app.access)).toBe(200)
    }
  })

  test('lives for 30 days after its last use', async () => {
    const app = await connected(owner)
    passed = 29 * DAY_MS
    await deleteOldOf(['oauth_grants'], service.stores.database, service.clock())
    const { status, body } = await app.refresh()
    expect(status).toBe(200)
    passed = 58 * DAY_MS
    const again = await app.refresh(body.refresh_token)
    expect(again.status).toBe(200)
    passed = 89 * DAY_MS
    expect((await app.refresh(again.body.refresh_token)).body.error).toBe('invalid_grant')
  })

  test('gives no further scope, and nothing to another application', async () => {
    const app = await connected(owner)
    const request = { grant_type: 'refresh_token', refresh_token: app.refreshToken, client_id: app.client_id }
    const beyond = await token({ ...request, scope: 'contacts:read contacts:write' })
    expect(beyond.body.error).toBe('invalid_scope')
    const other = await token({ ...request, client_id: await registered() })
    expect(other.body.error).toBe('invalid_grant')
    const target = await token({ ...request, resource: 'https://other.example' })
    expect(target.body.error).toBe('invalid_target')
    expect((await token({ ...request, resource: `${service.config.publicUrl}/mcp` })).status).toBe(200)
  })
})

describe('a grant ends', () => {
  test('when the application revokes its refresh token; an access token ends alone', async () => {
    const app = await connected(owner)
    const { body } = await app.refresh()
    const revoke = (text: string, client_id = app.client_id) =>
      sendForm(service, '/oauth/revoke', { token: text, client_id })
    expect((await revoke(body.access_token, await registered())).status).toBe(200)
    expect(await statusOf(body.access_token)).toBe(200)
    expect((await revoke(body.access_token)).status).toBe(200)
    expect([await statusOf(body.access_token), await statusOf(app.access)]).toEqual([401, 200])
    expect((await revoke(body.refresh_token)).status).toBe(200)
    expect(await statusOf(app.access)).toBe(401)
    expect((await revoke('unknown')).status).toBe(200)
  })

  test('when the person connects the same application again', async () => {
    const first = await connected(owner)
    const second = await connected(owner, ['events:read'], first.client_id)
    expect([await statusOf(first.access), await statusOf(second.access)]).toEqual([401, 200])
  })

  test('when it is revoked in the settings, at once', async () => {
    const app = await connected(owner)
    const grant_id = await grantOf(app.access)
    const path = `/v1/connected-apps/${grant_id}`
    expect((await owner.call('GET', path)).body.connected_app).toMatchObject({ grant_id, scopes: ['contacts:read'] })
    expect((await owner.call('DELETE', path)).body).toMatchObject({ revoked: true, grant_id })
    expect(await statusOf(app.access)).toBe(401)
    expect((await app.refresh()).body.error).toBe('invalid_grant')
    expect((await owner.call('GET', path)).status).toBe(404)
    expect((await owner.call('DELETE', path)).status).toBe(404)
    expect((await auditOf('connected_app.revoked', grant_id)).actor).toMatchObject({ id: owner.userId })
  })

  test('when the person leaves, and when their account goes', async () => {
    const leaver = await member()
    const gone = await member()
    const apps = [await connected(leaver), await connected(gone)]
    await owner.call('DELETE', `/v1/members/${leaver.userId}`)
    await service.stores.database.deleteFrom('users').where('id', '=', gone.userId).execute()
    for (const app of apps) {
      expect(await statusOf(app.access)).toBe(401)
      expect((await app.refresh()).body.error).toBe('invalid_grant')
    }
  })

  test('when its tenant is deleted', async () => {
    const other = await createTestTenant(service)
    const { query, verifier } = authorizationRequest(service, await registered())
    const person = await signedIn(service, other.id, 'owner')
    const { body } = await allow(person, query, other.id)
    const client_id = new URLSearchParams(query).get('client_id') ?? ''
    const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
    const exchanged = await token({ grant_type: 'authorization_code', client_id, code, code_verifier: verifier })
    const access = exchanged.body.access_token
    expect((await whoCalls(service, access)).body.tenant_id).toBe(other.id)
    await deleteRowsOfTenant(service.stores.database, other.id)
    expect(await statusOf(access)).toBe(401)
  })

  test('when nothing of it is left, which frees its application later', async () => {
    const app = await connected(owner)
    passed = 31 * DAY_MS
    await deleteOldOf(['oauth_grants'], service.stores.database, service.clock())
    const { database } = service.stores
    const clients = database.selectFrom('oauth_clients').select('client_id').where('client_id', '=', app.client_id)
    const grants = database.selectFrom('oauth_grants').select('grant_id').where('client_id', '=', app.client_id)
    expect([await clients.execute(), await grants.execute()]).toEqual([[{ client_id: app.client_id }], []])
    passed = 91 * DAY_MS
    await deleteOldOf(['oauth_grants'], database, service.clock())
    expect(await clients.execute()).toEqual([])
  })
})

test('a grant does what the person may do at the time of the call, and no more', async () => {
  const person = await member()
  const app = await connected(person, ['contacts:read', 'contacts:write'])
  const scopes = async () => (await whoCalls(service, app.access)).body.scopes
  expect(await scopes()).toEqual(['contacts:read', 'contacts:write'])
  await owner.call('PATCH', `/v1/members/${person.userId}`, { role: 'viewer' })
  expect(await scopes()).toEqual(['contacts:read'])
  await owner.call('PATCH', `/v1/members/${person.userId}`, { role: 'admin' })
  expect(await scopes()).toEqual(['contacts:read', 'contacts:write'])
})

test('people see all connected apps of their workspace, and revoke their own; others need settings:write', async () => {
  const viewer = await signedIn(service, tenant.id, 'viewer')
  const own = await grantOf((await connected(viewer)).access)
  const owners = await grantOf((await connected(owner)).access)
  expect((await viewer.call('GET', '/v1/connected-apps?limit=0')).body.error.code).toBe('validation_error')
  const { body } = await viewer.call('GET', '/v1/connected-apps?limit=100')
  const ids = body.connected_apps.map(({ grant_id }: { grant_id: string }) => grant_id)
  expect(ids).toEqual(expect.arrayContaining([own, owners]))
  const refused = await viewer.call('DELETE', `/v1/connected-apps/${owners}`)
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_role'])
  expect((await viewer.call('DELETE', `/v1/connected-apps/${own}`)).status).toBe(200)

  const stranger = await signedIn(service, (await createTestTenant(service)).id, 'owner')
  expect((await stranger.call('DELETE', `/v1/connected-apps/${owners}`)).status).toBe(404)
  expect((await tenant.call('DELETE', `/v1/connected-apps/${owners}`)).status).toBe(200)
})

test('an access token is not a key of the API', async () => {
  const { access } = await connected(owner)
  const { status, body } = await call(service, 'GET', '/v1/contacts', {
    headers: { authorization: `Bearer ${access}` },
  })
  expect([status, body.error.code]).toEqual([401, 'invalid_api_key'])
})
