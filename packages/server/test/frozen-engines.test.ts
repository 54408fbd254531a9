import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { ADDRESS_FILE } from '../src/assembly/engines.ts'
import { connectClickHouse } from '../src/platform/clickhouse/connect.ts'
import { newId } from '../src/platform/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { createSegment } from '../src/segments/segments.ts'
import { createDatabase } from './databases.ts'
import { type FreezingProxy, startFreezingProxy } from './freezing-proxy.ts'
import { Browser, signedIn } from './people.ts'
import { openDirectory, type Started, startProcess } from './process.ts'
import { startScriptedModel } from './scripted-model.ts'
import {
  call,
  createTestTenant,
  startTestService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from './service.ts'
import { arrived, startWebhookBench, until, type WebhookBench } from './webhooks.ts'

/** Shorter than by default, because most of these tests wait for it. `platform/silence.test.ts` proves the times. */
const SILENT_AFTER_MS = 2_000
/** Far more than it takes: a request that waits for another limit gets no response in time. */
const RESPONSE_WITHIN_MS = 25_000
const BACK_WITHIN_MS = 25_000

/** The response to a request, if it arrives in time. */
async function inTime(
  response: Promise<TestResponse>,
): Promise<{ status: number; code: string; retry_after: string | null }> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no response')), RESPONSE_WITHIN_MS)
  const { status, body, headers } = await Promise.race([response, tooLate])
  clearTimeout(timer)
  return { status, code: body.error?.code, retry_after: headers.get('retry-after') }
}

const UNAVAILABLE = { status: 503, code: 'store_unavailable', retry_after: '2' }
const NOT_READY = { status: 503, code: 'not_ready', retry_after: '2' }

describe('a PostgreSQL that stops responding', () => {
  let proxy: FreezingProxy
  let bench: WebhookBench
  let service: TestService
  let tenant: TestTenant
  let person: Browser

  beforeAll(async () => {
    proxy = await startFreezingProxy({ path: `${inject('postgresHost')}/.s.PGSQL.5432` })
    const { pathname } = new URL(await createDatabase())
    const environment = {
      DATABASE_URL: `postgres://cds@127.0.0.1:${proxy.port}${pathname}`,
      CDS_LLM_ALLOW_PRIVATE: '1',
    }
    bench = await startWebhookBench(environment, { silentAfterMs: SILENT_AFTER_MS })
    service = bench.service
    tenant = await createTestTenant(service)
    const { email } = await signedIn(service, tenant.id, 'admin')
    // The library that checks passwords is loaded by the first sign-in.
    person = await new Browser(service).signIn(email)
  })
  // After a failure, the others are not frozen too.
  afterEach(() => proxy.thaw())
  afterAll(async () => {
    await bench.close()
    await proxy.close()
  })

  const isBack = async () => {
    proxy.thaw()
    const ready = async () => (await call(service, 'GET', '/health/ready')).status
    await expect.poll(ready, { timeout: BACK_WITHIN_MS }).toBe(200)
    expect((await tenant.call('GET', '/v1/contacts')).status).toBe(200)
  }

  test('makes open and new requests that need it fail with 503, and serves again when it is back', async () => {
    const contact = await tenant.contact('ada@example.com')
    const form = (email: string) =>
      call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
        headers: { origin: `https://${tenant.site}` },
        body: JSON.stringify({ contact_data: { email } }),
      })
    // The service has now cached the site, so only the write can fail.
    expect((await form('ada@example.com')).status).toBe(200)
    const requests: Record<string, () => Promise<TestResponse>> = {
      list: () => tenant.call('GET', '/v1/contacts?search=ada'),
      read: () => tenant.call('GET', `/v1/contacts/${contact}`),
      create: () => tenant.call('POST', '/v1/contacts', { email: 'grace@example.com' }),
      change: () => tenant.call('PUT', `/v1/contacts/${contact}`, { properties: { city: 'London' } }),
      track: () => tenant.track({ visitor_id: 'v', events: [{ event: 'x' }] }),
      form: () => form('form@example.com'),
      'sign-in': () => person.call('POST', '/api/auth/sign-in/email', { email: 'admin1@example.com', password: 'x' }),
      session: () => person.call('GET', '/api/me'),
      dashboard: () => person.call('GET', '/v1/audit-log'),
      live: () => person.call('GET', '/v1/live'),
    }
    const ask = async () => {
      const asked = Object.entries(requests).map(async ([name, request]) => [name, await inTime(request())])
      return Object.fromEntries(await Promise.all(asked))
    }
    const refused = Object.fromEntries(Object.keys(requests).map((name) => [name, UNAVAILABLE]))
    proxy.freeze()
    const [first, ready] = await Promise.all([ask(), inTime(call(service, 'GET', '/health/ready'))])
    expect(first).toEqual(refused)
    expect(ready).toEqual(NOT_READY)
    expect(await ask()).toEqual(refused)
    // More than there are connections.
    const many = await Promise.all(Array.from({ length: 60 }, () => inTime(tenant.call('GET', '/v1/contacts'))))
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([503]))
    await isBack()
    // No rejected request had been sent to the server.
    expect((await tenant.call('GET', '/v1/contacts')).body.contacts).toMatchObject([{ contact_id: contact }])
  })

  test('does not interrupt a long statement while it serves others', async () => {
    const { rows } = await service.postgres.pool.query('SELECT pg_sleep($1), 1 AS finished', [
      (1.5 * SILENT_AFTER_MS) / 1_000,
    ])
    expect(rows).toMatchObject([{ finished: 1 }])
  })

  const CASES: [string, boolean][] = [
    ['has received', true],
    ['has not received', false],
  ]
  test.each(CASES)(
    'a write whose COMMIT the server %s is complete or absent, and returns 503',
    async (_, isReceived) => {
      const email = `${newId()}@example.com`
      proxy.freezeAtCommitOf(email, isReceived)
      expect(await inTime(tenant.call('POST', '/v1/contacts', { email, properties: { city: 'Rome' } }))).toEqual(
        UNAVAILABLE,
      )
      await isBack()
      const { body } = await tenant.call('GET', `/v1/contacts?search=${email}`)
      const found = body.contacts.map(({ properties }: { properties: object }) => properties)
      expect(found).toEqual(isReceived ? [{ email, city: 'Rome' }] : [])
      if (!isReceived) return
      const id = body.contacts[0].contact_id
      const created = async () =>
        (await tenant.call('GET', `/v1/events?event_type=contact_created&contact_id=${id}&count_only=true`)).body.count
      await expect.poll(created).toBe(1)
    },
  )

  const STATEMENTS: [string, string][] = [
    ['claim', 'update "segments" set "claim"'],
    ['first member', 'insert into "segment_members"'],
    ['end', '"evaluated_at" = '],
  ]
  const STEPS = STATEMENTS.flatMap(([step, text]) => CASES.map(([received, is]) => ({ step, text, received, is })))
  test.each(STEPS)('a segment whose $step the server $received is evaluated when it is back', async ({ text, is }) => {
    const city = newId()
    await tenant.contact(`${city}@example.com`, { city })
    proxy.freezeAt(text, is)
    const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: city }] }
    // The freeze may come before its response.
    await Promise.allSettled([createSegment(tenant.handle, { name: city, description: null, filter }, new Date())])
    await expect.poll(() => inTime(tenant.call('GET', '/v1/contacts'))).toEqual(UNAVAILABLE)
    await isBack()
    const members = async () => (await tenant.call('GET', '/v1/segments')).body.segments[0]
    await expect.poll(members).toMatchObject({ name: city, contact_count: 1 })
  })

  test('loses no acknowledged event, and background work continues', async () => {
    const model = await startScriptedModel()
    onTestFinished(model.close)
    const going = Promise.withResolvers<void>()
    model.answer = () => ({ content: { reasoning: 'x', actions: [] }, after: going.promise })
    await bench.subscribe(tenant, { event: 'ordered' })
    const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Oslo' }] }
    const { segmentId } = await createSegment(tenant.handle, { name: 'Oslo', description: null, filter }, new Date())
    const contact = await tenant.contact('run@example.com', {}, { visitor_id: 'runner' })
    const llm_config = { provider: 'openai_compatible', base_url: model.url, model: 'scripted' }
    const agent = { name: 'Frozen', capabilities: ['notes'], llm_config }
    const { agent_id } = (await tenant.call('POST', '/v1/agents', agent)).body.agent
    const { job_id } = (await tenant.call('POST', `/v1/agents/${agent_id}/trigger`, { contact_ids: [contact] })).body
    await until(() => expect(model.asked).toHaveLength(1))
    const order = { event_id: crypto.randomUUID(), event: 'ordered' }
    // Sent and frozen at once: acknowledged events wait for projection and delivery.
    const tracked = await tenant.track({ visitor_id: 'runner', events: [order] })
    proxy.freeze()
    expect(tracked.status).toBe(200)
    expect(await inTime(tenant.track({ visitor_id: 'runner', events: [{ event: 'refused' }] }))).toEqual(UNAVAILABLE)
    // The model responds while nothing can be written.
    going.resolve()
    await isBack()
    const again = await tenant.track({ visitor_id: 'runner', events: [order, { event: 'later' }] })
    expect(again.status).toBe(200)
    const { body } = await tenant.call('GET', `/v1/events?contact_id=${contact}&limit=100`)
    const names: string[] = body.events.map(({ event }: { event: string }) => event)
    // A rejected write may still have reached the server, which executes it when it is back.
    expect(names.filter((name) => name !== 'refused').sort()).toEqual(['later', 'ordered'])
    expect(await arrived(bench.receiver, new URL(bench.receiver.url()).pathname, 1)).toHaveLength(1)
    await tenant.contact('oslo@example.com', { city: 'Oslo' })
    const members = async () => (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment.contact_count
    await expect.poll(members).toBe(1)
    const erasure = (await tenant.call('DELETE', `/v1/contacts/${contact}`)).status
    expect(erasure).toBe(200)
    const run = async () => (await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body.run.status
    await expect.poll(run, { timeout: 120_000, interval: 500 }).toBe('completed')
  })
})

describe('a ClickHouse that stops responding', () => {
  let directory: string
  let front: Started
  let proxy: FreezingProxy

  beforeAll(async () => {
    directory = await openDirectory()
    front = await startProcess('packages/server/test/clickhouse-front.ts', [directory, '0'], {}, /ready \d+/)
    proxy = await startFreezingProxy({ port: Number(/ready (\d+)/.exec(front.output())?.[1]), host: '127.0.0.1' })
  })
  afterAll(async () => {
    await proxy?.close()
    await front?.end('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  const url = () => `http://127.0.0.1:${proxy.port}`

  test('when ClickHouse stops responding, reads get 503, and events recorded meanwhile are there when it is back', async () => {
    const service = await startTestService({ CLICKHOUSE_URL: url() }, { silentAfterMs: SILENT_AFTER_MS })
    onTestFinished(async () => {
      proxy.thaw()
      await service.close()
    })
    const tenant = await createTestTenant(service)
    const ids = Array.from({ length: 3 }, () => crypto.randomUUID())
    const track = (event_id: string | undefined) => inTime(tenant.track({ events: [{ event_id, event: 'x' }] }))
    expect(await track(ids[0])).toMatchObject({ status: 200 })
    proxy.freeze()
    const read = () => inTime(tenant.call('GET', '/v1/events'))
    const first = await Promise.all([read(), inTime(call(service, 'GET', '/health/ready')), track(ids[1])])
    expect(first).toMatchObject([UNAVAILABLE, NOT_READY, { status: 200 }])
    expect(await Promise.all([read(), track(ids[2])])).toMatchObject([UNAVAILABLE, { status: 200 }])
    const contacts = await inTime(tenant.call('GET', '/v1/contacts'))
    expect(contacts.status).toBe(200)
    proxy.thaw()
    const ready = async () => (await call(service, 'GET', '/health/ready')).status
    await expect.poll(ready, { timeout: BACK_WITHIN_MS }).toBe(200)
    const stored = async () =>
      ((await tenant.call('GET', '/v1/events?fields=summary')).body.events ?? [])
        .map(({ id }: { id: string }) => id)
        .sort()
    await expect.poll(stored).toEqual(ids.toSorted())
  })

  test('a response fails if ClickHouse stops responding while it streams', async () => {
    const clickhouse = await connectClickHouse({ url: url() }, createLog('silent'), SILENT_AFTER_MS)
    onTestFinished(async () => {
      proxy.thaw()
      await clickhouse.close()
    })
    let batches = 0
    const read = async () => {
      for await (const _ of clickhouse.stream('SELECT number FROM numbers(3000000)'))
        if (batches++ === 0) proxy.freeze()
    }
    await expect(read()).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(batches).toBeGreaterThan(0)
  })
})

test('the service stops while its PostgreSQL does not respond', async () => {
  const proxy = await startFreezingProxy({ path: `${inject('postgresHost')}/.s.PGSQL.5432` })
  onTestFinished(proxy.close)
  const { pathname } = new URL(await createDatabase())
  const DATABASE_URL = `postgres://cds@127.0.0.1:${proxy.port}${pathname}`
  const service = await startTestService({ DATABASE_URL }, { silentAfterMs: SILENT_AFTER_MS })
  proxy.freeze()
  await service.close()
  await expect(call(service, 'GET', '/v1/health')).rejects.toThrow('fetch failed')
})

describe('an embedded PostgreSQL that is suspended', () => {
  let directory: string
  let service: TestService
  let tenant: TestTenant
  let postmaster: number

  beforeAll(async () => {
    directory = await openDirectory()
    const environment = { DATABASE_URL: '', CDS_DATA_DIR: directory }
    service = await startTestService(environment, { silentAfterMs: SILENT_AFTER_MS })
    tenant = await createTestTenant(service)
    const pidFile = join(directory, 'postgres', 'cluster', 'postmaster.pid')
    postmaster = Number.parseInt(await readFile(pidFile, 'utf8'), 10)
  })
  afterAll(async () => {
    await service?.close()
    await rm(directory, { recursive: true, force: true })
  })

  test.each([
    ['as a whole', true],
    ['for new connections', false],
  ])('%s: requests get a response in time, and it serves when it resumes', async (_, isWhole) => {
    const list = () => tenant.call('GET', '/v1/contacts')
    const ready = () => call(service, 'GET', '/health/ready')
    expect((await list()).status).toBe(200)
    const processes = isWhole ? [postmaster, ...childrenOf(postmaster)] : [postmaster]
    for (const pid of processes) process.kill(pid, 'SIGSTOP')
    const [responses, readiness] = await Promise.all([
      Promise.all(Array.from({ length: 40 }, () => inTime(list()))),
      inTime(ready()),
    ])
    expect(readiness).toEqual(NOT_READY)
    // Open connections may still work.
    const statuses = new Set(responses.map(({ status }) => status))
    expect(statuses.difference(new Set(isWhole ? [503] : [200, 503]))).toEqual(new Set())
    for (const pid of processes.toReversed()) process.kill(pid, 'SIGCONT')
    await expect.poll(async () => (await ready()).status, { timeout: BACK_WITHIN_MS }).toBe(200)
    expect((await list()).status).toBe(200)
  })

  test('does not prevent the service from stopping', async () => {
    const addressFile = join(directory, ADDRESS_FILE)
    expect(existsSync(addressFile)).toBe(true)
    process.kill(postmaster, 'SIGSTOP')
    await service.close()
    expect(() => process.kill(postmaster, 0)).toThrow('ESRCH')
    expect(existsSync(addressFile)).toBe(false)
  })
})

function childrenOf(pid: number): number[] {
  return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)
}
