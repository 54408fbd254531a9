import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newId } from '../src/platform/ids.ts'
import type { Delivery } from '../src/webhooks/deliveries.ts'
import { CLI, MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { makeCertificate, startReceiver } from './receiver.ts'

const KILLS = 20
const MINUTE = 60_000
const EVENTS_A_KILL = 15

/**
 * A receiver that is slower than the senders, so that every kill meets deliveries in hand; one event in ten is refused
 * the first time, so that every kill meets retries that are due later as well.
 */
test(`killed ${KILLS} times while delivering, every event arrives, none is forgotten, each attempt counts once`, async () => {
  const directory = await openDirectory()
  const certificate = makeCertificate()
  const authority = join(directory, 'authority.pem')
  await writeFile(authority, certificate.certificate)
  const receiver = await startReceiver(certificate)
  const seen = new Map<string, number>()
  receiver.answer = (response, { headers, body }) => {
    const id = String(headers['webhook-id'])
    const times = (seen.get(id) ?? 0) + 1
    seen.set(id, times)
    const refused = times === 1 && JSON.parse(String(body)).data.data.n % 10 === 0
    setTimeout(() => response.writeHead(refused ? 503 : 200).end(), 40)
  }
  const environment = {
    CDS_DATA_DIR: directory,
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_RATE_LIMITS: 'off',
    CDS_LOG_LEVEL: 'warn',
    CDS_WEBHOOK_ALLOW_PRIVATE: '1',
    NODE_EXTRA_CA_CERTS: authority,
  }
  const cds = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [CLI, ...args, '--json'], {
        env: { ...process.env, ...environment },
        encoding: 'utf8',
        maxBuffer: 1_000_000_000,
      }),
    )
  const tenant = cds('tenant', 'create', '--name', 'Crash').tenant_id
  cds('domain', 'add', '--tenant', tenant, '--domain', 'crash.example', '--verified')
  const url = receiver.url('/hook', 'localhost')
  const webhook = cds('webhook', 'create', '--tenant', tenant, '--event', 'crash', '--url', url).subscription_id

  const acknowledged: string[] = []
  let service: Started | undefined
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      service = await startProcess(MAIN, [], environment, RUNNING)
      const stop = { now: false }
      const url = RUNNING.exec(service.output())?.[1] ?? ''
      const sending = Promise.all([1, 2, 3].map(() => sendUntil(url, acknowledged, stop)))
      // By the work done, not by the clock: a busy machine must not make the test an empty one.
      const enough = acknowledged.length + EVENTS_A_KILL
      while (acknowledged.length < enough) await sleep(5)
      await sleep(Math.random() * 200)
      await service.end('SIGKILL')
      stop.now = true
      await sending
    }
    service = await startProcess(MAIN, [], environment, RUNNING)
    // The last kill's leases end after 20 seconds, and what was refused comes again after a minute.
    const isPending = () => {
      const named = ['--tenant', tenant, '--webhook', webhook, '--status', 'pending', '--limit', '1']
      return cds('webhook', 'deliveries', ...named).deliveries.length > 0
    }
    for (let round = 0; round < 240 && isPending(); round++) await sleep(1_000)
    const deliveries = allDeliveries(cds, tenant, webhook)
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS * EVENTS_A_KILL)
    expect(deliveries.filter(({ status }) => status !== 'succeeded')).toEqual([])
    const delivered = deliveries.map(({ event_id }) => event_id)
    expect(new Set(delivered).size).toBe(delivered.length)
    // What was not acknowledged may have been recorded all the same; then it is delivered too.
    expect(acknowledged.filter((id) => !delivered.includes(id))).toEqual([])
    expect(delivered.filter((id) => !seen.has(id))).toEqual([])
    for (const { attempts, attempt_count } of deliveries) {
      expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1))
      expect(attempt_count).toBe(attempts.length)
      // Nothing but a recorded failure (the refusal; on a busy machine a broken connection too) leads to another attempt.
      expect(attempts.map(({ error }) => error === null)).toEqual(
        attempts.map((_, index) => index === attempts.length - 1),
      )
      const [first, second] = attempts
      if (!first || !second) continue
      expect(Date.parse(second.at)).toBeGreaterThanOrEqual(Date.parse(first.at) + first.latency_ms + MINUTE)
    }
    expect(deliveries.some(({ attempts }) => attempts.length > 1)).toBe(true)
    // The kills did meet deliveries that had been sent and not yet written down.
    const requests = [...seen.values()].reduce((sum, times) => sum + times, 0)
    const attempts = deliveries.reduce((sum, { attempt_count }) => sum + attempt_count, 0)
    expect(requests).toBeGreaterThan(attempts)
  } finally {
    await service?.end('SIGTERM')
    await receiver.close()
    await rm(directory, { recursive: true, force: true })
  }
}, 1_200_000)

async function sendUntil(url: string, acknowledged: string[], stop: { now: boolean }): Promise<void> {
  while (!stop.now) {
    const ids = [newId(), newId(), newId(), newId(), newId()]
    const events = ids.map((event_id) => ({ event_id, event: 'crash', data: { n: Math.floor(Math.random() * 1_000) } }))
    const response = await fetch(`${url}/track`, {
      method: 'POST',
      headers: { origin: 'https://crash.example', 'content-type': 'application/json' },
      body: JSON.stringify({ visitor_id: 'v', events }),
    }).catch(() => null)
    if (response?.ok) acknowledged.push(...ids)
    await sleep(60)
  }
}

function allDeliveries(
  cds: (...args: string[]) => { deliveries: Delivery[] },
  tenant: string,
  webhook: string,
): Delivery[] {
  const all: Delivery[] = []
  for (;;) {
    const last = all.at(-1)
    const page = ['--limit', '100', ...(last ? ['--before', last.delivery_id] : [])]
    const { deliveries } = cds('webhook', 'deliveries', '--tenant', tenant, '--webhook', webhook, ...page)
    all.push(...deliveries)
    if (deliveries.length < 100) return all
  }
}
