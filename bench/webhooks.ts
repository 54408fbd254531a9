import { writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate, startReceiver } from '../packages/server/test/receiver.ts'
import { trackBody } from './load.ts'
import { memoryOf, run, start } from './processes.ts'
import { number, progress, rows, SIZE, SMALL_SIZE } from './report.ts'

const SITE = 'webhooks.example'
const SERVICE = '../packages/server/src/main.ts'
const READY = /is running at (\S+)/
const SUBSCRIPTIONS = 8
/** What a process of the service sends at once for one tenant. */
const CONNECTIONS = 96
const UNSENT = ['host', 'connection', 'content-length', 'transfer-encoding']

interface Options {
  directory: string
  environment: Record<string, string>
  /** Deliveries in the burst. */
  burst: number
  /** Single events whose way to the receiver is timed. */
  samples: number
  seconds: number
}

interface WebhookFigures {
  deliveriesPerSecond: number
  barePerSecond: number
  latencyP50Ms: number
  latencyP99Ms: number
  /** All processes of the service, early in the burst and at its end. */
  memoryMb: { early: number | null; late: number | null }
}

/** Measures how fast a burst drains, undici alone with the same bytes, and the way of a single event to its receiver. */
async function measureWebhooks(options: Options): Promise<WebhookFigures> {
  const { directory, burst, samples, seconds } = options
  const certificate = makeCertificate()
  const authority = join(directory, 'receiver.pem')
  writeFileSync(authority, certificate.certificate)
  const environment = {
    ...options.environment,
    NODE_EXTRA_CA_CERTS: authority,
    CDS_WEBHOOK_ALLOW_PRIVATE: '1',
    BACKLOG_FILE: join(directory, 'backlog.json'),
  }
  const receiver = await startReceiver(certificate)
  let queued = 0
  let firstAt = 0
  let lastAt = 0
  let message: { headers: IncomingHttpHeaders; body: string } | undefined
  const liveAt = new Map<string, number>()
  receiver.answer = (response, request) => {
    response.end('ok')
    receiver.received.length = 0
    if (request.path === '/live') liveAt.set(String(request.headers['webhook-id']), performance.now())
    if (request.path !== '/queued') return
    message ??= { headers: request.headers, body: String(request.body) }
    firstAt ||= performance.now()
    lastAt = performance.now()
    queued++
  }
  try {
    const url = `https://localhost:${receiver.port}`
    await run('./webhook-backlog.ts', [SITE, url, String(burst), String(SUBSCRIPTIONS)], environment)
    const service = await start(SERVICE, [], { ...environment, PORT: '0' }, READY)
    const pid = service.process.pid ?? 0
    try {
      while (queued < burst / 10) await sleep(50)
      const early = memoryOf(pid)
      while (queued < burst * 0.95) await sleep(50)
      const late = memoryOf(pid)
      while (queued < burst) await sleep(20)
      const deliveriesPerSecond = burst / ((lastAt - firstAt) / 1000)
      const latencies = await measureLatency(service.output(), samples, liveAt)
      const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
      await service.stop()
      const barePerSecond = measureBare(directory, `${url}/bare`, message, seconds, environment)
      return {
        deliveriesPerSecond,
        barePerSecond: await barePerSecond,
        latencyP50Ms: at(0.5),
        latencyP99Ms: at(0.99),
        memoryMb: { early, late },
      }
    } finally {
      await service.stop()
    }
  } finally {
    await receiver.close()
  }
}

async function measureLatency(output: string, samples: number, liveAt: Map<string, number>): Promise<number[]> {
  const url = READY.exec(output)?.[1] ?? ''
  const latencies: number[] = []
  await sleep(1_000)
  for (let n = 0; n < samples; n++) {
    const body = trackBody(SITE, 1)
    const id = /"event_id":"([^"]+)"/.exec(body)?.[1] ?? ''
    const startedAt = performance.now()
    const headers = { origin: `https://${SITE}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/track`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`/track answered ${response.status}`)
    while (!liveAt.has(id)) await sleep(1)
    latencies.push((liveAt.get(id) ?? 0) - startedAt)
    await sleep(50)
  }
  return latencies.sort((a, b) => a - b)
}

async function measureBare(
  directory: string,
  url: string,
  message: { headers: IncomingHttpHeaders; body: string } | undefined,
  seconds: number,
  environment: Record<string, string>,
): Promise<number> {
  const file = join(directory, 'message.json')
  const headers = Object.entries(message?.headers ?? {}).filter(([name]) => !UNSENT.includes(name))
  writeFileSync(file, JSON.stringify({ headers: Object.fromEntries(headers), body: message?.body ?? '{}' }))
  const bare = await start(
    './bare-undici.ts',
    [url, file, String(CONNECTIONS), String(seconds)],
    environment,
    /requests\/s/,
  )
  return Number.parseFloat(bare.output())
}

/** Adds the webhooks to the table. */
export async function measureDeliveries(directory: string, environment: Record<string, string>): Promise<void> {
  progress('webhooks')
  const burst = SMALL_SIZE ? 100_000 : 5_000
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
