import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pausesBetween } from '../../../test/connected-system.ts'
import { createDatabase } from '../../../test/databases.ts'
import { type HubSpot, startHubSpot, TOKEN, tooMany } from '../../../test/hubspot.ts'
import { HubSpotWorkspace } from '../../../test/hubspot-workspace.ts'
import { freePort } from '../../../test/ports.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, TestTenant } from '../../../test/service.ts'
import { HOUR_MS } from '../../platform/time.ts'

const WITHIN = { timeout: 120_000, interval: 100 }
/** A timer may end this much early. */
const TIMER_MS = 10
const certificate = makeCertificate()

let hubspot: HubSpot
let service: TestService
let workspace: HubSpotWorkspace
let environment: Record<string, string>

async function start(): Promise<void> {
  service = await startTestService(environment, {
    outbound: { allowPrivate: true, ca: certificate.certificate },
    connectorUrls: { hubspot: hubspot.url },
    providerUrls: { hubspot: hubspot.url },
  })
}

beforeEach(async () => {
  hubspot = await startHubSpot(certificate)
  const port = String(await freePort())
  environment = {
    PORT: port,
    CDS_PUBLIC_URL: `http://127.0.0.1:${port}`,
    CDS_SECRET_KEY: randomBytes(32).toString('base64'),
    DATABASE_URL: await createDatabase(),
  }
  await start()
  workspace = await HubSpotWorkspace.create(service)
})
afterEach(async () => {
  await service.close()
  await hubspot.close()
})

const state = async () => (await workspace.read()).state
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
    const waits = pausesBetween(tries).map((wait, index) => wait > ([300, 1_000, 2_000][index] ?? 0) - TIMER_MS)
    expect(waits).toEqual([true, true, true])
  })

  test('of a day end the read, which continues an hour later where it stopped', async () => {
    contacts(150)
    await workspace.addConnection()
    hubspot.intercept = ({ query }) => {
      if (query.get('after') === '100') hubspot.remainingToday = 0
      return undefined
    }
    await expect
      .poll(async () => Date.parse((await workspace.read()).next_pull_at) - Date.now(), WITHIN)
      .toBeGreaterThan(HOUR_MS - 60_000)
    expect([await state(), (await workspace.read()).error]).toEqual(['waiting', null])
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
  await expect.poll(state, WITHIN).toBe('failed')
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
  await expect.poll(state, WITHIN).toBe('failed')
  hubspot.intercept = () => undefined
  await workspace.tenant.call('POST', `${workspace.path}/pull`)
  await expect.poll(state, WITHIN).toBe('waiting')
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
  await expect.poll(state, WITHIN).toBe('failed')
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
  await expect.poll(state, WITHIN).toBe('waiting')
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
    await expect.poll(state, WITHIN).toBe('signed_out')
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
    await expect.poll(state, WITHIN).toBe('failed')
    expect((await workspace.read()).error).toBe('HubSpot responded with status 503: Service unavailable')
    await workspace.tenant.call('POST', `${workspace.path}/pull`)
    await expect.poll(count, WITHIN).toBe(1)
  })

  test('continues after a restart where it stopped', async () => {
    contacts(150)
    let isReached = false
    hubspot.intercept = ({ query }) => {
      if (query.get('after') !== '100') return undefined
      isReached = true
      return null
    }
    await workspace.addConnection()
    await expect.poll(() => isReached, WITHIN).toBe(true)
    await service.close()
    hubspot.intercept = () => undefined
    hubspot.requests = []
    await start()
    const { id, key, site } = workspace.tenant
    const again = new HubSpotWorkspace(new TestTenant(service, id, key, site))
    again.connectionId = workspace.connectionId
    workspace = again
    await workspace.tenant.call('POST', `${workspace.path}/pull`)
    await expect.poll(count, WITHIN).toBe(150)
    const listed = hubspot.requests.filter(({ path, query }) => path.endsWith('/contacts') && !query.has('archived'))
    expect(listed.map(({ query }) => query.get('after'))).toEqual(['100'])
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
