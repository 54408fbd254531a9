import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdir, rm } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { serverUser } from '../src/platform/embedded/unprivileged-user.ts'
import { freePort } from './ports.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { call, createTestTenant, startTestService, type TestService } from './service.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const FRONT = 'packages/server/test/clickhouse-front.ts'

async function startClickHouse(directory: string, port = '0'): Promise<{ front: Started; port: string }> {
  const front = await startProcess(FRONT, [directory, port], {}, /ready \d+/)
  cleanup.push(() => front.end('SIGKILL'))
  return { front, port: /ready (\d+)/.exec(front.output())?.[1] ?? '' }
}

describe('an external ClickHouse', () => {
  test('serves over HTTP what the embedded one does', async () => {
    const directory = await openDirectory()
    cleanup.push(() => rm(directory, { recursive: true, force: true }))
    const { port } = await startClickHouse(directory)
    const service = await startWith({ CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
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

  test('may be away: events are accepted, and are there once when it is back', async () => {
    const directory = await openDirectory()
    cleanup.push(() => rm(directory, { recursive: true, force: true }))
    const { front, port } = await startClickHouse(directory, String(await freePort()))
    const service = await startWith({ CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
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
    // Contacts do not need it, and what happens to them is not forgotten.
    const contact = await tenant.contact('away@example.com')
    expect((await tenant.call('GET', `/v1/contacts/${contact}?include_events=false`)).status).toBe(200)

    await startClickHouse(directory, port)
    const stored = async () => {
      const { body } = await tenant.call('GET', '/v1/events?fields=summary&limit=100')
      return (body.events ?? []).map(({ id }: { id: string }) => id).sort()
    }
    await expect.poll(stored, { timeout: 40_000, interval: 500 }).toEqual([...ids].sort())
    const system = await tenant.call('GET', '/v1/events?event_type=contact_created')
    expect(system.body.events).toHaveLength(1)
  })
})

test('what one process has acknowledged the other reads at once, also when one is killed', async () => {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  const { port } = await startClickHouse(directory)
  const service = await startWith({ CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
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

const debian = existsSync('/usr/lib/postgresql')
  ? `/usr/lib/postgresql/${readdirSync('/usr/lib/postgresql').at(-1)}/bin`
  : null

// PostgreSQL of Debian is installed by `npm test` where that is possible, which says so where it is not.
describe.skipIf(debian === null)("Debian's PostgreSQL", () => {
  test('serves in place of the embedded one', async () => {
    const url = await startDebianPostgres(debian ?? '')
    const service = await startWith({ DATABASE_URL: url })
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

test('of two services on one PostgreSQL, each with an embedded ClickHouse, the second is told and is not ready', async () => {
  const service = await startWith({})
  const other = await openDirectory()
  cleanup.push(() => rm(other, { recursive: true, force: true }))
  const environment = {
    DATABASE_URL: service.config.databaseUrl ?? '',
    CDS_DATA_DIR: other,
    PORT: '0',
    HOST: '127.0.0.1',
  }
  const second = await startProcess(MAIN, [], environment, RUNNING)
  cleanup.push(() => second.end('SIGTERM'))
  expect(second.output()).toContain('set CLICKHOUSE_URL')
  expect((await fetch(`${RUNNING.exec(second.output())?.[1]}/health/ready`)).status).toBe(503)
  await expect.poll(async () => (await call(service, 'GET', '/health/ready')).status).toBe(200)
})

async function startDebianPostgres(binaries: string): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  const { uid, gid, isOther } = serverUser()
  const as = isOther ? { uid, gid, cwd: '/' } : { cwd: '/' }
  const data = `${directory}/data`
  await mkdir(data, { mode: 0o700 })
  if (isOther) await chown(data, uid, gid)
  execFileSync(`${binaries}/initdb`, ['-D', data, '-U', 'cds', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    ...as,
    stdio: 'ignore',
  })
  const port = String(await freePort())
  const server = spawn(
    `${binaries}/postgres`,
    ['-D', data, '-k', data, '-p', port, '-c', 'listen_addresses=127.0.0.1'],
    { ...as, stdio: 'ignore' },
  )
  const exited = new Promise((resolve) => server.once('exit', resolve))
  cleanup.push(async () => {
    server.kill('SIGINT')
    await exited
  })
  const { default: pg } = await import('pg')
  const url = `postgres://cds@127.0.0.1:${port}/postgres`
  await expect
    .poll(
      async () => {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        await client.end()
        return true
      },
      { timeout: 60_000 },
    )
    .toBe(true)
  return url
}

async function startWith(environment: Record<string, string>): Promise<TestService> {
  const service = await startTestService(environment)
  cleanup.push(() => service.close())
  return service
}
