import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectedTo, pausesBetween } from '../../../test/connected-system.ts'
import { connectionWhich, reaches } from '../../../test/connection-rows.ts'
import { createDatabase } from '../../../test/databases.ts'
import { type HubSpot, TOKEN, tooMany } from '../../../test/hubspot.ts'
import { HubSpotRecords } from '../../../test/hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from '../../../test/hubspot-workspace.ts'
import { createTestTenant, startTestService, type TestService, TestTenant } from '../../../test/service.ts'
import { HOUR_MS } from '../../platform/time.ts'

const WITHIN = { timeout: 120_000, interval: 20 }

let bench: HubSpotBench
let hubspot: HubSpot
let service: TestService
let workspace: HubSpotWorkspace

beforeAll(async () => {
  bench = await startHubSpotBench({ CDS_PUBLIC_URL: 'https://cds.example' })
})
beforeEach(async () => {
  ;({ hubspot, service } = bench)
  const [records, tokens] = [new HubSpotRecords(), new Set([TOKEN])]
  Object.assign(hubspot, { records, tokens, requests: [], remainingToday: 250_000, intercept: () => undefined })
  workspace = await HubSpotWorkspace.create(service)
})
// HubSpot is the same for all tests: this connection must not read the next one's records.
afterEach(() => workspace.tenant.call('DELETE', workspace.path))
afterAll(() => bench?.close())

const inState = (state: string) => reaches(workspace.tenant, workspace.connectionId, state)
const contacts = (count: number) => {
  for (let n = 0; n < count; n++) hubspot.records.create('contacts', { email: `p${n}@example.com` })
}
const count = async () => (await workspace.tenant.call('GET', '/v1/contacts?count_only=true')).body.count

describe("HubSpot's limits", () => {
  test('of a few seconds are waited for, as long as HubSpot says', async () => {
    contacts(1)
    const interval = { 'x-hubspot-ratelimit-interval-milliseconds': '300' }
    const refusals = [
      { ...tooMany('TEN_SECONDLY_ROLLING', 'You have reached your ten_secondly_rolling limit.'), headers: interval },
      { ...tooMany('SECONDLY', 'You have reached your secondly limit.'), headers: interval },
      { ...tooMany('TEN_SECONDLY_ROLLING', 'Slow down.'), headers: { ...interval, 'retry-after': '2' } },
    ]
    hubspot.intercept = ({ path }) => (path.endsWith('/contacts') ? refusals.shift() : undefined)
    expect((await workspace.connect()).contacts).toEqual({ created: 1 })
    expect(refusals).toEqual([])
    const tries = hubspot.requests.filter(({ path }) => path.endsWith('/objects/contacts')).slice(0, 4)
    const waits = pausesBetween(tries).map((wait, index) => wait >= ([300, 1_000, 2_000][index] ?? 0))
    expect(waits).toEqual([true, true, true])
  })

  test('of a day end the read, which continues an hour later where it stopped', async () => {
    contacts(150)
    hubspot.intercept = ({ query }) => {
      if (query.get('after') === '100') hubspot.remainingToday = 0
      return undefined
    }
    await workspace.addConnection()
    const isLater = ({ next_pull_at }: { next_pull_at: Date }) => next_pull_at.getTime() - Date.now() > HOUR_MS - 60_000
    await connectionWhich(workspace.tenant, workspace.connectionId, isLater)
    expect(await workspace.read()).toMatchObject({ state: 'waiting', error: null })
    hubspot.intercept = () => undefined
    hubspot.remainingToday = 1_000
    hubspot.requests = []
    await workspace.pull()
    expect(await count()).toBe(150)
    const listed = hubspot.requests.filter(({ path, query }) => path.endsWith('/contacts') && !query.has('archived'))
    expect(listed.map(({ query }) => query.get('after'))).toEqual(['100'])
  })
})

test('a missing permission for emails does not stop other records, and the emails are read once it is granted', async () => {
  contacts(1)
  const email = hubspot.records.create('emails', { hs_email_subject: 'Hello', hs_timestamp: '2026-01-02T03:04:05Z' })
  hubspot.records.associate(['emails', email], ['contacts', hubspot.records.of('contacts')[0]?.id ?? ''])
  const body = { message: "This app hasn't been granted all required scopes: [sales-email-read]" }
  hubspot.intercept = ({ path }) => (path.endsWith('/emails') ? { status: 403, body } : undefined)
  await workspace.addConnection()
  await inState('failed')
  const { error, objects, last_run, next_pull_at } = await workspace.read()
  expect(error).toContain('emails: HubSpot responded with status 403')
  expect(error).toContain('sales-email-read')
  expect(last_run).toMatchObject({ finished_at: expect.any(String), counts: { contacts: { created: 1 } } })
  expect(Date.parse(next_pull_at)).toBeGreaterThan(Date.now())
  const refused = objects.filter((object: { error: string | null }) => object.error !== null)
  expect(refused).toMatchObject([{ name: 'emails', read_until: null, is_reading: false }])
  // The next pull reads only contacts that changed.
  hubspot.records.create('contacts', { email: 'later@example.com' })
  await workspace.tenant.call('POST', `${workspace.path}/pull`)
  await expect.poll(count, WITHIN).toBe(2)
  await inState('failed')
  hubspot.intercept = () => undefined
  await workspace.tenant.call('POST', `${workspace.path}/pull`)
  await inState('waiting')
  expect(await workspace.read()).toMatchObject({ error: null, last_run: { counts: { emails: { accepted: 1 } } } })
  expect(await workspace.events('hubspot_email')).toHaveLength(1)
})

test('a missing permission for contacts delays the records that refer to them, and nothing is missing once it is granted', async () => {
  contacts(1)
  const times = { hs_timestamp: '2026-01-02T03:04:05Z' }
  for (const type of ['calls', 'emails', 'meetings', 'notes'] as const) {
    const id = hubspot.records.create(type, times)
    hubspot.records.associate([type, id], ['contacts', hubspot.records.of('contacts')[0]?.id ?? ''])
  }
  const body = { message: 'This app has no scope [crm.objects.contacts.read]' }
  hubspot.intercept = ({ path }) => (/\/contacts(\/search)?$/.test(path) ? { status: 403, body } : undefined)
  await workspace.addConnection()
  await inState('failed')
  const { error, objects } = await workspace.read()
  expect(error).toContain('contacts: HubSpot responded with status 403')
  const unread = objects.filter(({ read_until }: { read_until: string | null }) => read_until === null)
  expect(unread.map(({ name }: { name: string }) => name)).toEqual([
    'contacts',
    'deals',
    'calls',
    'emails',
    'meetings',
    'notes',
    'tasks',
  ])
  expect(unread[2].error).toBe('Waits for contacts, which its records refer to.')
  hubspot.intercept = () => undefined
  await workspace.tenant.call('POST', `${workspace.path}/pull`)
  await inState('waiting')
  const accepted = { accepted: 1 }
  expect((await workspace.read()).last_run.counts).toMatchObject({
    contacts: { created: 1 },
    calls: accepted,
    emails: accepted,
    meetings: accepted,
    notes: accepted,
  })
  expect((await workspace.tenant.call('GET', `${workspace.path}/errors`)).body.errors).toEqual([])
})

describe('a sign-in at HubSpot', () => {
  test('with OAuth is renewed when HubSpot no longer accepts the access token', async () => {
    contacts(1)
    await workspace.signIn('good-code')
    expect((await workspace.pulled()).contacts).toEqual({ created: 1 })
    hubspot.tokens = new Set()
    await workspace.pull()
    expect(hubspot.requests.filter(({ path }) => path === '/oauth/v1/token')).toHaveLength(2)
    expect(hubspot.tokens.size).toBe(1)
  })

  test('that has ended is shown, and signing in again continues the read', async () => {
    contacts(1)
    await workspace.connect()
    hubspot.tokens = new Set()
    await workspace.tenant.call('POST', `${workspace.path}/pull`)
    await inState('signed_out')
    expect((await workspace.read()).error).toContain('HubSpot responded with status 401')
    expect((await workspace.read()).error).not.toContain(TOKEN)
    hubspot.tokens = new Set([TOKEN])
    hubspot.records.create('contacts', { email: 'later@example.com' })
    const again = await workspace.tenant.call('PATCH', workspace.path, { credentials: { token: TOKEN } })
    expect(again.status).toBe(200)
    await workspace.pulled()
    await expect.poll(count, WITHIN).toBe(2)
  })
})

describe('a read', () => {
  test('survives errors of HubSpot: requests are retried, then the whole read', async () => {
    contacts(1)
    let failures = 4
    hubspot.intercept = ({ path }) =>
      path.endsWith('/contacts') && failures-- > 0
        ? { status: 503, body: { message: 'Service unavailable' } }
        : undefined
    await workspace.addConnection()
    await inState('failed')
    expect((await workspace.read()).error).toBe('HubSpot responded with status 503: Service unavailable')
    await workspace.tenant.call('POST', `${workspace.path}/pull`)
    await expect.poll(count, WITHIN).toBe(1)
  })

  test('continues after a restart where it stopped', async () => {
    const environment = {
      CDS_SECRET_KEY: randomBytes(32).toString('base64'),
      DATABASE_URL: await createDatabase(),
    }
    const start = () => startTestService(environment, connectedTo(hubspot, 'hubspot'))
    const first = await start()
    const before = await HubSpotWorkspace.create(first)
    contacts(150)
    const reached = Promise.withResolvers<void>()
    hubspot.intercept = ({ query }) => {
      if (query.get('after') !== '100') return undefined
      reached.resolve()
      return null
    }
    await before.addConnection()
    await reached.promise
    await first.close()
    hubspot.intercept = () => undefined
    hubspot.requests = []
    const second = await start()
    try {
      const { id, key, site } = before.tenant
      const after = new HubSpotWorkspace(new TestTenant(second, id, key, site))
      after.connectionId = before.connectionId
      await after.tenant.call('POST', `${after.path}/pull`)
      await after.pulled()
      expect((await after.tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(150)
      const listed = hubspot.requests.filter(({ path, query }) => path.endsWith('/contacts') && !query.has('archived'))
      expect(listed.map(({ query }) => query.get('after'))).toEqual(['100'])
    } finally {
      await second.close()
    }
  })

  test('belongs to one tenant: another one sees neither the connection nor its data', async () => {
    contacts(1)
    await workspace.connect()
    const other = await createTestTenant(service)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '/write-back', { properties: [] }],
      ['GET', '/errors', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      const response = await other.call(method, workspace.path + path, body)
      expect([response.status, response.body.error.code]).toEqual([404, 'not_found'])
    }
    expect((await other.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(0)
  })
})
