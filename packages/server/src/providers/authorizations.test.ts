import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type OAuthProvider,
  type OAuthProviderOptions,
  signInAt,
  startOAuthProvider,
} from '../../test/oauth-provider.ts'
import { freePort } from '../../test/ports.ts'
import { deleteOldOf } from '../../test/retention.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import type { Context } from '../operations/declare.ts'
import { NO_MEMORY } from '../operations/perform.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { type AuthorizationServices, completeAuthorization, startAuthorization } from './authorizations.ts'
import type { ProviderName } from './provider.ts'
import type { Authorized, PurposeHandler } from './purpose.ts'

let service: TestService
let tenant: TestTenant
let shiftMs = 0
const providers = {} as Record<ProviderName, OAuthProvider>
/** What the purpose of the tests was given. */
const completed: Authorized[] = []
let services: AuthorizationServices

const OPTIONS: Record<ProviderName, Omit<OAuthProviderOptions, 'redirectUri'>> = {
  google: { issuer: 'https://accounts.google.com', usesPkce: true, authentication: 'form' },
  microsoft: {
    issuer: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    usesPkce: true,
    authentication: 'form',
  },
  hubspot: { issuer: 'https://app.hubspot.com', usesPkce: false, authentication: 'form' },
  salesforce: { issuer: 'https://acme.my.salesforce.com', usesPkce: true, authentication: 'form' },
  pipedrive: { issuer: 'https://oauth.pipedrive.com', usesPkce: false, authentication: 'basic' },
}
const NAMES = Object.keys(OPTIONS) as ProviderName[]

const handler: PurposeHandler = {
  requestOf: async (_, provider, { kind: _kind, ...settings }) => ({
    scopes: provider === 'google' ? ['openid', 'contacts'] : ['contacts'],
    settings,
  }),
  complete: async (_context, _purpose, authorized) => {
    completed.push(authorized)
    return { path: '/connections/one' }
  },
}

beforeAll(async () => {
  const port = String(await freePort())
  const publicUrl = `http://127.0.0.1:${port}`
  for (const name of NAMES) {
    providers[name] = await startOAuthProvider({ ...OPTIONS[name], redirectUri: `${publicUrl}/authorized` })
  }
  const providerUrls = Object.fromEntries(NAMES.map((name) => [name, providers[name].url]))
  const clock = () => new Date(Date.now() + shiftMs)
  const environment = {
    PORT: port,
    CDS_PUBLIC_URL: publicUrl,
    CDS_OAUTH_HUBSPOT_CLIENT_ID: providers.hubspot.client.id,
    CDS_OAUTH_HUBSPOT_CLIENT_SECRET: providers.hubspot.client.secret,
  }
  service = await startTestService(environment, { providerUrls, clock })
  services = { ...service.providers, purposes: { connection: handler } }
})
afterAll(async () => {
  await service?.close()
  await Promise.all(Object.values(providers).map((provider) => provider.close()))
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  shiftMs = 0
  completed.length = 0
  for (const name of NAMES) {
    const { url, client } = providers[name]
    Object.assign(providers[name], { denial: null, iss: null, allowed: null, fault: null, more: {} })
    if (name === 'hubspot') continue
    const body = { client_id: client.id, client_secret: client.secret }
    const { status } = await tenant.call('PUT', `/v1/oauth-clients/${name}`, body)
    expect([url, status]).toEqual([url, 200])
  }
})

/** Calls the functions as a person of the tenant, for a purpose that only stores what it is given. */
const contextOf = (id = 'a', of = tenant): Context => ({
  tenant: of.handle,
  now: service.clock(),
  actor: { kind: 'user', id, name: 'Ada' },
  scopes: new Set(),
  requireScope: () => {},
  warn: () => {},
  requireMatch: () => {},
  memory: NO_MEMORY,
  isGivenUp: () => false,
})
const start = async (provider: ProviderName, settings: Record<string, string> = {}, context = contextOf()) =>
  (await startAuthorization(services, context, provider, { kind: 'connection', ...settings })).url
const complete = (redirected: Record<string, string>, context = contextOf()) =>
  completeAuthorization(services, context, { state: '', ...redirected })

test.each(NAMES)('a person signs in at %s, and the purpose gets the tokens', async (name) => {
  const provider = providers[name]
  provider.more = { instance_url: 'https://acme.my.salesforce.com', scope: 'contacts  more' }
  const url = new URL(await start(name))
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: provider.client.id,
    redirect_uri: `${service.config.publicUrl}/authorized`,
    scope: name === 'google' ? 'openid contacts' : 'contacts',
  })
  expect(url.searchParams.has('code_challenge')).toBe(OPTIONS[name].usesPkce)
  const redirected = await signInAt(url.href)
  expect(await complete(redirected)).toMatchObject({ path: '/connections/one', purpose: { kind: 'connection' } })
  expect(completed).toMatchObject([
    {
      provider: name,
      clientId: provider.client.id,
      tokens: { accessToken: expect.any(String), refreshToken: expect.any(String), expiresAt: expect.any(String) },
      scopes: ['contacts', 'more'],
      claims: name === 'google' ? { email: 'ada@mail.example' } : null,
      response: { instance_url: 'https://acme.my.salesforce.com' },
    },
  ])
  expect(JSON.stringify(completed[0]?.response)).not.toContain(completed[0]?.tokens.refreshToken)
  // What the provider redeemed was bound to this sign-in.
  const [form] = provider.forms.slice(-1)
  expect(form?.has('code_verifier')).toBe(OPTIONS[name].usesPkce)
})

test('the domain of an organization decides where Salesforce is, and cannot lead anywhere else', async () => {
  const own = { ...services, providerUrls: {} }
  const urlFor = (domain: string) =>
    startAuthorization(own, contextOf(), 'salesforce', { kind: 'connection', domain }).then(
      ({ url }) => new URL(url).host,
    )
  for (const domain of ['test.salesforce.com', 'acme.my.salesforce.com', 'acme--dev.sandbox.my.salesforce.com']) {
    expect(await urlFor(domain)).toBe(domain)
  }
  for (const domain of [
    'evil.example',
    'evil.example/.my.salesforce.com',
    'a@evil.my.salesforce.com',
    '.my.salesforce.com',
    'my.salesforce.com.evil.example',
    'x\n.my.salesforce.com',
  ]) {
    await expect(urlFor(domain)).rejects.toMatchObject({ code: 'validation_error', details: [{ path: 'domain' }] })
  }
})

test('a state works once, for whoever started it, in their workspace, for 10 minutes', async () => {
  const stranger = await createTestTenant(service)
  const redirected = await signInAt(await start('google'))
  const asked = providers.google.forms.length
  await expect(complete(redirected, contextOf('another'))).rejects.toMatchObject({
    status: 403,
    code: 'authorization_of_another',
  })
  await expect(complete(redirected, contextOf('a', stranger))).rejects.toMatchObject({ code: 'unknown_authorization' })
  await expect(complete({ ...redirected, state: `${redirected.state}x` })).rejects.toMatchObject({
    status: 404,
    code: 'unknown_authorization',
  })
  // None of them reached the provider or used the state up.
  expect(providers.google.forms).toHaveLength(asked)
  await complete(redirected)
  await expect(complete(redirected)).rejects.toMatchObject({ status: 409, code: 'authorization_used' })
  expect(completed).toHaveLength(1)

  const late = await signInAt(await start('google'))
  shiftMs = 10 * MINUTE_MS + 1_000
  await expect(complete(late)).rejects.toMatchObject({ status: 409, code: 'authorization_expired' })
  await deleteOldOf(['authorizations'], service.stores.database, service.clock())
  await expect(complete(late)).rejects.toMatchObject({ code: 'unknown_authorization' })
  expect(await tenant.handle.db.selectFrom('authorizations').select('state_hash').execute()).toEqual([])
})

test('whoever has lost the scope of the purpose meanwhile cannot complete it', async () => {
  const redirected = await signInAt(await start('google'))
  const asked: string[] = []
  const requireScope = (scope: string) => {
    asked.push(scope)
    throw new Error('the role was lowered')
  }
  await expect(complete(redirected, { ...contextOf(), requireScope })).rejects.toThrow('the role was lowered')
  expect(asked).toEqual(['settings:write'])
  expect(completed).toEqual([])
})

test('two requests with the same state at once complete it only once', async () => {
  const redirected = await signInAt(await start('google'))
  const outcomes = await Promise.allSettled([complete(redirected), complete(redirected), complete(redirected)])
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(completed).toHaveLength(1)
})

test("a code of another sign-in, of another provider or of another's browser is refused", async () => {
  const [first, second] = [await signInAt(await start('google')), await signInAt(await start('google'))]
  // Injected: the provider finds that the code belongs to another verifier.
  await expect(complete({ ...first, code: second.code ?? '' })).rejects.toMatchObject({
    status: 400,
    code: 'authorization_failed',
    message: expect.stringContaining('invalid_grant'),
  })
  // The code has been presented, so it is used up.
  await expect(complete(second)).rejects.toMatchObject({ code: 'authorization_failed' })

  const third = await signInAt(await start('google'))
  for (const iss of ['https://login.microsoftonline.com/common/v2.0', 'https://accounts.google.com.evil.example', '']) {
    const mixed = await signInAt(await start('google'))
    const asked = providers.google.forms.length
    await expect(complete({ ...mixed, iss })).rejects.toMatchObject({ code: 'authorization_failed' })
    expect(providers.google.forms).toHaveLength(asked)
  }
  await complete({ ...third, iss: 'https://accounts.google.com' })
  expect(completed).toHaveLength(1)
})

test('an ID token for another client, issuer or sign-in is refused, and so is an expired one', async () => {
  const { account } = providers.google
  const before = account.claims
  const lies = [
    { iss: 'https://accounts.evil.example' },
    { aud: 'another client' },
    { aud: ['another client', providers.google.client.id], azp: 'another client' },
    { nonce: 'of another sign-in' },
    { nonce: undefined },
    { exp: Math.floor(Date.now() / 1000) - 3_600 },
    { exp: 'tomorrow' },
  ]
  for (const lie of lies) {
    account.claims = { ...before, ...lie }
    await expect(complete(await signInAt(await start('google')))).rejects.toMatchObject({
      code: 'authorization_failed',
    })
  }
  account.claims = before
  for (const id_token of [
    'a.b.c',
    'nothing',
    `${'x'.repeat(20_000)}.y.z`,
    `.${Buffer.from('[]').toString('base64url')}.`,
  ]) {
    providers.google.more = { id_token }
    await expect(complete(await signInAt(await start('google')))).rejects.toMatchObject({
      code: 'authorization_failed',
    })
  }
  expect(completed).toEqual([])
})

test('what the provider returns instead of tokens is told in plain words, without secrets', async () => {
  const { google } = providers
  const tell = async (fault: OAuthProvider['fault'], more: Record<string, unknown> = {}) => {
    Object.assign(google, { fault, more })
    const redirected = await signInAt(await start('google'))
    const error = await complete(redirected).catch((thrown) => thrown)
    expect(error.message).not.toContain(redirected.code)
    expect(error.message).not.toContain(google.client.secret)
    return [error.status, error.code, error.message]
  }
  const echo = { error: 'invalid_client', error_description: `<b>${google.client.secret}</b>\u0000\r\nno` }
  expect(await tell({ status: 401, body: echo })).toEqual([400, 'authorization_failed', expect.stringContaining('401')])
  expect(await tell({ status: 500, body: '<html>' })).toEqual([
    502,
    'provider_unavailable',
    expect.stringContaining('500'),
  ])
  expect(await tell({ status: 429, body: {} })).toEqual([502, 'provider_unavailable', expect.stringContaining('429')])
  expect(await tell('drop')).toEqual([502, 'provider_unavailable', expect.stringContaining('cannot be reached')])
  expect(await tell('silence')).toEqual([502, 'provider_unavailable', expect.stringContaining('within 15 seconds')])
  const huge = { access_token: 'x'.repeat(5 * 1024 * 1024) }
  expect(await tell(null, huge)).toEqual([502, 'provider_unavailable', expect.stringContaining('longer than')])
  for (const access_token of ['x'.repeat(9_000), 'a\r\nb', 7, null]) {
    expect(await tell(null, { access_token })).toEqual([400, 'authorization_failed', expect.any(String)])
  }
  expect(await tell(null, { refresh_token: undefined })).toEqual([
    400,
    'authorization_failed',
    expect.stringContaining('no refresh token'),
  ])
  expect(completed).toEqual([])
})
