import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OAuthProvider, signInAt, startOAuthProvider } from '../../test/oauth-provider.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { freePort } from '../../test/ports.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { simultaneously } from '../../test/simultaneous.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let google: OAuthProvider
let tenant: TestTenant
let admin: Browser
let identityId: string
let redirectUri: string

beforeAll(async () => {
  const port = String(await freePort())
  redirectUri = `http://127.0.0.1:${port}/authorized`
  google = await startOAuthProvider({
    issuer: 'https://accounts.google.com',
    usesPkce: true,
    authentication: 'form',
    redirectUri,
  })
  service = await startTestService(
    {
      PORT: port,
      CDS_PUBLIC_URL: `http://127.0.0.1:${port}`,
      CDS_OAUTH_MICROSOFT_CLIENT_ID: 'client-of-the-operator',
      CDS_OAUTH_MICROSOFT_CLIENT_SECRET: 'secret-of-the-operator',
    },
    { providerUrls: { google: google.url } },
  )
})
afterAll(async () => {
  await service?.close()
  await google?.close()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
  const named = { firstName: 'Ada', lastName: 'Lovelace', role: 'Sales' }
  identityId = (await tenant.call('POST', '/v1/identities', named)).body.identity.identity_id
  Object.assign(google, { denial: null, iss: null })
})

const setClient = (of = tenant) =>
  of.call('PUT', '/v1/oauth-clients/google', { client_id: google.client.id, client_secret: google.client.secret })
const mailbox = (id = identityId) => ({ provider: 'google', purpose: { kind: 'mailbox', identity_id: id } })
const clients = async () =>
  Object.fromEntries(
    (await tenant.call('GET', '/v1/oauth-clients')).body.oauth_clients.map((client: { provider: string }) => [
      client.provider,
      client,
    ]),
  )
const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

test('a workspace stores its OAuth client at a provider, which takes precedence over the operator’s, and its secret is never returned', async () => {
  expect(await clients()).toMatchObject({
    google: { label: 'Google', client_id: null, origin: null, redirect_url: redirectUri },
    microsoft: { client_id: 'client-of-the-operator', origin: 'operator', updated_at: null },
  })
  const started = await tenant.call('POST', '/v1/authorizations', mailbox())
  expect(outcome(started)).toEqual([409, 'no_oauth_client'])
  expect(started.body.error.message).toContain(redirectUri)

  const set = await setClient()
  expect(set.body.oauth_client).toMatchObject({ provider: 'google', client_id: google.client.id, origin: 'workspace' })
  for (const provider of ['google', 'microsoft']) {
    const { body } = await tenant.call('GET', `/v1/oauth-clients/${provider}`)
    expect(body.oauth_client).toEqual((await clients())[provider])
  }
  expect(outcome(await tenant.call('GET', '/v1/oauth-clients/nobody'))).toEqual([404, 'unknown_provider'])
  const own = { client_id: 'own client', client_secret: 'own-secret' }
  expect(outcome(await tenant.call('PUT', '/v1/oauth-clients/microsoft', own))).toEqual([400, 'validation_error'])
  await tenant.call('PUT', '/v1/oauth-clients/microsoft', { ...own, client_id: 'own-client' })
  expect(await clients()).toMatchObject({ microsoft: { client_id: 'own-client', origin: 'workspace' } })
  const url = (await tenant.call('POST', '/v1/authorizations', { ...mailbox(), provider: 'microsoft' })).body
  expect(new URL(url.authorization_url).searchParams.get('client_id')).toBe('own-client')
  const deleted = await tenant.call('DELETE', '/v1/oauth-clients/microsoft')
  expect(deleted.body).toMatchObject({ deleted: true, provider: 'microsoft', client_id: 'own-client' })
  expect(outcome(await tenant.call('DELETE', '/v1/oauth-clients/microsoft'))).toEqual([404, 'not_found'])
  expect(await clients()).toMatchObject({ microsoft: { client_id: 'client-of-the-operator', origin: 'operator' } })

  const rows = await tenant.handle.db.selectFrom('provider_clients').selectAll().execute()
  const audit = await tenant.call('GET', '/v1/audit-log?limit=100')
  const actions = audit.body.entries.map(({ action }: { action: string }) => action)
  expect(actions).toEqual(expect.arrayContaining(['oauth_client.set', 'oauth_client.deleted']))
  const everything = JSON.stringify([set.body, await clients(), rows, audit.body, service.logged])
  for (const secret of [google.client.secret, 'own-secret', 'secret-of-the-operator']) {
    expect(everything).not.toContain(secret)
  }
})

test('an invalid client or purpose is refused, naming the field', async () => {
  await setClient()
  const put = async (provider: string, body: object) =>
    outcome(await tenant.call('PUT', `/v1/oauth-clients/${provider}`, body))
  const client = { client_id: 'a', client_secret: 'b' }
  expect(await put('myspace', client)).toEqual([404, 'unknown_provider'])
  expect(await put('__proto__', client)).toEqual([404, 'unknown_provider'])
  for (const changed of [
    { client_id: '' },
    { client_id: 'a\nb' },
    { client_secret: ' ' },
    { client_secret: 'x'.repeat(2_049) },
    { client_secret: 7 },
  ]) {
    expect(await put('google', { ...client, ...changed })).toEqual([400, 'validation_error'])
  }
  const starts: [object, number, string][] = [
    [{ ...mailbox(), provider: 'myspace' }, 404, 'unknown_provider'],
    [{ ...mailbox(), provider: 'hubspot' }, 400, 'validation_error'],
    [mailbox(newId()), 404, 'not_found'],
    [mailbox('none'), 404, 'not_found'],
    [{ provider: 'google', purpose: { kind: 'mailbox' } }, 400, 'validation_error'],
    [
      { provider: 'google', purpose: { kind: 'mailbox', identity_id: identityId, path: '//evil.example' } },
      400,
      'validation_error',
    ],
    [{ provider: 'google', purpose: { kind: 'constructor' } }, 400, 'validation_error'],
    [{ provider: 'google', purpose: { kind: 'mailbox', identity_id: [identityId] } }, 400, 'validation_error'],
    [{ provider: 'google', purpose: null }, 400, 'validation_error'],
    [{ provider: 'google', purpose: { kind: 'connection' } }, 400, 'validation_error'],
  ]
  for (const [body, status, code] of starts) {
    expect([body, ...outcome(await tenant.call('POST', '/v1/authorizations', body))]).toEqual([body, status, code])
  }
})

test('a denial is reported once, to the person who started, with the provider’s words as text', async () => {
  await setClient()
  const start = async () => (await admin.call('POST', '/v1/authorizations', mailbox())).body.authorization_url
  const complete = (redirected: object, browser = admin) =>
    browser.call('POST', '/v1/authorizations/complete', redirected)
  google.denial = { error: 'access_denied', description: '<img src=x onerror=alert(1)>\r\nThe person declined.' }
  const denied = await signInAt(await start())
  expect(denied).not.toHaveProperty('code')
  const another = await signedIn(service, tenant.id, 'owner')
  expect(outcome(await complete(denied, another))).toEqual([403, 'authorization_of_another'])
  const told = await complete(denied)
  expect(outcome(told)).toEqual([400, 'authorization_denied'])
  expect(told.body.error.message).toContain('<img src=x onerror=alert(1)> The person declined.')
  expect(outcome(await complete(denied))).toEqual([409, 'authorization_used'])
  // Anyone can send a link with an error, so its text is shown only to a person who started a sign-in.
  const made = await complete({ state: 'made up', error: 'access_denied', error_description: 'Call 555-0100' })
  expect(outcome(made)).toEqual([404, 'unknown_authorization'])
  expect(JSON.stringify(made.body)).not.toContain('555')

  google.denial = { error: 'invalid_scope' }
  expect(outcome(await complete(await signInAt(await start())))).toEqual([400, 'authorization_failed'])
  google.denial = null
  const { state = '' } = await signInAt(await start())
  for (const broken of [{}, { code: 'a', error: 'b' }]) {
    expect(outcome(await complete({ state, ...broken }))).toEqual([400, 'validation_error'])
  }
})

test('members cannot connect a mailbox, and an API key completes only what it started', async () => {
  await setClient()
  const viewer = await signedIn(service, tenant.id, 'viewer')
  for (const purpose of [mailbox().purpose, { kind: 'connection' }]) {
    const refused = await viewer.call('POST', '/v1/authorizations', { provider: 'google', purpose })
    expect(outcome(refused)).toEqual([403, 'insufficient_role'])
  }
  const member = await signedIn(service, tenant.id, 'member')
  expect(outcome(await member.call('POST', '/v1/authorizations', mailbox()))).toEqual([403, 'insufficient_role'])
  const key = await tenant.keyWith('identities:write', 'settings:read', 'contacts:read', 'contacts:write')
  const without = await tenant.keyWith('settings:read', 'settings:write')
  expect(outcome(await tenant.call('POST', '/v1/authorizations', mailbox(), without))).toEqual([
    403,
    'insufficient_scope',
  ])
  const started = await tenant.call('POST', '/v1/authorizations', mailbox(), key)
  expect(started.status).toBe(201)
  const redirected = await signInAt(started.body.authorization_url)
  expect(outcome(await tenant.call('POST', '/v1/authorizations/complete', redirected))).toEqual([
    403,
    'authorization_of_another',
  ])
  // It gets as far as the mail servers, which are not this provider's in the test.
  google.allowed = ['openid']
  const completed = await tenant.call('POST', '/v1/authorizations/complete', redirected, key)
  expect(outcome(completed)).toEqual([400, 'authorization_failed'])
  expect(completed.body.error.message).toContain('you did not allow access to your mail at Google')
  google.allowed = null
})

test('a sign-in that took too long, or whose provider is unavailable, is reported as such', async () => {
  await setClient()
  const start = async () => (await admin.call('POST', '/v1/authorizations', mailbox())).body.authorization_url
  const complete = (redirected: object) => admin.call('POST', '/v1/authorizations/complete', redirected)
  const late = await signInAt(await start())
  await tenant.handle.db
    .updateTable('authorizations')
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .execute()
  expect(outcome(await complete(late))).toEqual([409, 'authorization_expired'])
  const redirected = await signInAt(await start())
  google.fault = { status: 503, body: {} }
  expect(outcome(await complete(redirected))).toEqual([502, 'provider_unavailable'])
  google.fault = null
})

test('a person has at most 100 sign-ins in progress, even if several start at the same time', async () => {
  await setClient()
  const start = () => admin.call('POST', '/v1/authorizations', mailbox())
  for (let n = 0; n < 98; n++) expect((await start()).status).toBe(201)
  const responses = await simultaneously(service, 'authorizations', [start, start, start, start])
  const refused = [409, 'too_many_authorizations']
  expect(responses.map(outcome).sort()).toEqual([[201, undefined], [201, undefined], refused, refused])
  expect((await tenant.call('POST', '/v1/authorizations', mailbox())).status).toBe(201)
})
