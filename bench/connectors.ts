import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey } from '../packages/server/src/access/api-keys.ts'
import { addVerifiedDomain } from '../packages/server/src/access/domains-of-tenant.ts'
import { createTenant } from '../packages/server/src/access/tenants.ts'
import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { makeCertificate } from '../packages/server/test/receiver.ts'
import { trackBody } from './bodies.ts'
import { load, URL_OF_SERVICE, withKey } from './load.ts'
import { IS_QUICK, SIZE } from './options.ts'
import { start } from './processes.ts'
import type { Load } from './repeat.ts'
import { latency, number, progress, rate, report } from './report.ts'
import { READY } from './target.ts'

const EVENTS = IS_QUICK ? 200_000 : 2_000_000
const PORT = 18_098
const SITE = 'bench-connectors.example'
const TRACKERS = 16
/** Both sides are measured alternately, because the speed of a shared machine changes within seconds. */
const ROUNDS = 3
const SETTLE_MS = 2_000
const YEAR_MS = 365 * 86_400_000

interface System {
  label: string
  connector: string
  settings: object
  credentials: object
}

/** One that serves queries page by page, and one whose archives are downloaded and decompressed. */
const SYSTEMS: System[] = [
  {
    label: 'PostHog',
    connector: 'posthog',
    settings: { project_id: '7', host: `127.0.0.1:${PORT}` },
    credentials: { personal_api_key: 'phx_bench_0123456789' },
  },
  {
    label: 'Amplitude',
    connector: 'amplitude',
    settings: { project_id: '7' },
    credentials: { api_key: 'bench', secret_key: 'bench_0123456789' },
  },
]

/** Compares `/track` during a pull of a year of events with `/track` alone. */
export async function measureConnectors(directory: string, environment: Record<string, string>): Promise<void> {
  progress('starting the connected systems')
  const { certificate, key } = makeCertificate()
  const ca = join(directory, 'connected-system.pem')
  writeFileSync(ca, certificate)
  const until = Date.now()
  const peer = await start(
    './analytics-system.ts',
    [],
    {
      ...{ CERTIFICATE: certificate, KEY: key, PORT: String(PORT) },
      ...{ EVENTS: String(EVENTS), UNTIL: String(until) },
    },
    /ready/,
  )
  const apiKey = await createBenchTenant(environment)
  const more = {
    CDS_WEBHOOK_ALLOW_PRIVATE: 'on',
    NODE_EXTRA_CA_CERTS: ca,
    BENCH_CONNECTOR_URLS: JSON.stringify({ amplitude: `https://127.0.0.1:${PORT}` }),
  }
  const service = await start('./service.ts', [], { ...environment, ...more }, READY)
  try {
    await track()
    for (const system of SYSTEMS) await measureSystem(system, apiKey, new Date(until - YEAR_MS))
  } finally {
    await service.stop()
    await peer.stop()
  }
}
async function measureSystem(system: System, apiKey: string, since: Date): Promise<void> {
  const { label, connector, settings, credentials } = system
  progress(`capture alone, and while a year of events is pulled from ${label}`)
  const [alone, beside]: [Load[], Load[]] = [[], []]
  const body = { connector, settings, credentials, read_since: since.toISOString() }
  const { connection } = await ask(apiKey, 'POST', '/v1/connections', body)
  const path = `/v1/connections/${connection.connection_id}`
  const pulled = async (): Promise<number> =>
    (await ask(apiKey, 'GET', path)).connection.last_run?.counts.events?.accepted ?? 0
  let seconds = 0
  let events = 0
  for (let round = 0; round < ROUNDS; round++) {
    await ask(apiKey, 'POST', `${path}/pause`, {})
    await sleep(SETTLE_MS)
    alone.push(await track())
    await ask(apiKey, 'POST', `${path}/resume`, {})
    const before = await pulled()
    while ((await pulled()) === before) await sleep(100)
    const [eventsBefore, startedAt] = [await pulled(), performance.now()]
    beside.push(await track())
    events += (await pulled()) - eventsBefore
    seconds += (performance.now() - startedAt) / 1_000
  }
  await ask(apiKey, 'POST', `${path}/pause`, {})
  if (events === 0) throw new Error('No event was pulled, so nothing disturbed the capture.')
  const [middleAlone, middleBeside] = [middleOf(alone), middleOf(beside)]
  report({
    what: `POST /track, ${TRACKERS} connections, while a year of ${number(EVENTS)} events is pulled from ${label}`,
    measured: `${rate(middleBeside.perSecond)}/s, ${latency(middleBeside)}; ${rate(events / seconds)} events/s pulled`,
    limit: `${rate(middleAlone.perSecond)}/s, ${latency(middleAlone)} alone`,
    ratio: middleBeside.p95Ms / middleAlone.p95Ms,
    aim: 'at most 2 (p95)',
  })
}

function track(): Promise<Load> {
  return load({
    connections: TRACKERS,
    seconds: SIZE.seconds,
    headers: { origin: `https://${SITE}` },
    next: () => ({ path: '/track', body: trackBody(SITE, 1) }),
  })
}

async function createBenchTenant(environment: Record<string, string>): Promise<string> {
  const session = await openSession(readConfig({ ...process.env, ...environment }), { mayCreate: true })
  try {
    const now = new Date()
    const tenant = session.tenant(
      await createTenant(session.stores, { name: 'Connectors' }, { kind: 'command_line' }, now),
    )
    await addVerifiedDomain(tenant, SITE, now)
    const { apiKey } = await createApiKey(tenant, { name: 'bench', scopes: ['all'] }, now)
    return apiKey
  } finally {
    await session.close()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the responses of the API.
async function ask(apiKey: string, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(URL_OF_SERVICE + path, {
    method,
    headers: { ...withKey(apiKey), ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
  })
  if (!response.ok) throw new Error(`${response.status} ${path}: ${await response.text()}`)
  return response.json()
}

/** The median round, by p95. */
function middleOf(rounds: readonly Load[]): Load {
  const middle = rounds.toSorted((a, b) => a.p95Ms - b.p95Ms)[Math.floor(rounds.length / 2)]
  if (!middle) throw new Error('Nothing was measured.')
  return middle
}
