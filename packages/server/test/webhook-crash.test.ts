import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { ClickHouse } from '../src/platform/clickhouse/connect.ts'
import { openSecretBox } from '../src/platform/crypto/secret-key.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import type { ReadLanes } from '../src/platform/read-lanes.ts'
import { openTenant, type Tenant } from '../src/platform/tenant.ts'
import { listDeliveries } from '../src/webhooks/deliveries.ts'
import type { WebhookDelivery } from '../src/webhooks/schema.ts'
import { createSubscription } from '../src/webhooks/subscriptions.ts'
import { createDatabase } from './databases.ts'
import { KillableService } from './killable.ts'
import { openDirectory } from './process.ts'
import { makeCertificate, startReceiver } from './receiver.ts'
import { seededRandom } from './seed.ts'
import { insertTenant } from './service.ts'

/** The moments of the kills are random; the seed that the run prints reproduces them. */
const KILLS = 2
const MINUTE = 60_000
const EVENTS_A_KILL = 25
/** Longer than a lease, so that the next process can claim the deliveries of a killed one at once. */
const AHEAD_A_KILL_MS = 25_000

/**
 * The receiver is slower than the senders, so that every kill interrupts deliveries in flight. It refuses one event in ten
 * the first time, so that retries are pending as well.
 */
test(`killed ${KILLS} times while delivering, every event arrives, and each recorded attempt counts once`, async () => {
  const directory = await openDirectory()
  const random = seededRandom()
  const certificate = makeCertificate()
  const authority = join(directory, 'authority.pem')
  await writeFile(authority, certificate.certificate)
  const receiver = await startReceiver(certificate)
  const seen = new Map<string, number>()
  receiver.respond = (response, { headers, body }) => {
    const id = String(headers['webhook-id'])
    const times = (seen.get(id) ?? 0) + 1
    seen.set(id, times)
    const refused = times === 1 && JSON.parse(String(body)).data.data.n % 10 === 0
    setTimeout(() => response.writeHead(refused ? 503 : 200).end(), 40)
  }
  const environment = {
    CDS_DATA_DIR: directory,
    DATABASE_URL: await createDatabase(),
    CDS_WEBHOOK_ALLOW_PRIVATE: '1',
    NODE_EXTRA_CA_CERTS: authority,
  }
  const postgres = connectPostgres<DB>({ connectionString: environment.DATABASE_URL }, 2)
  const service = new KillableService(environment)
  const acknowledged: string[] = []
  try {
    const { id, site } = await insertTenant(postgres.db)
    const tenant = openTenant(
      {
        database: postgres.db,
        clickhouse: null as unknown as ClickHouse,
        reads: null as unknown as ReadLanes,
        barrier: async () => {},
        closed: new Set(),
      },
      id,
    )
    const secrets = await openSecretBox(readConfig(environment))
    const settings = { event: 'crash', url: receiver.url('/hook', 'localhost') }
    const { subscriptionId } = await createSubscription(tenant, secrets, settings, new Date())
    for (let kill = 0; kill < KILLS; kill++) {
      const url = await service.start(kill * AHEAD_A_KILL_MS)
      const stop = { now: false }
      const sending = Promise.all([1, 2, 3].map(() => sendUntil({ url, site }, acknowledged, stop, random)))
      // Waits for events, not for a time, because a busy machine might record none.
      const enough = acknowledged.length + EVENTS_A_KILL
      while (acknowledged.length < enough) await sleep(5)
      await sleep(random() * 200)
      await service.kill()
      stop.now = true
      await sending
    }
    const pending = () => allDeliveries(tenant, subscriptionId, 'pending')
    await service.startLast(KILLS * AHEAD_A_KILL_MS)
    const neverAttempted = async () => (await pending()).filter(({ attempt_count }) => attempt_count === 0)
    await expect.poll(neverAttempted, { timeout: 60_000 }).toEqual([])
    // Refused events are retried after a minute.
    service.moveClock(KILLS * AHEAD_A_KILL_MS + 2 * MINUTE)
    await expect.poll(pending, { timeout: 60_000 }).toEqual([])
    const deliveries = await allDeliveries(tenant, subscriptionId)
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS * EVENTS_A_KILL)
    expect(deliveries.filter(({ status }) => status !== 'succeeded')).toEqual([])
    const delivered = deliveries.map(({ event_id }) => event_id)
    expect(new Set(delivered).size).toBe(delivered.length)
    // Events that were recorded but not acknowledged are delivered too.
    expect(acknowledged.filter((id) => !delivered.includes(id))).toEqual([])
    expect(delivered.filter((id) => !seen.has(id))).toEqual([])
    for (const { attempts, attempt_count } of deliveries) {
      expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1))
      expect(attempt_count).toBe(attempts.length)
      // Only a recorded failure causes another attempt: a refusal, or a broken connection on a busy machine.
      expect(attempts.map(({ error }) => error === null)).toEqual(
        attempts.map((_, index) => index === attempts.length - 1),
      )
      const [first, second] = attempts
      if (!first || !second) continue
      expect(Date.parse(second.at)).toBeGreaterThanOrEqual(Date.parse(first.at) + first.latency_ms + MINUTE)
    }
    expect(deliveries.some(({ attempts }) => attempts.length > 1)).toBe(true)
    // The kills interrupted deliveries that had been sent and not recorded.
    const requests = [...seen.values()].reduce((sum, times) => sum + times, 0)
    const attempts = deliveries.reduce((sum, { attempt_count }) => sum + attempt_count, 0)
    expect(requests).toBeGreaterThan(attempts)
  } finally {
    await service.close()
    await postgres.close()
    await receiver.close()
    await rm(directory, { recursive: true, force: true })
  }
}, 1_200_000)

async function sendUntil(
  { url, site }: { url: string; site: string },
  acknowledged: string[],
  stop: { now: boolean },
  random: () => number,
): Promise<void> {
  while (!stop.now) {
    const ids = Array.from({ length: 5 }, () => crypto.randomUUID())
    const events = ids.map((event_id) => ({ event_id, event: 'crash', data: { n: Math.floor(random() * 1_000) } }))
    const response = await fetch(`${url}/track`, {
      method: 'POST',
      headers: { origin: `https://${site}`, 'content-type': 'application/json' },
      body: JSON.stringify({ visitor_id: 'v', events }),
    }).catch(() => null)
    if (response?.ok) acknowledged.push(...ids)
    await sleep(60)
  }
}

async function allDeliveries(
  tenant: Tenant,
  subscriptionId: string,
  status?: WebhookDelivery['status'],
): Promise<WebhookDelivery[]> {
  const all: WebhookDelivery[] = []
  for (let page = 1; ; page++) {
    const { deliveries, total } = await listDeliveries(tenant, subscriptionId, status, { page, limit: 100 })
    all.push(...deliveries)
    if (page * 100 >= total) return all
  }
}
