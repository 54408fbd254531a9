import { afterAll, beforeAll, beforeEach } from 'vitest'
import { DAY_MS, HOUR_MS } from '../src/platform/time.ts'
import {
  type ConnectedSystem,
  connectedTo,
  type SystemRequest,
  type SystemResponse,
  startConnectedSystem,
} from './connected-system.ts'
import { connectSystem, type TestConnection } from './connection.ts'
import { makeCertificate } from './receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

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
  /** Responds to a request with the valid credentials. */
  respond(request: SystemRequest): SystemResponse | Promise<SystemResponse>
  /** Which credentials a request has. */
  signedInWith(request: SystemRequest): 'first' | 'other' | 'none'
  unauthorized: SystemResponse
  /** How long after it got an event it exports it. */
  delayMs: number
  /** Whether every pull finds events that came late; otherwise, the first one of a day does. */
  findsLateAtOnce: boolean
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
  return new Date(Date.now() - days * DAY_MS - hours * HOUR_MS)
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
      peer.signedInWith(request) === accepted ? peer.respond(request) : peer.unauthorized,
    )
    bench.service = await startTestService({}, connectedTo(bench.system, peer.connector))
  })
  beforeEach(async () => {
    accepted = 'first'
    bench.tenant = await createTestTenant(bench.service)
    bench.system.requests = []
    bench.system.intercept = () => undefined
    await peer.reset(bench.service)
  })
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
    const query = event === undefined ? '' : `&event_type=${encodeURIComponent(event)}`
    return (await bench.tenant.call('GET', `/v1/events?count_only=true${query}`)).body.count
  }
  bench.contacts = async () => (await bench.tenant.call('GET', '/v1/contacts?limit=100')).body.contacts
  bench.contactOf = (email) => bench.tenant.contactOf(email)
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
