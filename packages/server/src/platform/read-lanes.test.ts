import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createTestTenant,
  startTestService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { createReadLanes, type Lane } from './read-lanes.ts'
import { openTenant } from './tenant.ts'

let service: TestService
let tenant: TestTenant
let other: TestTenant

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
  other = await createTestTenant(service)
  for (const each of [tenant, other]) {
    await each.contact('ada@example.com', {}, { visitor_id: `v-${each.id}` })
    await each.track({ visitor_id: `v-${each.id}`, events: [{ event: 'bought' }] })
  }
})

afterAll(() => service.close())

const counts = (lane: Lane) => service.stores.reads.lanes[lane].counts()

/** Occupies every slot of a lane, each for a different tenant. @returns a function that releases them. */
async function fill(lane: Lane): Promise<() => void> {
  const ends: (() => void)[] = []
  for (let n = 0; ; n++) {
    const entering = service.stores.reads.enter(lane, `filler ${n}`)
    if (counts(lane).waiting > 0) {
      // The extra read is released as soon as it gets its turn.
      entering.then(({ end }) => end())
      return () => {
        for (const end of ends) end()
      }
    }
    ends.push((await entering).end)
  }
}

test.each(['light', 'heavy', 'export', 'postgres', 'postgres_export'] as const)(
  'one tenant never has more than half of the lane %s, so another is served at once',
  async (lane) => {
    const reads = createReadLanes({ cores: 16, memoryBytes: 1e9, postgresConnections: 32 })
    const served = { greedy: 0, other: 0 }
    const enter = (tenantId: keyof typeof served) =>
      reads.enter(lane, tenantId).then(({ end }) => {
        served[tenantId]++
        return end
      })
    const greedy = Array.from({ length: 20 }, () => enter('greedy'))
    const theirs = enter('other')
    await nextTurn()
    expect(served.other).toBe(1)
    expect(served.greedy).toBeGreaterThan(0)
    expect(reads.lanes[lane].counts().waiting).toBe(20 - served.greedy)
    for (const entering of [theirs, ...greedy]) (await entering)()
  },
)

const HEAVY = '/v1/events?url_contains=x'

test.each([
  ['heavy', HEAVY, ['/v1/events', '/v1/contacts?search=ada', '/v1/events/export.csv']],
  ['heavy', '/v1/events/stats?identified_only=true', ['/v1/events?contact_id=x', '/v1/events/stats']],
  ['heavy', '/v1/contacts?has_event_type=bought', ['/v1/contacts']],
  ['heavy', '/v1/events?sort_by=event', ['/v1/events?date_after=2020-01-01']],
  ['heavy', '/v1/events?page=1000', ['/v1/events?page=2']],
  ['export', '/v1/events/export.csv', ['/v1/events', HEAVY]],
  ['postgres', '/v1/contacts?search=ada', ['/v1/contacts?city=Rome', '/v1/events', HEAVY]],
  ['postgres', '/v1/companies?search=ada', ['/v1/companies']],
  ['postgres', '/v1/contacts?status=not_enriched', ['/v1/contacts?sort_by=email']],
  ['postgres', '/v1/contacts?has_linkedin=false', ['/v1/contacts?lead_status=open']],
  ['postgres', '/v1/contacts?created_after=2020-01-01', ['/v1/contacts']],
  ['postgres', '/v1/contacts?page=101&limit=100', ['/v1/contacts?page=100&limit=100']],
  ['postgres', '/v1/companies?created_before=2040-01-01', ['/v1/companies?country=Italy']],
  ['postgres', '/v1/companies?page=101&limit=100', ['/v1/companies?page=2']],
  ['postgres_export', '/v1/contacts/export.csv', ['/v1/contacts?search=ada', '/v1/events/export.csv']],
  ['postgres_export', '/v1/companies/export.csv', ['/v1/companies?search=ada']],
  ['light', '/v1/events', [HEAVY, '/v1/contacts?search=ada']],
] as const)('in the lane %s %s waits, and nothing of another lane waits with it', async (lane, waits, others) => {
  const giveBack = await fill(lane)
  const finished: string[] = []
  const waiting = tenant.call('GET', waits).then((response) => {
    finished.push(waits)
    return response
  })
  // One is the filler's.
  await expect.poll(() => counts(lane).waiting).toBeGreaterThan(1)
  for (const path of others) {
    expect((await tenant.call('GET', path)).status).toBe(200)
    expect((await other.call('GET', path)).status).toBe(200)
  }
  expect(finished).toEqual([])
  giveBack()
  expect((await waiting).status).toBe(200)
  await expect.poll(() => counts(lane)).toMatchObject({ waiting: 0, running: 0 })
})

test("a tenant's many heavy reads delay another tenant's read by only a few of them", async () => {
  const giveBack = await fill('heavy')
  const finished: string[] = []
  const read = (who: TestTenant, name: string) =>
    who.call('GET', HEAVY).then(({ status }) => {
      finished.push(name)
      return status
    })
  // Each reads a page and a total.
  const many = Array.from({ length: 20 }, () => read(tenant, 'many'))
  await expect.poll(() => counts('heavy').waiting).toBe(41)
  const one = read(other, 'one')
  await expect.poll(() => counts('heavy').waiting).toBe(43)
  giveBack()
  expect(new Set(await Promise.all([...many, one]))).toEqual(new Set([200]))
  expect(finished.indexOf('one')).toBeLessThan(10)
})

test('more waiting reads than a tenant may have are refused with 429, and those of others are not', async () => {
  const giveBack = await fill('heavy')
  const reads = Array.from({ length: 33 }, () => tenant.call('GET', HEAVY))
  const refused = await Promise.race(reads)
  expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_reads'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await tenant.call('GET', '/v1/events')).status).toBe(200)
  const another = other.call('GET', HEAVY)
  // Background work waits, however many reads are already waiting.
  const own = tenant.handle.events.select({
    name: 'test',
    lane: 'heavy',
    columns: 'event',
    where: ['is_system = 0'],
    parameters: {},
  })
  await expect.poll(() => counts('heavy').waiting).toBe(68)
  giveBack()
  expect((await another).status).toBe(200)
  expect(await own).toEqual([{ event: 'bought' }])
  const statuses = (await Promise.all(reads)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(32)
})

test('a client that disconnects leaves the queue', async () => {
  const giveBack = await fill('heavy')
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${tenant.key}` }
  const request = fetch(service.url + HEAVY, { headers, signal: leaving.signal }).catch(() => 'gone')
  await expect.poll(() => counts('heavy').waiting).toBe(3)
  leaving.abort()
  expect(await request).toBe('gone')
  await expect.poll(() => counts('heavy').waiting).toBe(1)
  giveBack()
})

test('a tenant can download at most four files at once; more are 429 before anything is sent', async () => {
  const giveBack = await fill('export')
  const file = (who: TestTenant) => who.call('GET', '/v1/events/export.csv?columns=event')
  const files = Array.from({ length: 4 }, () => file(tenant))
  await expect.poll(() => counts('export').waiting).toBe(5)
  const report = { name: 'Events', kind: 'trend', question: { series: [{}] } }
  const { report_id } = (await tenant.call('POST', '/v1/reports', report)).body.report
  const ofReport = `/v1/reports/${report_id}/export.csv`
  for (const path of ['/v1/events/export.csv', '/v1/contacts/export.csv', '/v1/companies/export.csv', ofReport]) {
    const refused = await tenant.call('GET', path)
    expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_exports'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const another = file(other)
  await expect.poll(() => counts('export').waiting).toBe(6)
  giveBack()
  const texts = (await Promise.all([...files, another])).map(({ body }) => body)
  expect(new Set(texts)).toEqual(new Set(['event\r\nbought\r\n']))
  await expect.poll(async () => (await file(tenant)).status).toBe(200)
})

test('an aborted download frees its slot', async () => {
  const giveBack = await fill('export')
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${tenant.key}` }
  const files = Array.from({ length: 4 }, () =>
    fetch(`${service.url}/v1/events/export.csv`, { headers, signal: leaving.signal }).catch(() => 'gone'),
  )
  await expect.poll(() => counts('export').waiting).toBe(5)
  leaving.abort()
  await Promise.all(files)
  const again = () => tenant.call('GET', '/v1/contacts/export.csv').then(({ status }) => status)
  await expect.poll(again).toBe(200)
  giveBack()
})

test('concurrent ClickHouse reads together stay within the memory limit', async () => {
  const reads = createReadLanes({ cores: 16, memoryBytes: 1e9, postgresConnections: 32 })
  let memoryBytes = 0
  for (const lane of ['light', 'heavy', 'export'] as const) {
    for (let n = 0; reads.lanes[lane].counts().waiting === 0; n++) {
      const entering = reads.enter(lane, `tenant ${n}`)
      if (reads.lanes[lane].counts().waiting === 0) memoryBytes += (await entering).share.memoryBytes
    }
  }
  expect(memoryBytes).toBeGreaterThan(0.99e9)
  expect(memoryBytes).toBeLessThanOrEqual(1e9)
})

test.each(['light', 'heavy', 'export'] as const)('a read in the lane %s gets its share of the memory', async (lane) => {
  const { stores } = service
  const bounds: unknown[] = []
  const clickhouse: typeof stores.clickhouse = {
    ...stores.clickhouse,
    query: async (_sql, _parameters, given) => {
      bounds.push(given?.memoryBytes)
      return []
    },
  }
  const { share, end } = await stores.reads.enter(lane, 'another')
  end()
  const handle = openTenant({ ...stores, clickhouse }, tenant.id)
  await handle.events.select({ name: 'test', lane, columns: 'event', where: [], parameters: {} })
  expect(bounds).toEqual([share.memoryBytes])
})

test("a client's read that exceeds its limits is 400, and says what to do", async () => {
  const { stores } = service
  const clickhouse: typeof stores.clickhouse = {
    ...stores.clickhouse,
    query: (sql, parameters, bounds) => stores.clickhouse.query(sql, parameters, { ...bounds, memoryBytes: 1_000 }),
  }
  const question = {
    name: 'test',
    lane: 'heavy' as const,
    columns: 'groupArray(repeat(event, 100000)) AS events',
    where: ['is_system = 0'],
    parameters: {},
  }
  const caller = new AbortController().signal
  const handle = openTenant({ ...stores, clickhouse }, tenant.id, caller)
  await expect(handle.events.select(question)).rejects.toMatchObject({ status: 400, code: 'query_too_expensive' })
})

test('/metrics counts the reads of each lane', async () => {
  const giveBack = await fill('light')
  const response: TestResponse = await tenant.call('GET', '/metrics')
  expect(response.body).toMatch(/^cds_reads_waiting\{lane="light"\} 1$/m)
  expect(response.body).toMatch(/^cds_reads_running\{lane="light"\} [1-9]/m)
  expect(response.body).toMatch(/^cds_reads_total\{lane="heavy"\} [1-9]/m)
  expect(response.body).toMatch(/^cds_reads_refused_total\{lane="heavy"\} [1-9]/m)
  expect(response.body).toMatch(/^cds_reads_waited_seconds_total\{lane="postgres"\} /m)
  giveBack()
})
