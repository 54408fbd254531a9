/**
 * Simulates PostHog for `connectors.ts` in a separate process: a year of evenly spread events of 1,000 people and 4,000 anonymous
 * visitors. It supports only the queries of our connector.
 */
import { createServer } from 'node:https'
import { text } from 'node:stream/consumers'

const { CERTIFICATE = '', KEY = '', EVENTS = '0', PORT = '0', UNTIL = '0' } = process.env
const COUNT = Number(EVENTS)
const YEAR_MS = 365 * 86_400_000
const FIRST_MS = Number(UNTIL) - YEAR_MS
const STEP_MS = YEAR_MS / COUNT
const VISITORS = 5_000
const PEOPLE = 1_000

function rowOf(index: number): unknown[] {
  const at = new Date(FIRST_MS + Math.ceil(index * STEP_MS)).toISOString()
  const visitor = index % VISITORS
  const isPerson = visitor < PEOPLE
  const properties = {
    $current_url: `https://shop.example/product/${visitor % 400}?utm_source=newsletter&utm_campaign=autumn-${visitor % 40}`,
    $device_id: `019a2b3c-4d5e-7f60-8a1b-${String(visitor).padStart(12, '0')}`,
    $browser: 'Chrome',
    $os: 'Mac OS X',
    $lib: 'web',
    $referrer: 'https://www.google.com/search',
    title: `A page of the shop, number ${visitor % 500}`,
    amount: visitor % 500,
    currency: 'EUR',
    coupon: `AUTUMN-${visitor % 40}`,
  }
  const distinctId = isPerson ? `bench-person-${visitor}` : properties.$device_id
  const uuid = `019a0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
  const time = `${at.slice(0, 23).replace('T', ' ')}000`
  return [uuid, index % 3 === 0 ? 'Order paid' : '$pageview', JSON.stringify(properties), time, distinctId]
}

/** The index of the first event at or after a time. */
function indexAt(ms: number): number {
  return Math.min(COUNT, Math.max(0, Math.ceil((ms - FIRST_MS) / STEP_MS)))
}

function answer(query: string): unknown[][] {
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
  return Array.from({ length: Math.max(0, Math.min(limit, to - first)) }, (_, index) => rowOf(first + index))
}

createServer({ cert: CERTIFICATE, key: KEY }, async (request, response) => {
  const { query } = JSON.parse(await text(request)) as { query: { query: string } }
  const results = query.query === 'SELECT 1' ? [[1]] : answer(query.query)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ results, columns: [] }))
}).listen(Number(PORT), '127.0.0.1', () => console.log('ready'))
