import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OAuthProvider, signInAt, startOAuthProvider } from '../../test/oauth-provider.ts'
import {
  connect,
  inState,
  person,
  pulled,
  readConnection,
  type ScriptedSystem,
  startScriptedSystem,
  WITHIN,
} from '../../test/scripted-connector.ts'
import {
  createTestTenant,
  refuseUpdates,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'

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
  Object.assign(google, { fault: null, more: {} })
  google.onIssued = (_, token) => Object.assign(system, { token })
  const { id, secret } = google.client
  await tenant.call('PUT', '/v1/oauth-clients/google', { client_id: id, client_secret: secret })
})
afterAll(async () => {
  await service?.close()
  await google?.close()
  await system?.close()
})

const read = (path: string) => readConnection(tenant, path)
const post = (path: string, body?: object) => tenant.call('POST', path, body)

/** Signs in for the scripted system. @returns the path of the connection. */
async function signIn(more: Record<string, unknown> = { connector: 'scripted' }): Promise<string> {
  const purpose = { kind: 'connection', ...more }
  const started = await post('/v1/authorizations', { provider: 'google', purpose })
  const completed = await post('/v1/authorizations/complete', await signInAt(started.body.authorization_url))
  expect(completed.status).toBe(200)
  return `/v1${completed.body.path}`
}

describe('a sign-in at a provider', () => {
  test('renews an expired access token, stores it, and is signed out when that is refused', async () => {
    system.pages = [{ contacts: [person(1)] }]
    const before = google.forms.length
    const path = await signIn()
    let { run_id } = await pulled(tenant, path)
    expect(google.forms).toHaveLength(before + 1)
    // Twice, because the second renewal needs the refresh token that the first one stored.
    for (const renewals of [1, 2]) {
      system.token = 'expired'
      await post(`${path}/pull`)
      run_id = (await pulled(tenant, path, run_id)).run_id
      expect(google.forms).toHaveLength(before + 1 + renewals)
    }
    google.revokeAll()
    system.token = 'expired'
    await post(`${path}/pull`)
    expect((await inState(tenant, path, 'signed_out')).error).toContain('revoked')
    await signIn({ connection_id: path.split('/').at(-1) })
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

  test('a renewal that gets no usable response is retried, and does not sign anyone out', async () => {
    const { id, secret } = google.client
    const setClient = (client_secret: string) =>
      tenant.call('PUT', '/v1/oauth-clients/google', { client_id: id, client_secret })
    const path = await signIn()
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

  test('is not lost if renewed tokens cannot be stored: the next pull stores and uses them', async () => {
    system.pages = [{ contacts: [person(1)] }]
    const path = await signIn()
    const { run_id } = await pulled(tenant, path)
    const renewals = google.forms.length
    const isStored = sql`old.tenant_id = ${sql.lit(tenant.id)} AND new.sealed <> old.sealed`
    const end = await refuseUpdates(service.stores.database, 'connections', isStored)
    try {
      system.token = 'expired'
      await post(`${path}/pull`)
      await inState(tenant, path, 'failed')
    } finally {
      await end()
    }
    await post(`${path}/pull`)
    await pulled(tenant, path, run_id)
    // The provider ends a sign-in whose replaced refresh token is used again.
    expect(google.forms).toHaveLength(renewals + 1)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
  })

  test('starts the first read at a date, which must be valid', async () => {
    const purpose = { kind: 'connection', connector: 'scripted', read_since: 'last year' }
    const refused = await post('/v1/authorizations', { provider: 'google', purpose })
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'purpose.read_since'])
    await pulled(tenant, await signIn({ connector: 'scripted', read_since: '2026-01-01' }))
    const [first] = system.requests.filter(({ path }) => path === '/people')
    expect(first?.query.get('since')).toBe('2026-01-01T00:00:00.000Z')
  })

  test('is kept when only the settings change, and everything is read again', async () => {
    system.pages = [{ contacts: [person(1)] }]
    google.more = { account_url: 'https://engines.example' }
    const path = await signIn({ connector: 'scripted', region: 'eu' })
    const { run_id } = await pulled(tenant, path)
    // The access token expires before the change, which is tested with a renewed one.
    system.token = 'expired'
    const settings = { region: 'us', account_url: 'https://another.example' }
    const changed = await tenant.call('PATCH', path, { settings })
    expect(changed.body.connection.settings).toEqual({ region: 'us', account_url: 'https://engines.example' })
    const run = await pulled(tenant, path, run_id)
    expect(run.counts).toEqual({ people: { unchanged: 1 } })
    expect(
      system.requests
        .filter(({ path: asked }) => asked === '/people')
        .at(-1)
        ?.query.get('since'),
    ).toBeNull()
    // The renewed token was stored.
    await post(`${path}/pull`)
    await pulled(tenant, path, run.run_id)
    const invalid = await tenant.call('PATCH', path, { settings: { area: 'eu' } })
    expect([invalid.status, invalid.body.error.code]).toEqual([400, 'validation_error'])
    google.revokeAll()
    system.token = 'expired'
    const refused = await tenant.call('PATCH', path, { settings: { region: 'eu' } })
    expect([refused.status, refused.body.error.code]).toEqual([400, 'connection_refused'])
    expect((await read(path)).settings).toMatchObject({ region: 'us' })
  })

  test('with entered credentials is kept too, for the host that they were entered for', async () => {
    const path = await connect(tenant, { settings: { region: 'eu' } })
    const { run_id } = await pulled(tenant, path)
    expect((await tenant.call('PATCH', path, { settings: {} })).body.connection.settings).toEqual({})
    await pulled(tenant, path, run_id)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
    const elsewhere = await tenant.call('PATCH', path, { settings: { host: 'another.example' } })
    expect([elsewhere.status, elsewhere.body.error.details[0].path]).toEqual([400, 'credentials'])
    const row = tenant.handle.db.updateTable('connections').set({ sealed: 'of another key' })
    await row.where('connection_id', '=', path.split('/').at(-1) ?? '').execute()
    const refused = await tenant.call('PATCH', path, { settings: { region: 'us' } })
    expect([refused.status, refused.body.error.code]).toEqual([400, 'connection_refused'])
  })
})
