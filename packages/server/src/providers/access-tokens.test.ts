import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OAuthProvider, signInAt, startOAuthProvider } from '../../test/oauth-provider.ts'
import { createApiFetch } from '../platform/outbound/api-fetch.ts'
import { HOUR_MS } from '../platform/time.ts'
import { createAccessTokens, isSame, type TokenStore } from './access-tokens.ts'
import { requestTokens, TokenRefused, type Tokens, TokenUnavailable } from './token-request.ts'

const REDIRECT_URI = 'http://127.0.0.1/authorized'

let provider: OAuthProvider
let stored: { tokens: Tokens | null; problem: string | null; isEnded: boolean }
let shiftMs = 0
const tokenApi = createApiFetch({ allowPrivate: true, allowHttp: true })
const dependencies = { tokenApi, clock: () => new Date(Date.now() + shiftMs) }
const client = () => ({
  clientId: provider.client.id,
  clientSecret: provider.client.secret,
  tokenUrl: `${provider.url}/token`,
  authentication: 'basic' as const,
})

/** What several processes share. */
const store: TokenStore = {
  load: async () => stored.tokens,
  save: async (before, renewed) => {
    if (stored.tokens && !isSame(stored.tokens, before)) return stored.tokens
    stored.tokens = renewed
    return renewed
  },
  saveRefusal: async (before, problem, isEnded) => {
    if (stored.tokens && !isSame(stored.tokens, before)) return stored.tokens
    Object.assign(stored, { problem, isEnded })
    return null
  },
}

const open = () => {
  if (!stored.tokens) throw new Error('There are no tokens.')
  const ended = stored.isEnded ? stored.problem : null
  return createAccessTokens(dependencies, { client: client(), tokens: stored.tokens, store, ended })
}

beforeAll(async () => {
  provider = await startOAuthProvider({
    issuer: 'https://oauth.pipedrive.com',
    usesPkce: false,
    authentication: 'basic',
    redirectUri: REDIRECT_URI,
  })
})
afterAll(async () => {
  await tokenApi.close()
  await provider?.close()
})
beforeEach(async () => {
  shiftMs = 0
  provider.fault = null
  const query = { client_id: provider.client.id, redirect_uri: REDIRECT_URI, response_type: 'code', state: 's' }
  const { code = '' } = await signInAt(`${provider.url}/authorize?${new URLSearchParams(query)}`)
  const grant = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }
  const { accessToken, expiresAt, refreshToken } = await requestTokens(dependencies, client(), grant)
  stored = { tokens: { accessToken, expiresAt, refreshToken: refreshToken ?? '' }, problem: null, isEnded: false }
  provider.forms.length = 0
})

test('a token is used until it expires; concurrent callers share one renewal, whose refresh token is stored first', async () => {
  const tokens = open()
  const first = await tokens.current()
  expect(provider.forms).toHaveLength(0)
  shiftMs = HOUR_MS
  const renewed = await Promise.all(Array.from({ length: 10 }, () => tokens.current()))
  expect(new Set(renewed).size).toBe(1)
  expect(renewed[0]).not.toBe(first)
  expect(provider.forms).toHaveLength(1)
  expect(stored.tokens?.accessToken).toBe(renewed[0])
  expect(tokens.secrets()).toEqual(expect.arrayContaining([first, renewed[0], stored.tokens?.refreshToken]))
})

test('a rejected token is renewed once, and one that was replaced meanwhile is not', async () => {
  const tokens = open()
  const first = await tokens.current()
  const [one, two] = await Promise.all([tokens.renew(first), tokens.renew(first)])
  expect(one).toBe(two)
  expect(await tokens.renew(first)).toBe(one)
  expect(provider.forms).toHaveLength(1)
})

test('a process uses what another one has renewed, so that a replaced refresh token is never sent', async () => {
  const [here, elsewhere] = [open(), open()]
  const first = await here.current()
  const renewed = await elsewhere.renew(first)
  // The provider ends a sign-in whose replaced refresh token is used again.
  expect(await here.renew(first)).toBe(renewed)
  shiftMs = HOUR_MS
  await here.current()
  expect(provider.forms).toHaveLength(2)
  expect(new Set(provider.forms.map((form) => form.get('refresh_token'))).size).toBe(2)
  expect(stored.problem).toBeNull()
})

test.each([429, 503])('a renewal that fails with %i is retried, and the sign-in does not end', async (status) => {
  const tokens = open()
  const first = await tokens.current()
  // Even if the body says that the sign-in has ended.
  provider.fault = { status, body: { error: 'invalid_grant', error_description: 'too many requests' } }
  await expect(tokens.renew(first)).rejects.toThrow(TokenUnavailable)
  expect(stored).toMatchObject({ problem: null, isEnded: false, tokens: { accessToken: first } })
  provider.fault = null
  expect(await tokens.renew(first)).toBe(stored.tokens?.accessToken)
  expect(stored.tokens?.accessToken).not.toBe(first)
})

test('a token is not used if its refresh token cannot be stored', async () => {
  const failing = { ...store, save: () => Promise.reject(new Error('the database is away')) }
  const { tokens: first } = stored
  if (!first) throw new Error('There are no tokens.')
  const tokens = createAccessTokens(dependencies, { client: client(), tokens: first, store: failing })
  await expect(tokens.renew(first.accessToken)).rejects.toThrow('the database is away')
})

test('a save that fails for a moment is repeated', async () => {
  let failures = 2
  const save: TokenStore['save'] = async (before, renewed) => {
    if (failures-- > 0) throw new Error('the database is away')
    return store.save(before, renewed)
  }
  const { tokens: first } = stored
  if (!first) throw new Error('There are no tokens.')
  const tokens = createAccessTokens(dependencies, { client: client(), tokens: first, store: { ...store, save } })
  expect(await tokens.renew(first.accessToken)).toBe(stored.tokens?.accessToken)
  expect(stored.tokens?.refreshToken).not.toBe(first.refreshToken)
  expect(provider.forms).toHaveLength(1)
})

test('renewed tokens that could not be saved are saved before anything else, and are not replaced by the older ones', async () => {
  let isAway = true
  const save: TokenStore['save'] = async (before, renewed) => {
    if (isAway) throw new Error('the database is away')
    return store.save(before, renewed)
  }
  const { tokens: first } = stored
  if (!first) throw new Error('There are no tokens.')
  const tokens = createAccessTokens(dependencies, { client: client(), tokens: first, store: { ...store, save } })
  await expect(tokens.renew(first.accessToken)).rejects.toThrow('the database is away')
  expect(await tokens.current()).toBe(first.accessToken)
  isAway = false
  expect(await tokens.renew(first.accessToken)).toBe(stored.tokens?.accessToken)
  expect(stored.tokens?.refreshToken).not.toBe(first.refreshToken)
  expect(provider.forms).toHaveLength(1)
})

test('what one job renewed and could not save is saved by the next job, which does not send the old refresh token', async () => {
  let isAway = true
  const save: TokenStore['save'] = async (before, renewed) => {
    if (isAway) throw new Error('the database is away')
    return store.save(before, renewed)
  }
  const { tokens: first } = stored
  if (!first) throw new Error('There are no tokens.')
  const job = () => createAccessTokens(dependencies, { client: client(), tokens: first, store: { ...store, save } })
  await expect(job().renew(first.accessToken)).rejects.toThrow('the database is away')
  // Another job that fails in the same way loses nothing either.
  await expect(job().renew(first.accessToken)).rejects.toThrow('the database is away')
  isAway = false
  const next = job()
  expect(await next.renew(first.accessToken)).toBe(stored.tokens?.accessToken)
  expect(stored.tokens?.refreshToken).not.toBe(first.refreshToken)
  expect(provider.forms).toHaveLength(1)
  // The kept tokens may have expired by then: they are saved, and renewed again.
  shiftMs = HOUR_MS
  expect(await next.current()).toBe(stored.tokens?.accessToken)
  expect(provider.forms).toHaveLength(2)
  expect(stored.problem).toBeNull()
})

test('renewed tokens that expired before they could be saved are renewed with their own refresh token', async () => {
  const save = () => Promise.reject(new Error('the database is away'))
  const { tokens: first } = stored
  if (!first) throw new Error('There are no tokens.')
  const tokens = createAccessTokens(dependencies, { client: client(), tokens: first, store: { ...store, save } })
  await expect(tokens.renew(first.accessToken)).rejects.toThrow('the database is away')
  shiftMs = HOUR_MS
  expect(await open().current()).toBe(stored.tokens?.accessToken)
  expect(new Set(provider.forms.map((form) => form.get('refresh_token'))).size).toBe(2)
  expect(stored.problem).toBeNull()
})

test('a revoked sign-in ends: no further request is made, in this process or after a restart', async () => {
  provider.revokeAll()
  const tokens = open()
  shiftMs = HOUR_MS
  await expect(tokens.current()).rejects.toMatchObject({ name: 'TokenRefused', isEnded: true })
  await expect(tokens.current()).rejects.toBeInstanceOf(TokenRefused)
  expect(stored).toMatchObject({ isEnded: true, problem: expect.stringContaining('invalid_grant') })
  await expect(open().current()).rejects.toMatchObject({ isEnded: true, message: stored.problem })
  expect(provider.forms).toHaveLength(1)
})

test("neither a failing endpoint nor a client's wrong secret ends the sign-in", async () => {
  shiftMs = HOUR_MS
  const tokens = open()
  provider.fault = { status: 500, body: { error: 'invalid_grant' } }
  await expect(tokens.current()).rejects.not.toBeInstanceOf(TokenRefused)
  provider.fault = 'drop'
  await expect(tokens.current()).rejects.not.toBeInstanceOf(TokenRefused)
  expect(stored.problem).toBeNull()
  provider.fault = { status: 401, body: { error: 'invalid_client' } }
  await expect(tokens.current()).rejects.toMatchObject({ name: 'TokenRefused', isEnded: false })
  provider.fault = null
  expect(await tokens.current()).toBe(stored.tokens?.accessToken)
})

test('HubSpot’s own error for a revoked token ends the sign-in too', async () => {
  shiftMs = HOUR_MS
  provider.fault = { status: 400, body: { status: 'BAD_REFRESH_TOKEN', message: 'missing or unknown refresh token' } }
  await expect(open().current()).rejects.toMatchObject({
    isEnded: true,
    message: expect.stringContaining('BAD_REFRESH_TOKEN missing or unknown refresh token'),
  })
})
