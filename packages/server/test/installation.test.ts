import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLICKHOUSE_TABLES } from '../src/assembly/known-tables.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { createDatabase } from './databases.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { insertTenant, startTestService, type TestService } from './service.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

interface Running {
  url: string
}

type Credentials = Pick<Awaited<ReturnType<typeof insertTenant>>, 'key' | 'site'>

async function track({ url }: Running, { site }: Credentials): Promise<number> {
  const response = await fetch(`${url}/track`, {
    method: 'POST',
    headers: { origin: `https://${site}`, 'content-type': 'application/json' },
    body: JSON.stringify({ visitor_id: 'v', events: [{ event: 'x' }] }),
  })
  return response.status
}

interface Body {
  count?: number
  error?: { code: string; message: string }
}

async function get({ url }: Running, path: string, key = ''): Promise<{ status: number; body: Body }> {
  const response = await fetch(url + path, { headers: key ? { authorization: `Bearer ${key}` } : {} })
  return { status: response.status, body: (await response.json()) as Body }
}

const count = async (service: Running, { key }: Credentials) =>
  (await get(service, '/v1/events?count_only=true', key)).body.count

/** Readiness says why, and what needs no events works. */
async function expectNotReady(service: Running, tenant: Credentials): Promise<void> {
  const ready = await get(service, '/health/ready')
  expect([ready.status, ready.body.error?.code]).toEqual([503, 'not_ready'])
  expect(ready.body.error?.message).toContain("does not have this installation's events")
  expect((await get(service, '/v1/contacts', tenant.key)).status).toBe(200)
  expect(await track(service, tenant)).toBe(200)
}

test('an embedded ClickHouse whose directory is missing is detected; once restored, nothing is lost', {
  timeout: 300_000,
}, async () => {
  const CDS_DATA_DIR = await openDirectory()
  cleanup.push(() => rm(CDS_DATA_DIR, { recursive: true, force: true }))
  const DATABASE_URL = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: DATABASE_URL }, 1)
  cleanup.push(() => postgres.close())
  const settings = { PORT: '0', HOST: '127.0.0.1', CDS_RATE_LIMITS: 'off', CDS_LOG_LEVEL: 'warn' }
  const environment = { ...settings, CDS_DATA_DIR, DATABASE_URL }
  const run = async (): Promise<Started & Running> => {
    const service = await startProcess(MAIN, [], environment, RUNNING)
    cleanup.push(() => service.end('SIGTERM'))
    return { ...service, url: RUNNING.exec(service.output())?.[1] ?? '' }
  }
  const clickhouse = join(CDS_DATA_DIR, 'clickhouse')
  const first = await run()
  const tenant = await insertTenant(postgres.db)
  expect(await track(first, tenant)).toBe(200)
  expect(await count(first, tenant)).toBe(1)
  expect(await first.end('SIGTERM')).toBe(0)

  await rename(clickhouse, `${clickhouse}.away`)
  const second = await run()
  expect(second.output()).toContain('is new and empty')
  expect(second.output()).toContain('CDS_ACCEPT_LOST_EVENTS=')
  const read = await get(second, '/v1/events', tenant.key)
  expect([read.status, read.body.error?.code]).toEqual([503, 'events_missing'])
  await expectNotReady(second, tenant)
  expect(await second.end('SIGTERM')).toBe(0)

  await rm(clickhouse, { recursive: true })
  await rename(`${clickhouse}.away`, clickhouse)
  expect(await count(await run(), tenant)).toBe(2)
})

describe('an external ClickHouse', () => {
  let directory: string
  let front: Started
  let environment: { DATABASE_URL: string; CLICKHOUSE_URL: string }

  beforeAll(async () => {
    directory = await openDirectory()
    front = await startProcess('packages/server/test/clickhouse-front.ts', [directory, '0'], {}, /ready \d+/)
  })
  afterAll(async () => {
    await front?.end('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  beforeEach(async () => {
    const CLICKHOUSE_URL = `http://127.0.0.1:${/ready (\d+)/.exec(front.output())?.[1]}`
    environment = { DATABASE_URL: await createDatabase(), CLICKHOUSE_URL }
    await empty()
  })

  /** As if the server were another, new one. */
  async function empty(): Promise<void> {
    for (const { name } of CLICKHOUSE_TABLES) {
      const body = `DROP TABLE IF EXISTS ${name} SYNC`
      expect((await fetch(environment.CLICKHOUSE_URL, { method: 'POST', body })).status).toBe(200)
    }
  }

  async function start(more: Record<string, string> = {}): Promise<TestService> {
    const service = await startTestService({ ...environment, ...more })
    cleanup.push(service.close)
    return service
  }

  async function expectMissing(service: TestService, tenant: Credentials): Promise<void> {
    const missing = { status: 503, code: 'events_missing' }
    await expect(service.stores.clickhouse.query('SELECT 1 FROM events')).rejects.toMatchObject(missing)
    await expectNotReady(service, tenant)
  }

  const tenantOf = ({ stores }: TestService): Promise<Credentials> => insertTenant(stores.database)

  test('whose events are missing can be accepted as lost, once', async () => {
    const first = await start()
    const tenant = await tenantOf(first)
    expect(await track(first, tenant)).toBe(200)
    await first.close()

    await empty()
    const second = await start()
    const output = second.logged.join('')
    expect(output).toContain('is new and empty')
    const CDS_ACCEPT_LOST_EVENTS = /CDS_ACCEPT_LOST_EVENTS=([\da-f-]{36})/.exec(output)?.[1] ?? ''
    await expectMissing(second, tenant)
    await second.close()

    const third = await start({ CDS_ACCEPT_LOST_EVENTS })
    // The events accepted meanwhile are there.
    expect(await count(third, tenant)).toBe(1)
    await expect.poll(async () => (await get(third, '/health/ready')).status).toBe(200)
    await third.close()

    await empty()
    await expectMissing(await start({ CDS_ACCEPT_LOST_EVENTS }), tenant)
  })

  test('that was replaced is detected too', async () => {
    const first = await start()
    const tenant = await tenantOf(first)
    expect(await track(first, tenant)).toBe(200)
    expect(await count(first, tenant)).toBe(1)
    await first.close()

    // Another installation's ClickHouse, with events.
    await empty()
    const stranger = await start({ DATABASE_URL: await createDatabase() })
    expect(await track(stranger, await tenantOf(stranger))).toBe(200)
    await stranger.close()

    const third = await start()
    expect(third.logged.join('')).toContain('has the events of another installation')
    await expectMissing(third, tenant)
    await third.close()

    // A new PostgreSQL does not adopt events that it does not know.
    const fourth = await start({ DATABASE_URL: await createDatabase() })
    expect(fourth.logged.join('')).toContain('this PostgreSQL database has none yet')
    expect((await get(fourth, '/health/ready')).status).toBe(503)
  })
})
