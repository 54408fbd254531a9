import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FairnessTenants } from './fairness-tenants.ts'
import { isNot } from './insights.ts'
import { URL_OF_SERVICE, withKey } from './load.ts'
import { SIZE } from './options.ts'
import { run, start } from './processes.ts'
import { INSIGHTS } from './queries.ts'
import { number, progress, report } from './report.ts'
import { READY, SERVICE } from './target.ts'

/** Open requests of each tenant with heavy queries. */
const CONNECTIONS = 4
/** Light reads are sequential with a pause, so that they measure waiting times and not each other. */
const PAUSE_MS = 5
/** Both sides are measured alternately, because the speed of a shared machine changes within seconds. */
const ROUNDS = 3
const WARM_UP_MS = 2_000
/** With fewer, a heavy query ends before anything could wait for it. */
const EVENTS_MIN = 200_000

/** The reads of a dashboard, a list and a profile. */
const LIGHT = ['/v1/events?limit=20', '/v1/contacts?limit=20', '/v1/contacts/CONTACT']
interface Heavy {
  path: string
  body?: object
}

/** Each reads all the data of its tenant. */
const HEAVY: readonly Heavy[] = [
  { path: '/v1/events?search=a%20e%20i%20o' },
  { path: '/v1/events/stats' },
  { path: '/v1/contacts?search=a%20e%20i%20o' },
  { path: '/v1/contacts?has_event_url_contains=page-19' },
  { path: '/v1/aggregate', body: { entity: 'events', group_by: 'visitor_id' } },
  { path: '/v1/aggregate', body: { entity: 'contacts', group_by: 'city' } },
]

/** What somebody reads who looks at a contact. */
const OF_CONTACT = ['/v1/contacts/CONTACT', '/v1/contacts?limit=25', '/v1/timeline?contact_id=CONTACT']
/** The same questions again would be answered at once, so each has another condition. */
const QUESTIONS = Array.from({ length: 200 }, (_, number) =>
  INSIGHTS.map(({ path, asks }) => ({ path, body: { ...asks, where: [isNot(number)] } })),
).flat()

interface Beside {
  what: string
  light: { apiKey: string; paths: readonly string[] }
  heavy: readonly string[]
  queries: readonly Heavy[]
}

/** Light reads of one tenant beside heavy ones of others, compared with the same reads undisturbed. */
export async function measureFairness(directory: string, environment: Record<string, string>): Promise<void> {
  const size = { contacts: Math.min(20_000, SIZE.contacts), events: Math.max(EVENTS_MIN, Math.round(SIZE.events / 10)) }
  progress(`loading 8 tenants with ${number(size.events)} events each`)
  const TENANTS_FILE = join(directory, 'tenants.json')
  await run('./fairness-tenants.ts', [String(size.contacts), String(size.events)], { ...environment, TENANTS_FILE })
  const { heavy, light } = JSON.parse(readFileSync(TENANTS_FILE, 'utf8')) as FairnessTenants
  const service = await start(SERVICE, [], environment, READY)
  try {
    const [asking = ''] = heavy
    await measureBeside({
      what: `reads of one tenant beside ${heavy.length} with heavy queries`,
      light: { apiKey: light, paths: await pathsOf(light, LIGHT) },
      heavy,
      queries: HEAVY,
    })
    await measureBeside({
      what: 'reads of a contact beside another tenant that asks insights',
      light: { apiKey: light, paths: await pathsOf(light, OF_CONTACT) },
      heavy: [asking],
      queries: QUESTIONS,
    })
  } finally {
    await service.stop()
  }
}

async function measureBeside({ what, light: { apiKey, paths }, heavy, queries }: Beside): Promise<void> {
  progress(what)
  await readLight(apiKey, paths, WARM_UP_MS)
  const [undisturbed, disturbed]: [number[], number[]] = [[], []]
  let served = 0
  for (let round = 0; round < ROUNDS; round++) {
    undisturbed.push(...(await readLight(apiKey, paths, SIZE.seconds * 1_000)))
    const disturbing = new AbortController()
    const first = Math.floor((round * queries.length) / ROUNDS)
    const disturbers = heavy.flatMap((heavyKey) =>
      Array.from({ length: CONNECTIONS }, (_, lane) => readHeavy(heavyKey, queries, first + lane, disturbing.signal)),
    )
    await sleep(WARM_UP_MS)
    disturbed.push(...(await readLight(apiKey, paths, SIZE.seconds * 1_000)))
    disturbing.abort()
    served += (await Promise.all(disturbers)).reduce((sum, count) => sum + count, 0)
    // Queries still running must not disturb the other side.
    await sleep(WARM_UP_MS)
  }
  if (served === 0) throw new Error('No heavy query was served, so nothing disturbed the light reads.')
  report({
    what,
    measured: `${latencyOf(disturbed)}; ${served} heavy ones served`,
    limit: `${latencyOf(undisturbed)} undisturbed`,
    ratio: percentile(disturbed, 0.99) / percentile(undisturbed, 0.99),
    aim: 'at most 3.00',
  })
}

async function pathsOf(apiKey: string, paths: readonly string[]): Promise<string[]> {
  const { contacts } = await (await ask(apiKey, { path: '/v1/contacts?limit=1' })).json()
  return paths.map((path) => path.replace('CONTACT', contacts[0].contact_id))
}

/** @returns the latencies in milliseconds. */
async function readLight(apiKey: string, paths: readonly string[], milliseconds: number): Promise<number[]> {
  const latencies: number[] = []
  const until = performance.now() + milliseconds
  while (performance.now() < until) {
    const startedAt = performance.now()
    await (await ask(apiKey, { path: paths[latencies.length % paths.length] ?? '' })).arrayBuffer()
    latencies.push(performance.now() - startedAt)
    await sleep(PAUSE_MS)
  }
  return latencies
}

/** Sends heavy queries one after another. @returns how many were served. */
async function readHeavy(
  apiKey: string,
  queries: readonly Heavy[],
  first: number,
  signal: AbortSignal,
): Promise<number> {
  let served = 0
  try {
    for (let n = first; !signal.aborted; n += CONNECTIONS) {
      const query = queries[n % queries.length]
      if (query) await (await ask(apiKey, query, signal)).arrayBuffer()
      served++
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return served
}

async function ask(apiKey: string, { path, body }: Heavy, signal: AbortSignal | null = null): Promise<Response> {
  const response = await fetch(URL_OF_SERVICE + path, {
    method: body ? 'POST' : 'GET',
    headers: { ...withKey(apiKey), ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
    signal,
  })
  if (!response.ok) throw new Error(`${response.status} ${path}: ${await response.text()}`)
  return response
}

function percentile(latencies: readonly number[], part: number): number {
  const sorted = latencies.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

function latencyOf(latencies: readonly number[]): string {
  return `p50 ${percentile(latencies, 0.5).toFixed(0)} ms, p99 ${percentile(latencies, 0.99).toFixed(0)} ms`
}
