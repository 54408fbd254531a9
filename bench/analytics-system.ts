/**
 * Simulates PostHog and Amplitude for `connectors.ts` in a separate process: a year of evenly spread events of 1,000 people and
 * 4,000 anonymous visitors. It supports only the requests of our connectors.
 */
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { zipOf } from '../packages/server/test/zip.ts'

const { CERTIFICATE = '', KEY = '', EVENTS = '0', PORT = '0', UNTIL = '0' } = process.env
const COUNT = Number(EVENTS)
const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const FIRST_MS = Number(UNTIL) - YEAR_MS
const STEP_MS = YEAR_MS / COUNT
const VISITORS = 5_000
const PEOPLE = 1_000

interface BenchEvent {
  index: number
  visitor: number
  isPerson: boolean
  deviceId: string
  name: string
  url: string
  /** Without its zone, such as 2026-01-31T08:00:00.000. */
  at: string
  data: Record<string, unknown>
}

function eventAt(index: number): BenchEvent {
  const visitor = index % VISITORS
  return {
    index,
    visitor,
    isPerson: visitor < PEOPLE,
    deviceId: `019a2b3c-4d5e-7f60-8a1b-${String(visitor).padStart(12, '0')}`,
    name: index % 3 === 0 ? 'Order paid' : 'Page viewed',
    url: `https://shop.example/product/${visitor % 400}?utm_source=newsletter&utm_campaign=autumn-${visitor % 40}`,
    at: new Date(FIRST_MS + Math.ceil(index * STEP_MS)).toISOString().slice(0, 23),
    data: {
      title: `A page of the shop, number ${visitor % 500}`,
      amount: visitor % 500,
      currency: 'EUR',
      coupon: `AUTUMN-${visitor % 40}`,
    },
  }
}

/** The index of the first event at or after a time. */
function indexAt(ms: number): number {
  return Math.min(COUNT, Math.max(0, Math.ceil((ms - FIRST_MS) / STEP_MS)))
}

function postHogRow(index: number): unknown[] {
  const { visitor, isPerson, deviceId, name, url, at, data } = eventAt(index)
  const properties = {
    ...{ $current_url: url, $device_id: deviceId, $browser: 'Chrome', $os: 'Mac OS X', $lib: 'web' },
    ...{ $referrer: 'https://www.google.com/search', ...data },
  }
  const uuid = `019a0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
  const distinctId = isPerson ? `bench-person-${visitor}` : deviceId
  return [uuid, name, JSON.stringify(properties), `${at.replace('T', ' ')}000`, distinctId]
}

function postHogRows(query: string): unknown[][] {
  if (query === 'SELECT 1') return [[1]]
  const time = (pattern: RegExp) => {
    const found = pattern.exec(query)?.[1]
    return found === undefined ? null : Date.parse(found)
  }
  const from = indexAt(time(/timestamp >= toDateTime\('([^']+)'\)/) ?? 0)
  const to = indexAt(time(/timestamp < toDateTime\('([^']+)'\)/) ?? Number(UNTIL))
  if (query.includes('min(timestamp)')) return [[from < to ? FIRST_MS + Math.ceil(from * STEP_MS) : 0]]
  if (!query.includes('SELECT toString(uuid)') || query.includes('created_at >=')) return []
  const after = /toString\(uuid\) > '[^']*-([0-9a-f]{12})'/.exec(query)?.[1]
  const first = after === undefined ? from : Number.parseInt(after, 16) + 1
  const limit = Number(/LIMIT (\d+)$/.exec(query)?.[1] ?? 100)
  return Array.from({ length: Math.max(0, Math.min(limit, to - first)) }, (_, index) => postHogRow(first + index))
}

function amplitudeLine(index: number): string {
  const { visitor, isPerson, deviceId, name, url, at, data } = eventAt(index)
  const line = {
    ...{ app: 7, amplitude_id: 9_007_199_254_000_000 + visitor, event_type: name },
    ...{ event_time: `${at.replace('T', ' ')}000`, $insert_id: `bench ${index}` },
    ...{ user_id: isPerson ? `bench-person-${visitor}` : null, device_id: deviceId },
    event_properties: { '[Amplitude] Page URL': url, ...data },
    user_properties: isPerson ? { plan: `plan-${visitor % 4}`, initial_utm_source: 'newsletter' } : {},
    ...{ session_id: Date.parse(`${at}Z`), platform: 'Web', os_name: 'Chrome', device_family: 'Mac OS X' },
  }
  return `${JSON.stringify(line)}\n`
}

/** A zip archive with a gzip file for each hour; null: no events. */
function amplitudeArchive(from: number, to: number): Buffer | null {
  const files: [string, Buffer][] = []
  for (let hour = from; hour < to; hour += HOUR_MS) {
    const [first, end] = [indexAt(hour), indexAt(hour + HOUR_MS)]
    if (first === end) continue
    const lines = Array.from({ length: end - first }, (_, index) => amplitudeLine(first + index))
    files.push([`7/7_${new Date(hour).toISOString().slice(0, 13)}#0.json.gz`, gzipSync(lines.join(''))])
  }
  return files.length === 0 ? null : zipOf(files)
}

/** `20260131T08` in milliseconds since 1970. */
function hourOf(hour: string | null): number {
  return Date.parse(String(hour).replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})$/, '$1-$2-$3T$4:00:00Z'))
}

async function responseTo(request: IncomingMessage): Promise<{ type: string; body: Buffer | string } | null> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost')
  const json = (value: object) => ({ type: 'application/json', body: JSON.stringify(value) })
  if (pathname === '/api/2/events/list') return json({ data: [] })
  if (pathname === '/api/2/export') {
    const [start, end] = [hourOf(searchParams.get('start')), hourOf(searchParams.get('end'))]
    const body = amplitudeArchive(start, end + HOUR_MS)
    return body && { type: 'application/zip', body }
  }
  const { query } = JSON.parse(await text(request)) as { query: { query: string } }
  return json({ results: postHogRows(query.query), columns: [] })
}

createServer({ cert: CERTIFICATE, key: KEY }, async (request, response) => {
  const found = await responseTo(request)
  if (!found) return response.writeHead(404).end()
  response.setHeader('content-type', found.type)
  response.end(found.body)
}).listen(Number(PORT), '127.0.0.1', () => console.log('ready'))
