import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { episodeId } from '../src/journal/episodes.ts'
import { connectClickHouse } from '../src/platform/clickhouse/connect.ts'
import { isOwnedBy } from '../src/platform/clickhouse/tenant-events.ts'
import { requireVersion } from '../src/platform/clickhouse/version.ts'
import type { ServiceError } from '../src/platform/errors.ts'
import { CommandLine } from './command-line.ts'
import { hasDebianPostgres, startDebianPostgres } from './debian-postgres.ts'
import { freePort } from './ports.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { call, createTestTenant, startTestService, type TestService } from './service.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const FRONT = 'packages/server/test/clickhouse-front.ts'

/** A ClickHouse server, and a service that uses it. */
let directory: string
let port: string
let front: Started
let service: TestService

async function startClickHouse(): Promise<void> {
  front = await startProcess(FRONT, [directory, port], {}, /ready \d+/)
}
beforeAll(async () => {
  directory = await openDirectory()
  // It returns to its port.
  port = String(await freePort())
  await startClickHouse()
  service = await startTestService({ CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
})
afterAll(async () => {
  await service?.close()
  await front?.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

describe('an external ClickHouse', () => {
  test('serves the same over HTTP as the embedded one', async () => {
    const tenant = await createTestTenant(service)
    const hostile = "it's \\ a\ttab\nline 🎉 {x: String}"
    await tenant.track({
      visitor_id: hostile,
      events: [{ event: hostile, url: `https://${tenant.site}/?q=${hostile}`, data: { a: hostile } }],
    })
    for (const query of [
      `event_type=${encodeURIComponent(hostile)}`,
      `url_contains=${encodeURIComponent(hostile)}`,
      `search=${encodeURIComponent('{x:')}`,
      'date_after=2020-01-01&date_before=2100-01-01',
    ]) {
      const { body } = await tenant.call('GET', `/v1/events?${query}`)
      expect(body.events, query).toMatchObject([{ event: hostile, visitor_id: hostile, data: { a: hostile } }])
    }
  })

  test('and an external PostgreSQL need CDS_SECRET_KEY to store a secret, or a response for an Idempotency-Key', async () => {
    const tenant = await createTestTenant(service)
    const client = { client_id: 'cds', client_secret: 'correct-horse' }
    const stored = await tenant.call('PUT', '/v1/oauth-clients/google', client)
    const headers = { authorization: `Bearer ${tenant.key}`, 'idempotency-key': 'one' }
    const body = JSON.stringify({ email: 'ada@example.com' })
    const repeatable = await call(service, 'POST', '/v1/contacts', { headers, body })
    for (const refused of [stored, repeatable]) {
      expect([refused.status, refused.body.error.code]).toEqual([503, 'secret_key_missing'])
    }
    expect((await tenant.call('GET', '/v1/contacts')).body.contacts).toEqual([])
  })

  test('can query and delete events of 20,000 owners', async () => {
    const tenant = await createTestTenant(service)
    const { clickhouse } = service.stores
    for (const visitor_id of ['ada', 'grace']) await tenant.track({ visitor_id, events: [{ event: 'looked' }] })
    const many = Array.from({ length: 20_000 }, () => crypto.randomUUID())
    const owners = [...many, episodeId(tenant.id, 'ada', 0)]
    const visitors = (where: string[]) =>
      tenant.handle.events.select({ name: 'test', lane: 'light', columns: 'visitor_id', where, parameters: { owners } })
    expect(await visitors([isOwnedBy('owners')])).toEqual([{ visitor_id: 'ada' }])
    const deletion = 'ALTER TABLE events DELETE WHERE owner_id IN {owners: Array(UUID)} SETTINGS mutations_sync = 1'
    await clickhouse.command(deletion, { owners })
    expect(await visitors(['1'])).toEqual([{ visitor_id: 'grace' }])
    // Values of a long list reach the server unchanged, even if they look like parameters.
    const texts = Array.from({ length: 500 }, () => "it's \\ a\ttab\nline 🎉 {x: String} \\N '")
    const columns = '{x: String} AS x, {texts: Array(String)} AS texts'
    expect(await clickhouse.query(`SELECT ${columns}`, { texts, x: '{texts: Array(String)}' })).toEqual([
      { texts, x: '{texts: Array(String)}' },
    ])
  })

  test('is told not to log a statement with values in its text', async () => {
    const asked: { url: URL; body: string }[] = []
    const server = createServer(async (request, response) => {
      asked.push({ url: new URL(request.url ?? '/', 'http://localhost'), body: await text(request) })
      response.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanup.push(async () => server.close().closeAllConnections())
    const clickhouse = await connectClickHouse({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    cleanup.push(() => clickhouse.close())
    const rows = '{"email":"ada@example.com"}\n'.repeat(100)
    await clickhouse.query('SELECT {rows: String}', { rows })
    await clickhouse.command('ALTER TABLE x DELETE WHERE has({texts: Array(String)}, y)', { texts: [rows] })
    await clickhouse.query('SELECT {short: String}', { short: 'ada@example.com' })
    const withValue = asked.filter(({ body }) => body.includes('ada@example.com'))
    expect(withValue.map(({ url }) => url.searchParams.get('log_queries'))).toEqual(['0', '0'])
    const others = asked.filter((each) => !withValue.includes(each) && each.url.searchParams.has('param_short'))
    expect(others.map(({ url }) => url.searchParams.has('log_queries'))).toEqual([false])
  })

  test('may be down: events are accepted, and are stored once it is back', async () => {
    const tenant = await createTestTenant(service)
    const ids = Array.from({ length: 30 }, () => crypto.randomUUID())
    const send = (event_id: string) => tenant.track({ visitor_id: 'v', events: [{ event_id, event: 'x' }] })
    for (const id of ids.slice(0, 5)) expect((await send(id)).status).toBe(200)

    await front.end('SIGKILL')
    for (const id of ids.slice(5)) expect((await send(id)).status).toBe(200)
    const list = await tenant.call('GET', '/v1/events')
    expect([list.status, list.body.error.code]).toEqual([503, 'store_unavailable'])
    expect(list.headers.get('retry-after')).toBeTruthy()
    const ready = await call(service, 'GET', '/health/ready')
    expect([ready.status, ready.body.error.code]).toEqual([503, 'not_ready'])
    // Contacts do not need it, and their events are not lost.
    const contact = await tenant.contact('away@example.com')
    expect((await tenant.call('GET', `/v1/contacts/${contact}?include_events=false`)).status).toBe(200)

    await startClickHouse()
    const stored = async () => {
      const { body } = await tenant.call('GET', '/v1/events?fields=summary&limit=100')
      return (body.events ?? []).map(({ id }: { id: string }) => id).sort()
    }
    await expect.poll(stored, { timeout: 40_000, interval: 500 }).toEqual([...ids].sort())
    const system = await tenant.call('GET', '/v1/events?event_type=contact_created')
    expect(system.body.events).toHaveLength(1)
  })
})

/** A server that only reports a version. */
async function claimVersion(version: string): Promise<string> {
  const server = createServer((_, response) => response.end(`${JSON.stringify({ version })}\n`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.push(async () => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the version of a ClickHouse server', () => {
  test('older than the tested one makes the start fail', async () => {
    const CLICKHOUSE_URL = await claimVersion('25.8.12.1')
    const started = startTestService({ CLICKHOUSE_URL })
    // If it does start, it must not outlive the test.
    started.then(
      ({ close }) => cleanup.push(close),
      () => {},
    )
    await expect(started).rejects.toThrow('is ClickHouse 25.8.12.1, and the service needs 26.7 or later. Upgrade the')
  })

  test.each([
    ['26.3.4.12', false],
    ['26.6.1.1-testing', false],
    ['9.12.1', false],
    ['unknown', false],
    ['26.7.1.1', true],
    ['26.10.3.5.altinitystable', true],
    ['27.1.1.1', true],
  ])('version %s is accepted: %s', async (version, isAccepted) => {
    const clickhouse = await connectClickHouse({ url: await claimVersion(version) })
    cleanup.push(() => clickhouse.close())
    const code = await requireVersion(clickhouse).then(
      () => null,
      (error: ServiceError) => error.code,
    )
    expect(code).toBe(isAccepted ? null : 'clickhouse_too_old')
  })

  test('is shown by cdsctl doctor, supported or not', async () => {
    const commandLine = new CommandLine({ DATABASE_URL: service.config.databaseUrl ?? '' })
    cleanup.push(() => commandLine.close())
    const recent = await commandLine.run(['doctor'], { CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
    expect(JSON.parse(recent.stdout).clickhouse).toMatch(/^26\.7\./)
    const old = await commandLine.run(['doctor'], { CLICKHOUSE_URL: await claimVersion('25.8.12.1') })
    expect([old.exit, JSON.parse(old.stdout).error.code]).toEqual([1, 'clickhouse_too_old'])
    expect(old.stdout).toContain('25.8.12.1')
  })
})

test('events that one process acknowledges are visible to the other at once, even if one is killed', async () => {
  const tenant = await createTestTenant(service)
  const environment = {
    DATABASE_URL: service.config.databaseUrl ?? '',
    CLICKHOUSE_URL: service.config.clickhouseUrl ?? '',
    CDS_DATA_DIR: directory,
    CDS_RATE_LIMITS: 'off',
    PORT: '0',
    HOST: '127.0.0.1',
  }
  const second = await startProcess(MAIN, [], environment, RUNNING)
  cleanup.push(() => second.end('SIGKILL'))
  const urls = [service.url, RUNNING.exec(second.output())?.[1] ?? '']
  const acknowledged: string[] = []
  const missed: string[] = []
  const visit = async (visitor: number, rounds: number, alive: readonly string[]) => {
    for (let round = 0; round < rounds; round++) {
      const event = `v${visitor}-${acknowledged.length}-${round}`
      const sent = await fetch(`${alive[(visitor + round) % alive.length]}/track`, {
        method: 'POST',
        headers: { origin: `https://${tenant.site}`, 'content-type': 'application/json' },
        body: JSON.stringify({ visitor_id: `v${visitor}`, events: [{ event_id: crypto.randomUUID(), event }] }),
      }).catch(() => null)
      if (!sent?.ok) continue
      acknowledged.push(event)
      const known = [...acknowledged]
      const read = await fetch(`${alive[(visitor + round + 1) % alive.length]}/v1/events/types`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      }).catch(() => null)
      if (!read?.ok) continue
      const text = await read.text()
      missed.push(...known.filter((each) => !text.includes(`"${each}"`)))
    }
  }
  const all = (rounds: number, alive: readonly string[]) =>
    Promise.all(Array.from({ length: 6 }, (_, visitor) => visit(visitor, rounds, alive)))
  await all(8, urls)
  const working = all(8, urls)
  await second.end('SIGKILL')
  await working
  await all(3, urls.slice(0, 1))
  expect(missed).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(80)
  const { body } = await tenant.call('GET', '/v1/events?count_only=true')
  const { body: types } = await tenant.call('GET', '/v1/events/types')
  const counts = JSON.stringify(types)
  for (const event of acknowledged) expect(counts).toContain(`"${event}"`)
  expect(body.count).toBe(JSON.stringify(types).match(/"v\d-\d+-\d+"/g)?.length)
})

describe.skipIf(!hasDebianPostgres)("Debian's PostgreSQL", () => {
  test('can replace the embedded one', async () => {
    const service = await startWith({ DATABASE_URL: await startDebianPostgres(cleanup) })
    const tenant = await createTestTenant(service)
    const id = await tenant.contact('ada@example.com', { firstname: 'ÄDA' }, { visitor_id: 'v' })
    await tenant.track({ visitor_id: 'v', events: [{ event_id: crypto.randomUUID(), event: 'x' }] })
    const found = await tenant.call('GET', '/v1/contacts?search=%C3%A4da')
    expect(found.body.contacts[0].contact_id).toBe(id)
    expect(found.body.pagination.total_items).toBe(1)
    const events = await tenant.call('GET', `/v1/events?contact_id=${id}`)
    expect(events.body.pagination.total_items).toBe(1)
  })
})

test('of two services on one PostgreSQL, each with an embedded ClickHouse, the second gets an error and is not ready', async () => {
  const first = await startWith({})
  const second = await startWith({ DATABASE_URL: first.config.databaseUrl ?? '' })
  expect(second.logged.join('')).toContain('set CLICKHOUSE_URL')
  const ready = async (of: TestService) => (await call(of, 'GET', '/health/ready')).status
  expect(await ready(second)).toBe(503)
  await expect.poll(() => ready(first)).toBe(200)
})

async function startWith(environment: Record<string, string>): Promise<TestService> {
  const service = await startTestService(environment)
  cleanup.push(() => service.close())
  return service
}
