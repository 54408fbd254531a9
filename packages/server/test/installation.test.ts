import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { CommandLine } from './command-line.ts'
import { createDatabase } from './databases.ts'
import { freePort } from './ports.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

async function directoryOf(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

type Running = Started & { url: string }

async function run(environment: Record<string, string>): Promise<Running> {
  const common = { PORT: '0', HOST: '127.0.0.1', CDS_RATE_LIMITS: 'off', CDS_LOG_LEVEL: 'warn' }
  const service = await startProcess(MAIN, [], { ...common, ...environment }, RUNNING)
  cleanup.push(() => service.end('SIGTERM'))
  return { ...service, url: RUNNING.exec(service.output())?.[1] ?? '' }
}

const SITE = 'installed.example'

async function tenantOf(environment: Record<string, string>): Promise<string> {
  const commandLine = new CommandLine(environment)
  const { tenant_id } = await commandLine.json('tenant', 'create', '--name', 'x')
  await commandLine.json('domain', 'add', '--tenant', tenant_id, '--domain', SITE, '--verified')
  const key = ['key', 'create', '--tenant', tenant_id, '--name', 'k', '--scopes', 'all']
  const { api_key } = await commandLine.json(...key)
  await commandLine.close()
  return api_key
}

async function track({ url }: Running): Promise<number> {
  const response = await fetch(`${url}/track`, {
    method: 'POST',
    headers: { origin: `https://${SITE}`, 'content-type': 'application/json' },
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

const count = async (service: Running, key: string) =>
  (await get(service, '/v1/events?count_only=true', key)).body.count

/** Reading events is 503, readiness says why, and everything else works. */
async function expectMissing(service: Running, key: string): Promise<void> {
  const read = await get(service, '/v1/events', key)
  expect([read.status, read.body.error?.code]).toEqual([503, 'events_missing'])
  const ready = await get(service, '/health/ready')
  expect([ready.status, ready.body.error?.code]).toEqual([503, 'not_ready'])
  expect(ready.body.error?.message).toContain("does not have this installation's events")
  expect((await get(service, '/v1/contacts', key)).status).toBe(200)
  expect(await track(service)).toBe(200)
}

describe('an embedded ClickHouse whose directory is missing', { timeout: 300_000 }, () => {
  test('is detected; once restored, nothing is lost', async () => {
    const CDS_DATA_DIR = await directoryOf()
    const clickhouse = join(CDS_DATA_DIR, 'clickhouse')
    const first = await run({ CDS_DATA_DIR })
    const key = await tenantOf({ CDS_DATA_DIR })
    expect(await track(first)).toBe(200)
    expect(await count(first, key)).toBe(1)
    expect(await first.end('SIGTERM')).toBe(0)

    await rename(clickhouse, `${clickhouse}.away`)
    const second = await run({ CDS_DATA_DIR })
    expect(second.output()).toContain('is new and empty')
    expect(second.output()).toContain('CDS_ACCEPT_LOST_EVENTS=')
    await expectMissing(second, key)
    expect(await second.end('SIGTERM')).toBe(0)

    await rm(clickhouse, { recursive: true })
    await rename(`${clickhouse}.away`, clickhouse)
    const third = await run({ CDS_DATA_DIR })
    expect(await count(third, key)).toBe(2)
  })

  test('can be accepted as lost, once', async () => {
    const CDS_DATA_DIR = await directoryOf()
    const first = await run({ CDS_DATA_DIR })
    const key = await tenantOf({ CDS_DATA_DIR })
    expect(await track(first)).toBe(200)
    expect(await first.end('SIGTERM')).toBe(0)
    const remove = () => rm(join(CDS_DATA_DIR, 'clickhouse'), { recursive: true })

    await remove()
    const second = await run({ CDS_DATA_DIR })
    const CDS_ACCEPT_LOST_EVENTS = /CDS_ACCEPT_LOST_EVENTS=(\S+)/.exec(second.output())?.[1] ?? ''
    await expectMissing(second, key)
    expect(await second.end('SIGTERM')).toBe(0)

    const third = await run({ CDS_DATA_DIR, CDS_ACCEPT_LOST_EVENTS })
    // The events accepted meanwhile are there.
    expect(await count(third, key)).toBe(1)
    await expect.poll(async () => (await get(third, '/health/ready')).status).toBe(200)
    expect(await third.end('SIGTERM')).toBe(0)

    await remove()
    await expectMissing(await run({ CDS_DATA_DIR, CDS_ACCEPT_LOST_EVENTS }), key)
  })
})

const FRONT = 'packages/server/test/clickhouse-front.ts'

test('an external ClickHouse that was replaced is detected too', async () => {
  const directories = [await directoryOf(), await directoryOf()]
  const port = String(await freePort())
  const environment = { DATABASE_URL: await createDatabase(), CLICKHOUSE_URL: `http://127.0.0.1:${port}` }
  const start = (directory = '') => startProcess(FRONT, [directory, port], {}, /ready \d+/)

  const own = await start(directories[0])
  const first = await run(environment)
  const key = await tenantOf(environment)
  expect(await track(first)).toBe(200)
  expect(await count(first, key)).toBe(1)
  expect(await first.end('SIGTERM')).toBe(0)
  await own.end('SIGKILL')

  // Another installation's ClickHouse, with events.
  const others = await start(directories[1])
  cleanup.push(() => others.end('SIGKILL'))
  const stranger = { ...environment, DATABASE_URL: await createDatabase() }
  const second = await run(stranger)
  await tenantOf(stranger)
  expect(await track(second)).toBe(200)
  expect(await second.end('SIGTERM')).toBe(0)

  const third = await run(environment)
  expect(third.output()).toContain('has the events of another installation')
  await expectMissing(third, key)
  expect(await third.end('SIGTERM')).toBe(0)

  // A new PostgreSQL does not adopt events that it does not know.
  const fourth = await run({ ...environment, DATABASE_URL: await createDatabase() })
  expect(fourth.output()).toContain('this PostgreSQL database has none yet')
  expect((await get(fourth, '/health/ready')).status).toBe(503)
})
