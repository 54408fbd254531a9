import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type AnalyticsPeer,
  daysAgo,
  deviceId,
  type PeerEvent,
  threeDays,
  useAnalytics,
} from '../../../test/analytics.ts'
import { testAnalyticsConnector } from '../../../test/analytics-matrix.ts'
import type { SystemRequest } from '../../../test/connected-system.ts'
import { connectSystem } from '../../../test/connection.ts'
import { connectionWhich } from '../../../test/connection-rows.ts'
import { HOUR_MS } from '../../platform/time.ts'
import { EVENTS_PER_PAGE } from '../event-lines.ts'
import { dayOf, openZone } from './zone.ts'

const UTC = openZone('UTC')
const PAGE_SIZE = 2

let events: PeerEvent[] = []
let lines: { day: string; text: string }[] = []
let profiles: Map<string, Record<string, unknown>> = new Map()

function basic(username: string, secret: string): string {
  return `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`
}

/** An event of the simplified identity merge: $device_id and $user_id, and distinct_id of the person if there is one. */
function lineOf({ id, name, at, receivedAt = at, userId, deviceId: device, properties }: PeerEvent): string {
  return JSON.stringify({
    event: name,
    properties: {
      ...properties,
      time: at.getTime(),
      distinct_id: userId ?? (device === undefined ? undefined : `$device:${device}`),
      ...(device === undefined ? {} : { $device_id: device }),
      ...(userId === undefined ? {} : { $user_id: userId }),
      ...(id === '' ? {} : { $insert_id: id }),
      mp_processing_time_ms: receivedAt.getTime(),
    },
  })
}

const utcDay = (at: Date) => (UTC === null ? '' : dayOf(at, UTC))

/** https://docs.mixpanel.com/reference/raw-event-export */
function exported({ query }: SystemRequest) {
  const [from, to] = [query.get('from_date') ?? '', query.get('to_date') ?? '']
  if (to > utcDay(new Date())) return { status: 400, body: { error: 'to_date cannot be later than today' } }
  const all = [...events.map((event) => ({ day: utcDay(event.at), text: lineOf(event) })), ...lines]
  const found = all.filter(({ day }) => day >= from && day <= to).slice(0, Number(query.get('limit') ?? 1e9))
  const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
  return { headers, body: gzipSync(found.map(({ text }) => `${text}\n`).join('')) }
}

/** https://docs.mixpanel.com/reference/engage-query */
function queried({ query }: SystemRequest) {
  const page = Number(query.get('page') ?? 0)
  if ((query.get('session_id') ?? 'session-1') !== 'session-1') return { status: 400, body: { error: 'expired' } }
  const all = [...profiles].map(([$distinct_id, $properties]) => ({ $distinct_id, $properties }))
  const results = all.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)
  return { body: { page, page_size: PAGE_SIZE, session_id: 'session-1', status: 'ok', total: all.length, results } }
}

const peer: AnalyticsPeer = {
  connector: 'mixpanel',
  label: 'Mixpanel',
  settings: { project_id: '42' },
  credentials: { username: 'reader.1a2b3c.mp-service-account', secret: 'first-secret-0123' },
  otherCredentials: { username: 'reader.1a2b3c.mp-service-account', secret: 'other-secret-4567' },
  signedInWith: ({ headers }) => {
    const user = 'reader.1a2b3c.mp-service-account'
    if (headers.authorization === basic(user, 'first-secret-0123')) return 'first'
    return headers.authorization === basic(user, 'other-secret-4567') ? 'other' : 'none'
  },
  unauthorized: { status: 401, body: { error: 'Unable to authenticate request', status: 'error' } },
  delayMs: 0,
  findsLateAtOnce: false,
  readsEvents: ({ path, query }) => path === '/api/2.0/export' && !query.has('limit'),
  respond: (request) => {
    if (request.query.get('project_id') !== '42') return { status: 400, body: { error: 'Missing project_id' } }
    if (request.path === '/api/2.0/export') return exported(request)
    if (request.path === '/api/query/engage' && request.method === 'POST') return queried(request)
    return { status: 404, body: {} }
  },
  add: async (...more) => {
    events.push(...more)
    for (const { userId, person, at } of more) {
      if (userId === undefined || person === undefined) continue
      const { email, ...others } = person
      profiles.set(userId, { $email: email, ...others, $last_seen: at.toISOString().slice(0, 19) })
    }
  },
  addBad: async (at) => {
    const day = utcDay(at)
    const future = daysAgo(-7)
    lines.push({ day, text: lineOf({ id: 'nobody', name: 'Nobody', at }) })
    lines.push({ day, text: lineOf({ id: 'future', name: 'Future', at: future, userId: 'user-1' }) })
  },
  reset: async () => {
    events = []
    lines = []
    profiles = new Map()
  },
}

const bench = useAnalytics(peer)
testAnalyticsConnector(peer, bench)

function manyEvents(count: number): PeerEvent[] {
  const at = daysAgo(1)
  return Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    name: 'Many',
    at,
    deviceId: deviceId(index % 5),
  }))
}

const isPutOff = ({ next_pull_at }: { next_pull_at: Date }) => next_pull_at.getTime() - Date.now() > 200_000

function exportsOf(at: Date): number {
  return bench.system.requests.filter(
    (request) => peer.readsEvents(request) && request.query.get('from_date') === utcDay(at),
  ).length
}

/** Pauses a connection after the first page of events. */
async function pausedAfterFirstPage(expected: number) {
  await peer.add(...manyEvents(expected))
  const connection = await bench.connect()
  await expect
    .poll(async () => (await connection.read()).last_run?.counts.events?.accepted ?? 0, {
      timeout: 60_000,
      interval: 5,
    })
    .toBeGreaterThanOrEqual(EVENTS_PER_PAGE)
  expect((await bench.tenant.call('POST', `/v1/connections/${connection.id}/pause`, {})).status).toBe(200)
  const before = (await connection.read()).last_run?.counts.events?.accepted ?? 0
  expect(before).toBeLessThan(expected)
  return { connection, before }
}

describe('Mixpanel', () => {
  test('a day is exported once, and only the current day again', async () => {
    await peer.add(...threeDays())
    const connection = await bench.connect()
    await connection.firstRun()
    await connection.pull()
    // The hour before the last pull is read again. In the first hour of a day, that includes the day before.
    const readAgain = [new Date(), new Date(Date.now() - HOUR_MS)].map(utcDay)
    for (const day of [3, 2, 1, 0]) {
      const at = daysAgo(day)
      expect(exportsOf(at)).toBe(readAgain.includes(utcDay(at)) ? 2 : 1)
    }
  })

  test('the first pull of a day reads the days before again, but only for events that arrived late', async () => {
    await peer.add(...threeDays())
    const connection = await bench.connect()
    await connection.firstRun()
    const database = bench.service.stores.database
    const { position } = await database
      .selectFrom('connections')
      .select('position')
      .where('connection_id', '=', connection.id)
      .executeTakeFirstOrThrow()
    const { objects, ...rest } = position as { objects: Record<string, object> }
    const yesterday = { ...objects, events: { ...objects.events, since: daysAgo(1).toISOString() } }
    await database
      .updateTable('connections')
      .set({ position: JSON.stringify({ ...rest, objects: yesterday }) })
      .where('connection_id', '=', connection.id)
      .execute()
    await peer.add({ id: 'late', name: 'Late', at: daysAgo(3), deviceId: deviceId(3), receivedAt: new Date() })
    const { counts } = await connection.pull()
    expect(counts.events).toEqual({ accepted: 1 })
    expect(await bench.countEvents('Late')).toBe(1)
  })

  test('without a start date, it starts at the first day with events, which a few small exports find', async () => {
    await peer.add({ id: 'first', name: 'First', at: daysAgo(12), userId: 'user-1' }, ...threeDays())
    const { connector, settings, credentials } = peer
    await (await connectSystem(bench.tenant, { connector, settings, credentials })).firstRun()
    expect(await bench.countEvents()).toBe(10)
    expect(exportsOf(daysAgo(13))).toBe(0)
    const searches = bench.system.requests.filter(({ query }) => query.has('limit')).length
    expect(searches).toBeLessThan(16)
  })

  test('restart in the middle: a day continues after the last page that was read', async () => {
    const { connection, before } = await pausedAfterFirstPage(2 * EVENTS_PER_PAGE + 500)
    await bench.tenant.call('POST', `/v1/connections/${connection.id}/resume`, {})
    const run = await connection.firstRun()
    // Lines that were read are not looked up again, except at most the page in progress.
    const { accepted = 0, unchanged = 0 } = run.counts.events ?? {}
    expect(accepted + unchanged).toBe(2 * EVENTS_PER_PAGE + 500)
    expect(unchanged).toBeLessThanOrEqual(EVENTS_PER_PAGE)
    expect(before).toBeGreaterThanOrEqual(EVENTS_PER_PAGE)
    expect(await bench.countEvents('Many')).toBe(2 * EVENTS_PER_PAGE + 500)
  })

  test('restart in the middle: if the export has changed, its day is read from the start, without duplicates', async () => {
    const { connection } = await pausedAfterFirstPage(2 * EVENTS_PER_PAGE + 500)
    events.reverse()
    await bench.tenant.call('POST', `/v1/connections/${connection.id}/resume`, {})
    await connection.firstRun()
    expect(await bench.countEvents('Many')).toBe(2 * EVENTS_PER_PAGE + 500)
  })

  test('an export that Mixpanel ended early fails, and is read again', async () => {
    await peer.add(...threeDays())
    lines = [{ day: utcDay(daysAgo(2)), text: 'terminated early' }]
    const connection = await bench.connect()
    expect((await connection.until('failed')).error).toContain('ended the export')
    lines = []
    await connection.order()
    await connection.until('waiting')
    expect(await bench.countEvents()).toBe(9)
  })

  test('rate limit: without Retry-After, the job ends and another one continues after five minutes', async () => {
    await peer.add(...threeDays())
    let isLimited = true
    bench.system.intercept = (request) =>
      isLimited && peer.readsEvents(request) ? { status: 429, body: { error: 'too many requests' } } : undefined
    const connection = await bench.connect()
    await connectionWhich(bench.tenant, connection.id, isPutOff)
    expect((await connection.read()).error).toBeNull()
    isLimited = false
    await connection.order()
    await connection.firstRun()
    expect(await bench.countEvents()).toBe(9)
  })

  test('profiles are read page by page, without those of devices, and a read whose query expired starts again', async () => {
    for (const number of [1, 2, 3, 4])
      profiles.set(`user-${number}`, { $email: `p${number}@example.com`, plan: 'free' })
    profiles.set(`$device:${deviceId(9)}`, { plan: 'device' })
    let expired = false
    bench.system.intercept = ({ path, query }) => {
      if (path !== '/api/query/engage' || expired || query.get('page') !== '1') return undefined
      expired = true
      return { status: 400, body: { error: 'session expired' } }
    }
    const { counts } = await (await bench.connect()).firstRun()
    expect(expired).toBe(true)
    expect(await bench.contacts()).toHaveLength(4)
    expect((await bench.contactOf('p4@example.com'))?.properties).toMatchObject({ plan: 'free' })
    expect(counts.profiles?.failed).toBeUndefined()
  })

  test('a profile with a malformed address is an error, and one that unsubscribed is not written to', async () => {
    profiles.set('user-1', { $email: 'p1@example.com', $unsubscribed: true })
    profiles.set('user-2', { $email: 'p2 at example.com' })
    profiles.set('user-3', { $email: '' })
    const connection = await bench.connect()
    const { counts } = await connection.firstRun()
    expect(counts.profiles).toEqual({ identified: 2, failed: 1 })
    expect(await connection.errors()).toMatchObject([{ external_id: 'user-2', code: 'invalid_email' }])
    expect(
      (await bench.tenant.call('GET', '/v1/contacts?search=p1@example.com')).body.contacts[0].consent,
    ).toMatchObject({ property: 'unsubscribed' })
  })

  test('the times of an old project are in its time zone', async () => {
    const zone = openZone('America/New_York')
    if (zone === null) throw new Error('There is no such zone.')
    // Half past two on the day that the clocks go forward, and on the day that they go back.
    expect(new Date(zone.toUtc(Date.UTC(2026, 2, 8, 3, 30))).toISOString()).toBe('2026-03-08T07:30:00.000Z')
    expect(new Date(zone.toUtc(Date.UTC(2026, 10, 1, 3, 30))).toISOString()).toBe('2026-11-01T08:30:00.000Z')
    expect(zone.toUtc(Date.UTC(2026, 0, 1, 12) / 1_000)).toBe(Date.UTC(2026, 0, 1, 17) / 1_000)
    const shown = new Date(Date.UTC(2026, 0, 1, 12))
    const at = daysAgo(2)
    await peer.add({ id: 'z', name: 'Zoned', at: new Date(at.getTime() - 5 * HOUR_MS), userId: 'user-1' })
    const connection = await bench.connect({ settings: { project_id: '42', time_zone: 'Etc/GMT+5' } })
    await connection.firstRun()
    const { events: found } = (await bench.tenant.call('GET', '/v1/events?event_type=Zoned')).body
    expect(found[0].timestamp).toBe(new Date(Math.floor(at.getTime())).toISOString())
    expect(shown.getUTCHours()).toBe(12)
    const refused = await bench.tenant.call('POST', '/v1/connections', {
      ...{ connector: 'mixpanel', credentials: peer.credentials },
      settings: { project_id: '42', time_zone: 'Mars/Olympus' },
    })
    expect(refused.body.error).toMatchObject({ code: 'validation_error', details: [{ path: 'settings.time_zone' }] })
  })
})
