/**
 * `npm run bench` prints one table: what the service does, what bounds it measured in the same run, and the ratio.
 * `-- --quick` does the same on little data in under a minute.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { load, trackBody } from './load.ts'
import { memoryOf, run, start } from './processes.ts'
import type { Raw } from './raw.ts'
import { measureWebhooks } from './webhooks.ts'

const quick = process.argv.includes('--quick')
const SIZE = quick
  ? { contacts: 20_000, events: 500_000, seconds: 2 }
  : { contacts: 1_000_000, events: 10_000_000, seconds: 8 }
const SITE = 'bench.example'
const PORT = '18099'
const BARE_PORT = '18098'
const SERVICE = '../packages/server/src/main.ts'
const READY = /is running at/

interface Row {
  what: string
  measured: string
  limit: string
  ratio: number | null
  aim: string
}
const rows: Row[] = []

const directory = mkdtempSync(join(tmpdir(), 'cds-bench-'))
// Root runs PostgreSQL as another user, who must be able to get there.
chmodSync(directory, 0o755)
const environment = { CDS_DATA_DIR: directory, PORT, HOST: '127.0.0.1', CDS_RATE_LIMITS: 'off', CDS_LOG_LEVEL: 'warn' }
try {
  await measure()
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const cold = await start(SERVICE, [], environment, READY)
  await cold.stop()
  const warm = await start(SERVICE, [], environment, READY)
  await sleep(3_000)
  const memory = memoryOf(warm.process.pid ?? 0)
  await warm.stop()
  rows.push({
    what: 'start from nothing',
    measured: `${(cold.startMs / 1000).toFixed(1)} s`,
    limit: '',
    ratio: null,
    aim: '5 s',
  })
  rows.push({
    what: 'warm start',
    measured: `${(warm.startMs / 1000).toFixed(1)} s`,
    limit: '',
    ratio: null,
    aim: '1.5 s',
  })
  rows.push({
    what: 'idle memory, all processes',
    measured: `${memory ?? '?'} MB`,
    limit: '',
    ratio: null,
    aim: '400 MB',
  })

  progress(`loading ${SIZE.contacts} contacts and ${SIZE.events} events, measuring the engines alone`)
  const rawFile = join(directory, 'raw.json')
  const sizes = [SIZE.contacts, SIZE.events, SIZE.seconds].map(String)
  await run('./raw.ts', sizes, { ...environment, RAW_FILE: rawFile })
  const raw = JSON.parse(readFileSync(rawFile, 'utf8')) as Raw
  progress(`loaded in ${raw.loadSeconds.contacts.toFixed(0)} s and ${raw.loadSeconds.events.toFixed(0)} s`)
  const service = await start(SERVICE, [], environment, READY)
  try {
    await measureReads(raw)
    await measureTrack(raw)
  } finally {
    await service.stop()
  }
  await measureDeliveries()
  print()
}

async function measureReads(raw: Raw): Promise<void> {
  const headers = { authorization: `Bearer ${raw.apiKey}` }
  const pick = (ids: string[]) => ids[Math.floor(Math.random() * ids.length)]
  const reads: [string, () => string][] = [
    ['GET contact', () => `/v1/contacts/${pick(raw.contactIds)}?include_events=false`],
    ['list contacts', () => '/v1/contacts'],
    ['search contacts', () => '/v1/contacts?search=person4321'],
    ['list events', () => '/v1/events'],
    ['events by contact', () => `/v1/events?contact_id=${pick(raw.contactIds)}`],
    ['GET event', () => `/v1/events/${pick(raw.eventIds)}`],
    ['events, url contains', () => '/v1/events?url_contains=page-1999'],
  ]
  for (const [what, path] of reads) {
    progress(what)
    const url = `http://127.0.0.1:${PORT}`
    const { requestsPerSecond, p50Ms, p99Ms } = await load({
      url,
      connections: 16,
      seconds: SIZE.seconds,
      headers,
      path,
    })
    const limit = raw.queriesPerSecond[what] ?? 0
    rows.push({
      what,
      measured: `${number(requestsPerSecond)}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
      limit: `${number(limit)}/s bare query`,
      ratio: requestsPerSecond / limit,
      aim: '0.50',
    })
  }
}

async function measureTrack(raw: Raw): Promise<void> {
  const headers = { origin: `https://${SITE}` }
  for (const events of [10, 1]) {
    progress(`POST /track with ${events} event${events > 1 ? 's' : ''}`)
    const common = { connections: 64, seconds: SIZE.seconds, headers, body: () => trackBody(SITE, events) }
    const bare = await start('./bare-fastify.ts', [], { PORT: BARE_PORT }, /ready/)
    const bareLoad = await load({ url: `http://127.0.0.1:${BARE_PORT}/track`, ...common })
    await bare.stop()
    const { requestsPerSecond, p50Ms, p99Ms } = await load({ url: `http://127.0.0.1:${PORT}/track`, ...common })
    const measured = `${number(requestsPerSecond * events)} events/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`
    const what = `POST /track, ${events} event${events > 1 ? 's' : ''} a request, 64 connections`
    if (events > 1) {
      const limit = `${number(raw.insertRowsPerSecond)} rows/s raw chDB`
      rows.push({ what, measured, limit, ratio: (requestsPerSecond * events) / raw.insertRowsPerSecond, aim: '0.50' })
    }
    if (events === 1) {
      const limit = `${number(raw.smallInsertRowsPerSecond)} rows/s raw chDB, 64 rows a statement`
      rows.push({ what, measured, limit, ratio: requestsPerSecond / raw.smallInsertRowsPerSecond, aim: '' })
    }
    const limit = `${number(bareLoad.requestsPerSecond)} requests/s bare Fastify`
    rows.push({
      what,
      measured,
      limit,
      ratio: requestsPerSecond / bareLoad.requestsPerSecond,
      aim: events > 1 ? '' : '0.25',
    })
  }
}

async function measureDeliveries(): Promise<void> {
  progress('webhooks')
  const burst = quick ? 5_000 : 100_000
  const figures = await measureWebhooks({ directory, environment, burst, samples: 100, seconds: SIZE.seconds })
  rows.push({
    what: 'POST /track to the webhook receiver, idle',
    measured: `p50 ${figures.latencyP50Ms.toFixed(0)} ms, p99 ${figures.latencyP99Ms.toFixed(0)} ms`,
    limit: '',
    ratio: null,
    aim: '100 ms',
  })
  rows.push({
    what: `webhook deliveries, a burst of ${number(burst)}`,
    measured: `${number(figures.deliveriesPerSecond)}/s, memory ${figures.memoryMb.early ?? '?'} to ${figures.memoryMb.late ?? '?'} MB`,
    limit: `${number(figures.barePerSecond)}/s bare undici`,
    ratio: figures.deliveriesPerSecond / figures.barePerSecond,
    aim: '0.50',
  })
}

function print(): void {
  console.log(
    `\n${number(SIZE.contacts)} contacts, ${number(SIZE.events)} events, ${cpus().length} cores, Node ${process.version}\n`,
  )
  console.log('| what | measured | limit in the same run | ratio | aim |\n|---|---|---|---|---|')
  for (const { what, measured, limit, ratio, aim } of rows) {
    console.log(`| ${what} | ${measured} | ${limit} | ${ratio === null ? '' : ratio.toFixed(2)} | ${aim} |`)
  }
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function progress(message: string): void {
  console.error(`· ${message}`)
}
