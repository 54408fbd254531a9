import { writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificate, startReceiver } from '../packages/server/test/receiver.ts'
import { trackBody } from './bodies.ts'
import { IS_QUICK, SIZE } from './options.ts'
import { memoryOf, run, start } from './processes.ts'
import { number, progress, report } from './report.ts'
import { SERVICE } from './target.ts'

const SITE = 'webhooks.example'
const READY = /is running at (\S+)/
const SUBSCRIPTIONS = 8
/** Requests that the bare client keeps in flight. */
const CONNECTIONS = 96
/**
 * Before the bursts, so that the service's code is compiled and it knows the receivers, as the bare client opens its
 * connections before its clock starts. The bare client gets its request bytes from it.
 */
const WARM_UP = 5_000
const ROUNDS = 5
const UNSENT = ['host', 'connection', 'content-length', 'transfer-encoding']

interface Options {
  directory: string
  environment: Record<string, string>
  /** The deliveries of a burst. */
  burst: number
  /** The number of single events whose delivery is timed. */
  samples: number
  seconds: number
}

interface Round {
  deliveriesPerSecond: number
  /** The mean of just before and just after, because the speed of a shared machine changes within seconds. */
  barePerSecond: number
  /** All processes of the service, early in the burst and at its end. */
  memoryMb: { early: number | null; late: number | null }
}

interface WebhookFigures {
  rounds: Round[]
  latencyP50Ms: number
  latencyP99Ms: number
}

/**
 * Measures the latency of a single event to its receiver, then how fast bursts are delivered, alternating with undici alone
 * with the same bytes.
 */
async function measureWebhooks(options: Options): Promise<WebhookFigures> {
  const { directory, burst, samples, seconds } = options
  const certificate = makeCertificate()
  const authority = join(directory, 'receiver.pem')
  writeFileSync(authority, certificate.certificate)
  const environment = { ...options.environment, NODE_EXTRA_CA_CERTS: authority, CDS_WEBHOOK_ALLOW_PRIVATE: '1' }
  const receiver = await startReceiver(certificate)
  let [queued, firstAt, lastAt] = [0, 0, 0]
  let message: Message | undefined
  const liveAt = new Map<string, number>()
  receiver.respond = (response, request) => {
    response.end('ok')
    receiver.received.length = 0
    if (request.path === '/live') liveAt.set(String(request.headers['webhook-id']), performance.now())
    if (request.path !== '/queued') return
    message ??= { headers: request.headers, body: String(request.body) }
    firstAt ||= performance.now()
    lastAt = performance.now()
    queued++
  }
  const url = `https://localhost:${receiver.port}`
  const service = await start(SERVICE, [], { ...environment, PORT: '0' }, READY)
  const pid = service.process.pid ?? 0
  const drain = async (count: number) => {
    queued = firstAt = 0
    await run('./webhook-backlog.ts', [SITE, url, String(count), String(SUBSCRIPTIONS)], environment)
    while (queued < count / 10) await sleep(20)
    const early = memoryOf(pid)
    while (queued < count * 0.95) await sleep(20)
    const late = memoryOf(pid)
    while (queued < count) await sleep(20)
    return { deliveriesPerSecond: count / ((lastAt - firstAt) / 1000), memoryMb: { early, late } }
  }
  const measureBare = () => runBare(directory, `${url}/bare`, message, seconds, environment)
  try {
    await drain(WARM_UP)
    // Before the bursts, after which PostgreSQL is still cleaning up.
    const latencies = await measureLatency(service.output(), samples, liveAt)
    const rounds: Round[] = []
    let before = await measureBare()
    while (rounds.length < ROUNDS) {
      const figures = await drain(burst)
      const after = await measureBare()
      rounds.push({ ...figures, barePerSecond: (before + after) / 2 })
      before = after
    }
    const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
    return { rounds, latencyP50Ms: at(0.5), latencyP99Ms: at(0.99) }
  } finally {
    await service.stop()
    await receiver.close()
  }
}

interface Message {
  headers: IncomingHttpHeaders
  body: string
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
    if (!response.ok) throw new Error(`/track returned ${response.status}`)
    while (!liveAt.has(id)) await sleep(1)
    latencies.push((liveAt.get(id) ?? 0) - startedAt)
    await sleep(50)
  }
  return latencies.sort((a, b) => a - b)
}

async function runBare(
  directory: string,
  url: string,
  message: Message | undefined,
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
  const burst = IS_QUICK ? 5_000 : 100_000
  const figures = await measureWebhooks({ directory, environment, burst, samples: 100, seconds: SIZE.seconds })
  report({
    what: 'POST /track to the webhook receiver, idle',
    measured: `p50 ${figures.latencyP50Ms.toFixed(0)} ms, p99 ${figures.latencyP99Ms.toFixed(0)} ms`,
    limit: '',
    ratio: null,
    aim: 'at most 11 ms (p50)',
  })
  const ratioOf = ({ deliveriesPerSecond, barePerSecond }: Round) => deliveriesPerSecond / barePerSecond
  const rounds = figures.rounds.toSorted((a, b) => ratioOf(a) - ratioOf(b))
  const [middle, ratios] = [rounds[Math.floor(ROUNDS / 2)], rounds.map((round) => ratioOf(round).toFixed(2))]
  if (!middle) return
  const { deliveriesPerSecond, memoryMb, barePerSecond } = middle
  report({
    what: `webhook deliveries, the middle one of ${ROUNDS} bursts of ${number(burst)}`,
    measured: `${number(deliveriesPerSecond)}/s, memory ${memoryMb.early ?? '?'} to ${memoryMb.late ?? '?'} MB; ratios ${ratios.join(', ')}`,
    limit: `${number(barePerSecond)}/s bare undici`,
    ratio: ratioOf(middle),
    aim: '0.56',
  })
}
