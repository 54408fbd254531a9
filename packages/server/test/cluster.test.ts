import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { EMPTY_RECORD, serializeEvents, serializeRows } from '../src/journal/event-record.ts'
import { startProjector } from '../src/journal/projector.ts'
import { isRefused, isUnreadable } from '../src/journal/refused.ts'
import { OWNER_LINKS_TABLE } from '../src/owners/table.ts'
import { type ClickHouse, connectClickHouse } from '../src/platform/clickhouse/connect.ts'
import { isInSet, valuesOfContact } from '../src/platform/clickhouse/contact-sets.ts'
import { createMissingTables } from '../src/platform/clickhouse/tables.ts'
import type { ServiceError } from '../src/platform/errors.ts'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { type BrokenShard, listenAndHangUp, listenAndRefuse } from './broken-shards.ts'
import { createDatabase } from './databases.ts'
import { hasDebianPostgres, startDebianPostgres } from './debian-postgres.ts'
import { expectReads } from './event-reads.ts'
import { signedIn } from './people.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { createTestTenant, startTestService, type TestService, TestTenant } from './service.ts'
import { until } from './webhooks.ts'

const FRONT = 'packages/server/test/clickhouse-front.ts'
const CLUSTER = 'main'

const cleanup: (() => Promise<unknown>)[] = []
let service: TestService
let second: Started
/** One tenant, reached through two processes. */
let tenant: TestTenant
let elsewhere: TestTenant

beforeAll(async () => {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  const front = await startProcess(FRONT, [directory, '0', CLUSTER], {}, /ready \d+/)
  cleanup.push(() => front.end('SIGKILL'))
  const environment = {
    CLICKHOUSE_URL: `http://127.0.0.1:${/ready (\d+)/.exec(front.output())?.[1]}`,
    CLICKHOUSE_CLUSTER: CLUSTER,
    CDS_SECRET_KEY: randomBytes(32).toString('base64'),
    ...(hasDebianPostgres ? { DATABASE_URL: await startDebianPostgres(cleanup) } : {}),
  }
  service = await startTestService(environment)
  cleanup.push(() => service.close())
  const others = { DATABASE_URL: service.config.databaseUrl ?? '', CDS_DATA_DIR: directory, CDS_RATE_LIMITS: 'off' }
  second = await startProcess(MAIN, [], { ...environment, ...others, PORT: '0', HOST: '127.0.0.1' }, RUNNING)
  cleanup.push(() => second.end('SIGKILL'))
  tenant = await createTestTenant(service)
  const url = RUNNING.exec(second.output())?.[1] ?? ''
  elsewhere = new TestTenant({ ...service, url }, tenant.id, tenant.key, tenant.site)
})
afterAll(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const countOf = async (of: TestTenant, filters = '') => {
  const { status, body } = await of.call('GET', `/v1/events?count_only=true${filters}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.count
}

const rowsIn = async (table: string) => {
  const [row] = await service.stores.clickhouse.query<{ n: number }>(`SELECT count() AS n FROM ${table}`)
  return Number(row?.n)
}

/** The number of links that name an id: in the only shard that has rows, in the whole cluster, and in PostgreSQL. */
const linksOf = async (id: string) => {
  const condition = `has([toString(owner_id), toString(contact_id)], '${id}')`
  const { rows } = await sql<{ n: number }>`SELECT count(*)::int AS n FROM owner_links
    WHERE ${id}::uuid IN (owner_id, contact_id)`.execute(service.stores.database)
  return {
    onShard: await rowsIn(`owner_links_local WHERE ${condition}`),
    inCluster: await rowsIn(`owner_links WHERE ${condition}`),
    inPostgres: rows[0]?.n,
  }
}

// Without Debian's PostgreSQL, the other tests use the embedded one, and this one says so by being skipped.
test.skipIf(!hasDebianPostgres)("contacts are stored in Debian's PostgreSQL", async () => {
  const { rows } = await sql<{ version: string }>`SELECT version()`.execute(service.stores.database)
  expect(rows[0]?.version).toMatch(/^PostgreSQL [^(]+\((Debian|Ubuntu)/)
})

test('tables are spread over the shards behind distributed tables', async () => {
  const tables = await service.stores.clickhouse.query<{ name: string; engine: string }>(
    'SELECT name, engine FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  )
  expect(tables).toEqual([
    { name: 'contact_sets', engine: 'Distributed' },
    { name: 'contact_sets_local', engine: 'MergeTree' },
    { name: 'events', engine: 'Distributed' },
    { name: 'events_local', engine: 'MergeTree' },
    { name: 'installation', engine: 'Distributed' },
    { name: 'installation_local', engine: 'MergeTree' },
    { name: 'owner_links', engine: 'Distributed' },
    { name: 'owner_links_local', engine: 'ReplacingMergeTree' },
  ])
})

test('a batch that is inserted twice, by any process, is recorded once', async () => {
  const now = { timestamp: Date.now(), received_at: Date.now() }
  const body = serializeEvents(
    Array.from({ length: 100 }, () => ({
      ...EMPTY_RECORD,
      ...now,
      tenant_id: newId(),
      event_id: newId(),
      event: 'twice',
    })),
  )
  const before = await rowsIn('events_local')
  for (let time = 0; time < 2; time++) {
    await service.stores.clickhouse.insert('events', 'JSONCompactEachRowWithNames', body, 'the same batch')
  }
  expect(await rowsIn('events_local')).toBe(before + 100)
})

test('rows that cannot be parsed are set aside and do not block others', async () => {
  const now = { tenant_id: newId(), timestamp: Date.now(), received_at: Date.now() }
  const commit = async (...names: string[]) => {
    const events = names.map((event) => ({ ...EMPTY_RECORD, ...now, event_id: newId(), event }))
    const rows = serializeEvents(events).replace('"surrogate"', '"\\ud83d"').replace('"bare"', 'bare')
    const row = { journal_id: newId(), tenant_ids: [now.tenant_id], row_count: names.length, rows }
    await service.stores.database.insertInto('journal').values(row).execute()
  }
  await commit('first', 'surrogate')
  await commit('second')
  await commit('third', 'bare')
  await service.projector.drain()
  await until(async () => expect(await rowsIn(`events_local WHERE tenant_id = '${now.tenant_id}'`)).toBe(3))
  const refused = await service.stores.database.selectFrom('refused_events').select('line').execute()
  expect(refused).toEqual([{ line: 1 }, { line: 1 }])
})

test('an identification, a merge and an unmerge in one process are visible to the next read of the other, of every kind', async () => {
  const ada = await elsewhere.contact('ada@example.com', { firstname: 'Ada' })
  const bob = await elsewhere.contact('bob@example.com')
  const unknown = { visitor_id: 'nobody', events: [{ event: 'looked' }] }
  expect((await tenant.track(unknown)).status).toBe(200)
  const sessionIds: string[] = []
  for (const from of [tenant, elsewhere]) {
    const sent = await from.track({ visitor_id: 'ada', events: [{ event: 'looked' }, { event: 'bought' }] })
    expect(sent.status).toBe(200)
    sessionIds.push(sent.body.session_id)
  }
  const filter = { match: 'all', conditions: [{ event: { type: 'bought' }, operator: 'did' }] }
  const { segment } = (await tenant.call('POST', '/v1/segments', { name: 'Bought', filter })).body
  const [{ event_id }] = (await elsewhere.call('GET', '/v1/events?event_type=bought&limit=1')).body.events
  expect(await countOf(elsewhere, '&identified_only=true')).toBe(0)
  const known = { visitorId: 'ada', sessionIds, eventId: event_id, segmentId: segment.segment_id }
  const change = async (by: TestTenant, path: string, body?: object) => {
    const response = await by.call('POST', path, body)
    expect(response.status, JSON.stringify(response.body)).toBe(200)
  }

  await change(tenant, '/v1/identify', { visitor_id: 'ada', email: 'ada@example.com' })
  for (const reader of [elsewhere, tenant]) await expectReads(reader, { ...known, contactId: ada })
  await change(elsewhere, `/v1/contacts/${ada}/merge`, { into: bob })
  for (const reader of [tenant, elsewhere]) await expectReads(reader, { ...known, contactId: bob })
  await change(tenant, `/v1/contacts/${ada}/unmerge`)
  for (const reader of [elsewhere, tenant]) await expectReads(reader, { ...known, contactId: ada })
})

test('a set that one process copies selects events for the next query, wherever their contacts are stored', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `fan${n}`)
  const ids: string[] = []
  for (const name of names) {
    await tenant.track({ visitor_id: name, events: [{ event: 'cheered' }] })
    ids.push(await tenant.contact(`${name}@example.com`, {}, { visitor_id: name }))
  }
  const setId = newId()
  const lines = ids.map((id, n) => `${id}\t${n % 2 === 0 ? '"even"' : '"odd"'}\n`)
  await tenant.handle.events.addToSet(setId, lines.slice(0, 15).join(''))
  const question = {
    name: 'test',
    lane: 'heavy' as const,
    where: ["event = 'cheered'"],
    parameters: { fans: setId },
  }
  const columns = `countIf(${isInSet('fans')}) AS inside, countIf(NOT ${isInSet('fans')}) AS outside`
  expect(await elsewhere.handle.events.select({ ...question, columns })).toEqual([{ inside: 15, outside: 5 }])
  const grouped = await elsewhere.handle.events.select({
    ...question,
    valuesOf: ['fans'],
    columns: `toString(${valuesOfContact('fans')}) AS fan, count() AS events`,
    groupBy: 'fan',
    orderBy: 'events, fan',
  })
  expect(grouped).toEqual([
    { fan: '[]', events: 5 },
    { fan: `['"odd"']`, events: 7 },
    { fan: `['"even"']`, events: 8 },
  ])
})

test('an erasure removes events, and its verification the links, from every shard and from PostgreSQL', async () => {
  const id = await tenant.contact('grace@example.com', {}, { visitor_id: 'grace' })
  await elsewhere.track({ visitor_id: 'grace', events: [{ event: 'left', url: `https://${tenant.site}/grace` }] })
  expect(await countOf(tenant, `&contact_id=${id}`)).toBe(1)
  const admin = await signedIn(service, tenant.id, 'admin')
  const { body } = await admin.call('POST', '/v1/erasures', { contact_id: id })
  const receiptWith = (status: string) =>
    until(async () => {
      const { receipt } = (await admin.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body
      expect(receipt.status).toBe(status)
    })
  await receiptWith('erased')
  expect(await rowsIn(`events_local WHERE visitor_id = 'grace' OR toString(owner_id) = '${id}'`)).toBe(0)
  expect(await linksOf(id)).toEqual({ onShard: 1, inCluster: 1, inPostgres: 1 })
  // The verification would start a minute later.
  const erasures = tenant.handle.db.updateTable('erasures').set({ due_at: sql`now()` })
  expect((await erasures.where('waiting_for', '=', 'verification').executeTakeFirst()).numUpdatedRows).toBe(1n)
  await receiptWith('verified')
  expect(await linksOf(id)).toEqual({ onShard: 0, inCluster: 0, inPostgres: 0 })
  expect(await countOf(elsewhere, `&contact_id=${id}`)).toBe(0)
})

test('events that one process acknowledges are visible to the next read of the other, even while one is killed', async () => {
  const acknowledged: string[] = []
  const missed: string[] = []
  const typesOf = (of: TestTenant) => of.call('GET', '/v1/events/types').catch(() => null)
  const visit = async (writer: TestTenant, reader: TestTenant, visitor: string) => {
    const event = `kept-${newId()}`
    const sent = await writer.track({ visitor_id: visitor, events: [{ event_id: newId(), event }] }).catch(() => null)
    if (sent?.status === 200) acknowledged.push(event)
    const known = [...acknowledged]
    const read = await typesOf(reader)
    if (read?.status !== 200) return
    const text = JSON.stringify(read.body)
    missed.push(...known.filter((each) => !text.includes(each)))
  }
  const work = async (worker: number) => {
    for (let round = 0; round < 20; round++) {
      const [writer, reader] = round % 2 === 0 ? [elsewhere, tenant] : [tenant, elsewhere]
      await visit(writer, reader, `w${worker}-${round}`)
    }
  }
  const working = Promise.all([1, 2, 3, 4].map(work))
  await until(async () => expect(acknowledged.length).toBeGreaterThan(20))
  await second.end('SIGKILL')
  await working
  const counts = JSON.stringify((await typesOf(tenant))?.body)
  missed.push(...acknowledged.filter((event) => !counts.includes(event)))
  expect(missed).toEqual([])
  const stored = `SELECT count() AS n, uniqExact(event_id) AS distinct FROM events WHERE startsWith(event, 'kept-')`
  const [row] = await service.stores.clickhouse.query<{ n: number; distinct: number }>(stored)
  expect(Number(row?.n)).toBe(Number(row?.distinct))
  expect(Number(row?.n)).toBeGreaterThanOrEqual(acknowledged.length)
})

/** A cluster whose second shard is broken. */
async function connectWith(broken: BrokenShard): Promise<ClickHouse> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  const front = await startProcess(FRONT, [directory, '0', CLUSTER, broken.port], {}, /ready \d+/)
  cleanup.push(() => front.end('SIGKILL'))
  const url = `http://127.0.0.1:${/ready (\d+)/.exec(front.output())?.[1]}`
  const clickhouse = await connectClickHouse({ url, cluster: CLUSTER })
  cleanup.push(() => clickhouse.close())
  return clickhouse
}

test('a shard that disconnects or is down is not blamed on the rows or the query', async () => {
  const broken = await listenAndHangUp()
  const clickhouse = await connectWith(broken)
  await createMissingTables(clickhouse, [OWNER_LINKS_TABLE], CLUSTER)
  const links = Array.from({ length: 30 }, () => ({ tenant_id: newId(), owner_id: newId(), contact_id: newId() }))
  const insert = () =>
    clickhouse
      .insert('owner_links', 'JSONEachRow', links.map((link) => JSON.stringify(link)).join('\n'), newId())
      .catch((error: ServiceError) => [error.code, isRefused(error), isUnreadable(error)])
  const ask = () => clickhouse.query('SELECT count() FROM owner_links').catch((error: ServiceError) => error.code)
  expect(await insert()).toEqual(['store_unavailable', false, false])
  expect(await ask()).toBe('store_unavailable')
  await broken.close()
  expect(await insert()).toEqual(['store_unavailable', false, false])
})

test('a batch that one shard rejects waits as a whole, because others have stored their rows', async () => {
  const columns = OWNER_LINKS_TABLE.elements.map((element) => element.split(' ') as [string, string])
  // The code for rows that cannot be parsed.
  const broken = await listenAndRefuse(Object.fromEntries(columns), 27)
  const clickhouse = await connectWith(broken)
  await createMissingTables(clickhouse, [OWNER_LINKS_TABLE], CLUSTER)
  const postgres = connectPostgres<DB>({ connectionString: await createDatabase() }, 5)
  cleanup.push(() => postgres.close())
  const { db: database } = postgres
  const tenantId = newId()
  const commit = async (owners: readonly string[]) => {
    const links = owners.map((owner_id) => ({ tenant_id: tenantId, owner_id, contact_id: newId(), version: 1 }))
    const row = {
      table_name: 'owner_links',
      tenant_ids: [tenantId],
      row_count: links.length,
      rows: serializeRows(links),
    }
    await database
      .insertInto('journal')
      .values({ journal_id: newId(), ...row })
      .execute()
  }
  const owners = Array.from({ length: 30 }, () => newId())
  const spare = Array.from({ length: 30 }, () => newId())
  const first = await clickhouse.query<{ owner: string }>(
    'SELECT arrayJoin({owners: Array(UUID)}) AS owner WHERE cityHash64({tenant: UUID}, owner) % 2 = 0',
    { owners: [...owners, ...spare], tenant: tenantId },
  )
  const ofFirstShard = new Set(first.map(({ owner }) => owner))
  const projector = startProjector({ database, clickhouse, cluster: CLUSTER, log: service.log })
  cleanup.push(() => projector.stop())
  await commit(owners.slice(0, 15))
  await commit(owners.slice(15))
  await projector.drain()
  // An accepted batch shows that the fault is in the other one.
  await commit(spare.filter((owner) => ofFirstShard.has(owner)).slice(0, 1))
  for (let sweep = 0; sweep < 3; sweep++) await projector.drain()
  const [stored] = await clickhouse.query<{ n: string }>('SELECT count() AS n FROM owner_links_local')
  expect(Number(stored?.n)).toBe(owners.filter((owner) => ofFirstShard.has(owner)).length + 1)
  expect(await database.selectFrom('refused_events').selectAll().execute()).toEqual([])
  const waiting = await database.selectFrom('journal').select('batch_id').distinct().execute()
  expect(waiting).toHaveLength(1)
  await expect(projector.barrier(tenantId)).rejects.toMatchObject({ status: 503 })
})

test('CLICKHOUSE_CLUSTER without CLICKHOUSE_URL is rejected', () => {
  expect(() => readConfig({ CLICKHOUSE_CLUSTER: CLUSTER })).toThrow('CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL')
})
