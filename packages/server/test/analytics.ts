import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ConnectedSystem,
  type SystemAnswer,
  type SystemRequest,
  startConnectedSystem,
} from './connected-system.ts'
import { connectSystem, type TestConnection } from './connection.ts'
import { makeCertificate } from './receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

const DAY_MS = 86_400_000

/** An event, as every product-analytics system has it. */
export interface PeerEvent {
  id: string
  name: string
  at: Date
  /** When the system got it. Default: when it happened. */
  receivedAt?: Date
  userId?: string
  deviceId?: string
  properties?: Record<string, unknown>
  /** What is known of the person at that time. */
  person?: Record<string, unknown>
}

/** A product-analytics system that behaves as its documentation says. */
export interface AnalyticsPeer {
  connector: string
  label: string
  settings: object
  credentials: object
  otherCredentials: object
  /** Answers a request with the valid credentials. */
  answer(request: SystemRequest): SystemAnswer | Promise<SystemAnswer>
  /** Which credentials a request has. */
  signedInWith(request: SystemRequest): 'first' | 'other' | 'none'
  unauthorized: SystemAnswer
  /** Whether a request reads events, and not the people or the account. */
  readsEvents(request: SystemRequest): boolean
  add(...events: PeerEvent[]): Promise<void>
  /** Adds an event without a person, and one that is from next week. */
  addBad(at: Date): Promise<void>
  /** Empties it. */
  reset(service: TestService): Promise<void>
}

export interface AnalyticsBench {
  service: TestService
  tenant: TestTenant
  system: ConnectedSystem
  connect(more?: object): Promise<TestConnection>
  /** The number of events of a name, or of all. */
  countEvents(event?: string): Promise<number>
  contactOf(email: string): Promise<{ contact_id: string; properties: Record<string, unknown> } | undefined>
  contacts(): Promise<{ contact_id: string }[]>
  accept(credentials: 'first' | 'other'): void
}

export function daysAgo(days: number, hours = 0): Date {
  return new Date(Date.now() - days * DAY_MS - hours * 3_600_000)
}

/** UUIDv7 of a device, as SDKs generate them. */
export function deviceId(number: number): string {
  return `019a2b3c-4d5e-7f60-8a1b-${String(number).padStart(12, '0')}`
}

/** Starts a service with the system, before the tests of a file. */
export function useAnalytics(peer: AnalyticsPeer): AnalyticsBench {
  const bench = {} as AnalyticsBench
  let accepted: 'first' | 'other'
  beforeAll(async () => {
    const certificate = makeCertificate()
    bench.system = await startConnectedSystem(certificate, (request) =>
      peer.signedInWith(request) === accepted ? peer.answer(request) : peer.unauthorized,
    )
    const outbound = { allowPrivate: true, ca: certificate.certificate }
    const connectorUrls = { [peer.connector]: bench.system.url }
    bench.service = await startTestService({}, { outbound, connectorUrls })
  })
  beforeEach(async () => {
    accepted = 'first'
    bench.tenant = await createTestTenant(bench.service)
    bench.system.requests = []
    bench.system.intercept = () => undefined
    await peer.reset(bench.service)
  })
  afterEach(() => {
    // TEMP
    process.stderr.write(
      `${bench.service.logged
        .filter((line) => line.includes('a pull failed'))
        .slice(-1)
        .join('')
        .slice(0, 3000)}\n`,
    ) // TEMP
  }) // TEMP
  afterAll(async () => {
    await bench.service?.close()
    await bench.system?.close()
  })
  bench.accept = (credentials) => {
    accepted = credentials
  }
  bench.connect = (more = {}) => {
    const { connector, settings, credentials } = peer
    const read_since = daysAgo(4).toISOString()
    return connectSystem(bench.tenant, { connector, settings, credentials, read_since, ...more })
  }
  bench.countEvents = async (event) => {
    const query = event === undefined ? '' : `&event=${encodeURIComponent(event)}`
    return (await bench.tenant.call('GET', `/v1/events?count_only=true${query}`)).body.count
  }
  bench.contacts = async () => (await bench.tenant.call('GET', '/v1/contacts?limit=100')).body.contacts
  bench.contactOf = async (email) => {
    const { body } = await bench.tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
    return body.contacts.find(({ properties }: { properties: { email?: string } }) => properties.email === email)
  }
  return bench
}

/** Events of three days: one person on two devices, and an anonymous visitor. */
export function threeDays(): PeerEvent[] {
  const person = { email: 'ada@example.com', plan: 'pro', city: 'Paris' }
  return [3, 2, 1].flatMap((day): PeerEvent[] => [
    { id: `a${day}`, name: 'Order paid', at: daysAgo(day, 5), userId: 'user-1', deviceId: deviceId(1), person },
    { id: `b${day}`, name: 'Order paid', at: daysAgo(day, 4), userId: 'user-1', deviceId: deviceId(2), person },
    { id: `c${day}`, name: 'Looked around', at: daysAgo(day, 3), deviceId: deviceId(3) },
  ])
}

/** What every product-analytics connector must do; each test is a cell of the matrix of connectors. */
export function testAnalyticsConnector(peer: AnalyticsPeer, bench: AnalyticsBench): void {
  const { connector, label } = peer
  const eventRequests = () => bench.system.requests.filter((request) => peer.readsEvents(request)).length

  describe(`${label}, like every product-analytics system`, () => {
    test('first read: events belong to people and visitors, and what is known of a person is a guess of the source', async () => {
      const { tenant } = bench
      const created = await tenant.call('POST', '/v1/contacts', {
        properties: { email: 'ada@example.com', city: 'London' },
      })
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      expect(await bench.countEvents()).toBe(9)
      // The visitor identifies nobody, so it is no contact.
      const contacts = await bench.contacts()
      expect(contacts).toHaveLength(1)
      const { contact_id } = created.body.contact ?? created.body
      const { contact, unified_profile } = (await tenant.call('GET', `/v1/contacts/${contact_id}?include=provenance`))
        .body
      expect(contact.properties).toMatchObject({ email: 'ada@example.com', city: 'London', plan: 'pro' })
      expect(contact.properties_provenance.plan.source).toBe(connector)
      expect(contact.properties_provenance.city.source).toBe('manual')
      expect(unified_profile.profile.city.all_sources).toContain(connector)
      expect(unified_profile.sources.identify.external_id).toBe('user-1')
      const { events } = (await tenant.call('GET', `/v1/contacts/events/${contact_id}?limit=100`)).body
      expect(events.filter(({ event }: { event: string }) => event === 'Order paid')).toHaveLength(6)
      expect((await connection.read()).error).toBeNull()
    })

    test('first read: nothing is read before the date that it begins at', async () => {
      const [old] = threeDays()
      if (!old) throw new Error('There is no event.')
      await peer.add({ ...old, id: 'old', at: daysAgo(8) }, ...threeDays())
      await (await bench.connect()).firstRun()
      expect(await bench.countEvents()).toBe(9)
    })

    test('increment: the next pull brings new events and those that came late, and doubles nothing', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      const { run_id } = await connection.firstRun()
      const receivedAt = new Date(Date.now() - 3.3 * 3_600_000)
      await peer.add(
        { id: 'new', name: 'New', at: receivedAt, userId: 'user-1', receivedAt },
        { id: 'late', name: 'Late', at: daysAgo(2), deviceId: deviceId(3), receivedAt: new Date() },
      )
      expect((await connection.pull()).run_id).not.toBe(run_id)
      expect(await bench.countEvents('New')).toBe(1)
      expect(await bench.countEvents('Order paid')).toBe(6)
    })

    test('reading everything again doubles nothing', async () => {
      await peer.add(...threeDays(), { id: '', name: 'No id', at: daysAgo(2), userId: 'user-1' })
      const connection = await bench.connect()
      await connection.firstRun()
      const before = { events: await bench.countEvents(), contacts: await bench.contacts() }
      expect(before.events).toBe(10)
      const run = await connection.reread(daysAgo(4).toISOString())
      expect(await bench.countEvents()).toBe(before.events)
      expect(await bench.contacts()).toEqual(before.contacts)
      expect(run.counts.events).toEqual({ unchanged: 10 })
    })

    test('rate limit: the request is repeated when the system says, and the pull goes on', async () => {
      await peer.add(...threeDays())
      let refusals = 0
      bench.system.intercept = (request) =>
        peer.readsEvents(request) && refusals++ === 0 ? { status: 429, headers: { 'retry-after': '1' } } : undefined
      await (await bench.connect()).firstRun()
      expect(refusals).toBeGreaterThan(1)
      expect(await bench.countEvents()).toBe(9)
    })

    test('token refresh: new credentials of the same project continue, and read nothing again', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      const { run_id } = await connection.firstRun()
      bench.accept('other')
      const body = { credentials: peer.otherCredentials, settings: peer.settings }
      expect((await bench.tenant.call('PATCH', `/v1/connections/${connection.id}`, body)).status).toBe(200)
      await expect
        .poll(async () => (await connection.read()).last_run, { timeout: 60_000 })
        .toMatchObject({ run_id: expect.not.stringMatching(run_id), finished_at: expect.any(String) })
      expect((await connection.read()).last_run?.counts.events?.accepted).toBeUndefined()
      expect(await bench.countEvents()).toBe(9)
    })

    test('expired sign-in: the connection waits for a person, who signs in again', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      bench.accept('other')
      await bench.tenant.call('POST', `/v1/connections/${connection.id}/pull`, {})
      const { error } = await connection.until('signed_out')
      expect(error).toContain(`${label} responded with status 401`)
      for (const secret of Object.values(peer.credentials)) expect(error).not.toContain(secret)
      const body = { credentials: peer.otherCredentials }
      expect((await bench.tenant.call('PATCH', `/v1/connections/${connection.id}`, body)).status).toBe(200)
      expect((await connection.until('waiting')).error).toBeNull()
    })

    test('server error: a read is repeated, and an error that lasts is shown until the next pull succeeds', async () => {
      await peer.add(...threeDays())
      let failures = 1
      bench.system.intercept = (request) =>
        peer.readsEvents(request) && failures-- > 0 ? { status: 503, body: {} } : undefined
      const connection = await bench.connect()
      await connection.firstRun()
      expect(await bench.countEvents()).toBe(9)
      failures = 100
      await bench.tenant.call('POST', `/v1/connections/${connection.id}/pull`, {})
      expect((await connection.until('failed')).error).toBe(`${label} responded with status 503.`)
      failures = 0
      await bench.tenant.call('POST', `/v1/connections/${connection.id}/pull`, {})
      expect((await connection.until('waiting')).error).toBeNull()
    })

    test('bad record: it is among the errors, and the others are read', async () => {
      await peer.add(...threeDays())
      await peer.addBad(daysAgo(1))
      const connection = await bench.connect()
      const { counts } = await connection.firstRun()
      expect(counts.events).toEqual({ accepted: 9, failed: 2 })
      expect(await connection.errors()).toEqual([
        expect.objectContaining({ object: 'events', code: 'validation_error', message: expect.any(String) }),
        expect.objectContaining({ object: 'events', code: 'validation_error', message: expect.any(String) }),
      ])
    })

    test('restart in the middle: a cut connection continues after the last page', async () => {
      await peer.add(...threeDays())
      let cuts = 0
      bench.system.intercept = (request) => {
        if (!peer.readsEvents(request)) return undefined
        return eventRequests() >= 3 && cuts++ === 0 ? null : undefined
      }
      const connection = await bench.connect()
      await expect
        .poll(
          async () => {
            const { state, last_run } = await connection.read()
            if (state === 'failed') await bench.tenant.call('POST', `/v1/connections/${connection.id}/pull`, {})
            return last_run?.finished_at ?? null
          },
          { timeout: 120_000, interval: 200 },
        )
        .not.toBeNull()
      expect(await bench.countEvents()).toBe(9)
    })

    test('deletion: a person of whom the system no longer says anything stays until it is erased here', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      await peer.reset(bench.service)
      await connection.pull()
      expect(await bench.contacts()).toHaveLength(1)
      expect(await bench.countEvents()).toBe(9)
    })

    test('erase: an erased person and its events do not come back with the next pull', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      const contact = await bench.contactOf('ada@example.com')
      const { body } = await bench.tenant.call('POST', '/v1/erasures', { contact_id: contact?.contact_id })
      await expect
        .poll(
          async () => (await bench.tenant.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body.receipt.status,
          { timeout: 60_000 },
        )
        .toBe('verified')
      await peer.add({ id: 'new', name: 'New', at: daysAgo(0, 3.4), deviceId: deviceId(3) })
      await connection.pull()
      expect(await bench.contacts()).toEqual([])
      expect(await bench.countEvents('Order paid')).toBe(0)
    })

    test('wrong credentials are refused with what the system says, and nothing is connected', async () => {
      const { settings, otherCredentials: credentials } = peer
      const answer = await bench.tenant.call('POST', '/v1/connections', { connector, settings, credentials })
      expect(answer.status).toBe(400)
      expect(answer.body.error.code).toBe('connection_refused')
      expect((await bench.tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
    })
  })
}
