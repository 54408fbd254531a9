import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OAuthProvider, signInAt, startOAuthProvider } from '../../test/oauth-provider.ts'
import {
  inState,
  person,
  pulled,
  readConnection,
  type ScriptedSystem,
  startScriptedSystem,
  WITHIN,
} from '../../test/scripted-connector.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'

const PUBLIC_URL = 'https://cds.example'

let system: ScriptedSystem
let google: OAuthProvider
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  system = await startScriptedSystem()
  google = await startOAuthProvider({
    issuer: 'https://accounts.google.com',
    usesPkce: true,
    authentication: 'form',
    redirectUri: `${PUBLIC_URL}/authorized`,
  })
  const providerUrls = { google: google.url }
  service = await startTestService({ CDS_PUBLIC_URL: PUBLIC_URL }, { ...system.options, providerUrls })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  system.reset()
  google.fault = null
})
afterAll(async () => {
  await service?.close()
  await google?.close()
  await system?.close()
})

const read = (path: string) => readConnection(tenant, path)
const post = (path: string, body?: object) => tenant.call('POST', path, body)

describe('a sign-in at a provider', () => {
  test('renews an expired access token, stores it, and is signed out when that is refused', async () => {
    const { id, secret } = google.client
    await tenant.call('PUT', '/v1/oauth-clients/google', { client_id: id, client_secret: secret })
    google.onIssued = (_, token) => Object.assign(system, { token })
    system.pages = [{ contacts: [person(1)] }]
    const purpose = { kind: 'connection', connector: 'scripted' }
    const started = await post('/v1/authorizations', { provider: 'google', purpose })
    const completed = await post('/v1/authorizations/complete', await signInAt(started.body.authorization_url))
    expect(completed.status).toBe(200)
    const path = `/v1${completed.body.path}`
    let { run_id } = await pulled(tenant, path)
    expect(google.forms).toHaveLength(1)
    // Twice, because the second renewal needs the refresh token that the first one stored.
    for (const renewals of [1, 2]) {
      system.token = 'expired'
      await post(`${path}/pull`)
      run_id = (await pulled(tenant, path, run_id)).run_id
      expect(google.forms).toHaveLength(1 + renewals)
    }
    google.revokeAll()
    system.token = 'expired'
    await post(`${path}/pull`)
    expect((await inState(tenant, path, 'signed_out')).error).toContain('revoked')
    const again = { kind: 'connection', connection_id: path.split('/').at(-1) }
    const renewed = await post('/v1/authorizations', { provider: 'google', purpose: again })
    await post('/v1/authorizations/complete', await signInAt(renewed.body.authorization_url))
    await pulled(tenant, path, run_id)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
    const rows = await tenant.handle.db.selectFrom('connections').selectAll().execute()
    const shown = JSON.stringify([rows, (await tenant.call('GET', '/v1/audit-log')).body]) + service.logged.join()
    for (const issued of google.issued) expect(shown).not.toContain(issued)
  })

  test('keeps a renewal during which a person pauses the connection', async () => {
    const { id, secret } = google.client
    await tenant.call('PUT', '/v1/oauth-clients/google', { client_id: id, client_secret: secret })
    google.onIssued = (_, token) => Object.assign(system, { token })
    const purpose = { kind: 'connection', connector: 'scripted' }
    const started = await post('/v1/authorizations', { provider: 'google', purpose })
    const completed = await post('/v1/authorizations/complete', await signInAt(started.body.authorization_url))
    const path = `/v1${completed.body.path}`
    let { run_id } = await pulled(tenant, path)
    google.onIssued = async (_, token) => {
      system.token = token
      await post(`${path}/pause`)
    }
    const renewals = google.forms.length + 1
    system.token = 'expired'
    await post(`${path}/pull`)
    await expect.poll(() => google.forms, WITHIN).toHaveLength(renewals)
    await inState(tenant, path, 'paused')
    google.onIssued = (_, token) => Object.assign(system, { token })
    await post(`${path}/resume`)
    run_id = (await pulled(tenant, path, run_id)).run_id
    // The provider ends a sign-in that renews with an old refresh token.
    system.token = 'expired'
    await post(`${path}/pull`)
    await pulled(tenant, path, run_id)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
  })

  test('a renewal that the provider does not answer is repeated, and signs nobody out', async () => {
    const { id, secret } = google.client
    const setClient = (client_secret: string) =>
      tenant.call('PUT', '/v1/oauth-clients/google', { client_id: id, client_secret })
    await setClient(secret)
    google.onIssued = (_, token) => Object.assign(system, { token })
    const purpose = { kind: 'connection', connector: 'scripted' }
    const started = await post('/v1/authorizations', { provider: 'google', purpose })
    const completed = await post('/v1/authorizations/complete', await signInAt(started.body.authorization_url))
    const path = `/v1${completed.body.path}`
    const { run_id } = await pulled(tenant, path)
    system.token = 'expired'
    const errorWhile = async (part: string) => {
      await post(`${path}/pull`)
      await expect.poll(async () => (await read(path)).error, WITHIN).toContain(part)
      return inState(tenant, path, 'failed')
    }
    google.fault = { status: 503, body: 'Down for maintenance' }
    await errorWhile('status 503')
    google.fault = { status: 403, body: '<html>Blocked by the proxy</html>' }
    await errorWhile('status 403')
    google.fault = 'drop'
    await errorWhile('cannot be reached')
    google.fault = null
    await setClient('not-the-secret')
    const { error, next_pull_at } = await errorWhile('invalid_client')
    expect(error).not.toContain('not-the-secret')
    expect(Date.parse(next_pull_at)).toBeGreaterThan(Date.now())
    await setClient(secret)
    await post(`${path}/pull`)
    await pulled(tenant, path, run_id)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
  })
})
