import { deflateRawSync, gzipSync } from 'node:zlib'
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
import { zipOf } from '../../../test/zip.ts'
import { HOUR_MS } from '../../platform/time.ts'
import { EVENTS_PER_PAGE } from '../event-lines.ts'

let lines: { receivedAt: Date; text: string }[] = []
/** An export of more hours than this with events is larger than 4 GB. */
let hoursMax = 24 * 365
let ranges: number[] = []
/** The response to an export that is too large. */
let tooLarge = { status: 400, body: { error: 'The export is larger than 4GB' } }
/** Whether an archive is packed differently each time. */
let isPackedAnew = false

function basic(key: string, secret: string): string {
  return `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
}

const timeOf = (at: Date) => `${at.toISOString().slice(0, 23).replace('T', ' ')}000`

function lineOf({ id, name, at, userId, deviceId: device, properties, person }: PeerEvent): string {
  return JSON.stringify({
    app: 187520,
    amplitude_id: 9_007_199_254_740_991,
    event_type: name,
    event_time: timeOf(at),
    user_id: userId ?? null,
    device_id: device ?? (userId === undefined ? null : `device of ${userId}`),
    event_properties: properties ?? {},
    user_properties: userId === undefined ? {} : { ...person, initial_utm_source: 'EMPTY' },
    $insert_id: id === '' ? null : id,
    session_id: at.getTime(),
    platform: 'Web',
    os_name: 'Chrome',
    device_family: 'Mac OS X',
    language: 'English',
  })
}

/** `20260131T08` in milliseconds since 1970. */
function hourOf(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})$/, '$1-$2-$3T$4:00:00Z'))
}

/** https://amplitude.com/docs/apis/analytics/export: by the hour of upload, which can be exported two hours after its end. */
function exported({ query }: SystemRequest) {
  const [start, end] = [hourOf(query.get('start') ?? ''), hourOf(query.get('end') ?? '')]
  if (Number.isNaN(start) || Number.isNaN(end)) return { status: 400, body: { error: 'Invalid date' } }
  const hours = (end - start) / HOUR_MS + 1
  ranges.push(hours)
  if (hours > 365 * 24) return { status: 400, body: { error: 'The range is longer than 365 days' } }
  const found = new Map<number, string[]>()
  for (const { receivedAt, text } of lines) {
    const hour = Math.floor(receivedAt.getTime() / HOUR_MS) * HOUR_MS
    const isReadable = hour + 3 * HOUR_MS <= Date.now()
    if (hour >= start && hour <= end && isReadable) found.set(hour, [...(found.get(hour) ?? []), text])
  }
  if (found.size === 0) return { status: 404, body: { error: 'Raw data files were not found.' } }
  if (hours > hoursMax) return tooLarge
  const files = [...found].map(([hour, texts], part) => {
    const name = `187520/187520_${new Date(hour).toISOString().slice(0, 13)}#${part}.json.gz`
    return [name, gzipSync(texts.map((text) => `${text}\n`).join(''))] as const
  })
  const nonce = [`${ranges.length}/`, Buffer.alloc(0)] as const
  const body = zipOf(isPackedAnew ? [nonce, ...files] : files)
  return { headers: { 'content-type': 'application/zip' }, body }
}

const peer: AnalyticsPeer = {
  connector: 'amplitude',
  label: 'Amplitude',
  settings: { project_id: '187520' },
  credentials: { api_key: '0123456789abcdef', secret_key: 'first-secret-0123' },
  otherCredentials: { api_key: '0123456789abcdef', secret_key: 'other-secret-4567' },
  signedInWith: ({ headers }) => {
    if (headers.authorization === basic('0123456789abcdef', 'first-secret-0123')) return 'first'
    return headers.authorization === basic('0123456789abcdef', 'other-secret-4567') ? 'other' : 'none'
  },
  unauthorized: { status: 401, body: { error: { http_code: 401, message: 'Invalid API key or secret key' } } },
  delayMs: 3.3 * HOUR_MS,
  findsLateAtOnce: true,
  readsEvents: ({ path }) => path === '/api/2/export',
  respond: (request) => {
    if (request.path === '/api/2/export') return exported(request)
    return request.path === '/api/2/events/list' ? { body: { data: [] } } : { status: 404, body: {} }
  },
  add: async (...more) => {
    for (const event of more) lines.push({ receivedAt: event.receivedAt ?? event.at, text: lineOf(event) })
  },
  addBad: async (at) => {
    const event = { id: 'bad', name: 'Bad', at }
    lines.push({ receivedAt: at, text: lineOf(event) })
    lines.push({ receivedAt: at, text: lineOf({ ...event, at: daysAgo(-7), userId: 'user-1' }) })
  },
  reset: async () => {
    lines = []
    ranges = []
    hoursMax = 24 * 365
    tooLarge = { status: 400, body: { error: 'The export is larger than 4GB' } }
    isPackedAnew = false
  },
}

const bench = useAnalytics(peer)
testAnalyticsConnector(peer, bench)

describe('Amplitude', () => {
  test('without a start date, years without events are read in large steps', async () => {
    await peer.add(...threeDays())
    const { connector, settings, credentials } = peer
    await (await connectSystem(bench.tenant, { connector, settings, credentials })).firstRun()
    expect(await bench.countEvents()).toBe(9)
    expect(Math.max(...ranges)).toBe(28 * 24)
  })

  test('an export that is too large is divided', async () => {
    await peer.add(...threeDays())
    hoursMax = 3
    await (await bench.connect()).firstRun()
    expect(await bench.countEvents()).toBe(9)
    expect(ranges).toContain(3)
  })

  test('an export that times out at a gateway is divided, and the next ones stay small', async () => {
    await peer.add(...threeDays())
    hoursMax = 6
    tooLarge = { status: 504, body: { error: 'Gateway timeout' } }
    await (await bench.connect()).firstRun()
    expect(await bench.countEvents()).toBe(9)
    const jumps = ranges.filter((hours, index) => (ranges[index - 1] ?? hours) <= 6 && hours > 12)
    expect(jumps).toEqual([])
  })

  test('restart in the middle: an archive that is packed differently each time is divided, so that the read makes progress', async () => {
    isPackedAnew = true
    const count = 2 * EVENTS_PER_PAGE + 500
    const many = Array.from(
      { length: count },
      (_, index): PeerEvent => ({ id: `m${index}`, name: 'Many', at: daysAgo(1, 2), deviceId: deviceId(index % 5) }),
    )
    await peer.add(...many)
    const connection = await bench.connect()
    const accepted = async () => (await connection.read()).last_run?.counts.events?.accepted ?? 0
    await expect.poll(accepted, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(EVENTS_PER_PAGE)
    await bench.tenant.call('POST', `/v1/connections/${connection.id}/pause`, {})
    await bench.tenant.call('POST', `/v1/connections/${connection.id}/resume`, {})
    await connection.firstRun()
    expect(await bench.countEvents('Many')).toBe(count)
    // The archive, the same one packed differently, and the first half of it.
    const exports = bench.system.requests.filter(({ path }) => path === '/api/2/export')
    const starts = exports.map(({ query }) => query.get('start'))
    const again = starts.findIndex((start, index) => index > 0 && start === starts[index - 1])
    expect(starts[again + 1]).toBe(starts[again])
    expect(ranges[again + 1]).toBe(Math.floor((ranges[again] ?? 0) / 2))
  })

  test('an hour that is too large is an error with Amplitude’s message', async () => {
    await peer.add(...threeDays())
    hoursMax = 0
    const { error } = await (await bench.connect()).until('failed')
    expect(error).toBe('events: Amplitude responded with status 400: The export is larger than 4GB')
  })

  test('restart in the middle: reading continues in the same file of the archive, after the last line that was read', async () => {
    const count = 2 * EVENTS_PER_PAGE + 500
    const many = Array.from({ length: count }, (_, index): PeerEvent => {
      const at = daysAgo(1, index < 300 ? 2 : 1)
      return { id: `m${index}`, name: 'Many', at, deviceId: deviceId(index % 5) }
    })
    await peer.add(...many)
    const connection = await bench.connect()
    const accepted = async () => (await connection.read()).last_run?.counts.events?.accepted ?? 0
    await expect.poll(accepted, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(EVENTS_PER_PAGE)
    await bench.tenant.call('POST', `/v1/connections/${connection.id}/pause`, {})
    expect(await accepted()).toBeLessThan(count)
    await bench.tenant.call('POST', `/v1/connections/${connection.id}/resume`, {})
    const run = await connection.firstRun()
    // At most the page in progress is looked up again.
    const { accepted: written = 0, unchanged = 0 } = run.counts.events ?? {}
    expect(written + unchanged).toBe(count)
    expect(unchanged).toBeLessThanOrEqual(EVENTS_PER_PAGE)
    expect(await bench.countEvents('Many')).toBe(count)
  })

  test('a person has the properties of their latest event, and events that only set properties are not recorded', async () => {
    const event = { userId: 'user-1', deviceId: deviceId(1), name: 'Order paid' }
    const person = { email: 'ada@example.com' }
    await peer.add(
      { ...event, id: '2', at: daysAgo(1), person: { ...person, plan: 'pro' } },
      { ...event, id: '1', at: daysAgo(2), receivedAt: daysAgo(1), person: { ...person, plan: 'free' } },
      { ...event, id: '3', name: '$identify', at: daysAgo(1, -1), person: { ...person, plan: 'team' } },
    )
    await (await bench.connect()).firstRun()
    expect((await bench.contactOf('ada@example.com'))?.properties).toEqual({ email: 'ada@example.com', plan: 'team' })
    expect(await bench.countEvents()).toBe(2)
    const { events } = (await bench.tenant.call('GET', '/v1/events?event_type=Order%20paid')).body
    expect(events[0]).toMatchObject({ browser: 'Chrome', os: 'Mac OS X' })
  })

  test('a person whose address is none is an error of the record, and keeps the contact of their id', async () => {
    await peer.add(
      ...['n/a', 'ada@', 'unknown', ''].map((email, index) => ({
        ...{ id: `${index}`, name: 'Order paid', at: daysAgo(1), userId: `user-${index}` },
        person: { email, plan: 'pro' },
      })),
    )
    const connection = await bench.connect()
    const { counts } = await connection.firstRun()
    expect(counts.events).toEqual({ accepted: 4, identified: 1, failed: 3 })
    const failed = { object: 'events', code: 'invalid_email' }
    const errors = (await connection.errors()).toSorted((one, other) => (one.external_id < other.external_id ? -1 : 1))
    expect(errors).toMatchObject([0, 1, 2].map((number) => ({ ...failed, external_id: `user-${number}` })))
    expect(await bench.contacts()).toHaveLength(4)
    const known = await bench.tenant.call('POST', '/v1/identify', { user_id: 'user-1' })
    expect(known.body.created).toBe(false)
  })

  test('a response that is not an archive, or a damaged one, is an error of the connection', async () => {
    await peer.add(...threeDays())
    let body: Buffer = Buffer.from('This is not an archive.')
    bench.system.intercept = ({ path }) => (path === '/api/2/export' && body.length > 0 ? { body } : undefined)
    const connection = await bench.connect()
    const shows = (part: string) =>
      connectionWhich(bench.tenant, connection.id, ({ error }) => error?.includes(part) === true)
    expect((await connection.until('failed')).error).toContain('The archive cannot be read')
    const gzip = gzipSync(lineOf({ id: 'x', name: 'X', at: daysAgo(1), userId: 'user-1' }))
    body = zipOf([['1.json.gz', gzip.subarray(0, gzip.length - 20)]])
    await connection.order()
    await shows('damaged')
    // Its directory claims a size that the file does not have.
    body = zipOf([['1.json', deflateRawSync(gzip)]])
    body.writeUInt32LE(5, body.length - 22 - 46 - '1.json'.length + 20)
    await connection.order()
    await shows('cannot be read')
    body = Buffer.alloc(0)
    await connection.order()
    await connection.until('waiting')
    expect(await bench.countEvents()).toBe(9)
  })
})
