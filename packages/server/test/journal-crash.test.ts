import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { serializeEvents } from '../src/journal/event-record.ts'
import { withSequence } from '../src/platform/clickhouse/sequence.ts'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { createDatabase } from './databases.ts'
import { type FreezingProxy, startFreezingProxy } from './freezing-proxy.ts'
import { eventNow } from './journal.ts'
import { openDirectory, startProcess } from './process.ts'
import { insertTenant, startTestService, type TestService } from './service.ts'

const FRONT = 'packages/server/test/clickhouse-front.ts'

const cleanup: (() => Promise<unknown>)[] = []
let port: number
let address: string
let secretKey: string
let direct: ReturnType<typeof connectPostgres<DB>>
let tenant: Awaited<ReturnType<typeof insertTenant>>
/** The service that runs, and its ways to the databases. */
let service: TestService
let postgres: FreezingProxy
let clickhouse: FreezingProxy
/** The ends of those that were cut off. */
const ending: Promise<unknown>[] = []

beforeAll(async () => {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  const front = await startProcess(FRONT, [directory, '0'], {}, /ready \d+/)
  cleanup.push(() => front.end('SIGKILL'))
  port = Number(/ready (\d+)/.exec(front.output())?.[1])
  address = await createDatabase()
  secretKey = randomBytes(32).toString('base64')
  direct = connectPostgres<DB>({ connectionString: address }, 1)
  cleanup.push(() => direct.close())
  tenant = await insertTenant(direct.db)
  await startNext()
  cleanup.push(() => Promise.all(ending), cutOff)
})
afterAll(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

/** Opens new ways to the databases, for the next service. */
async function connect(): Promise<void> {
  clickhouse = await startFreezingProxy({ host: '127.0.0.1', port })
  postgres = await startFreezingProxy({ path: `${inject('postgresHost')}/.s.PGSQL.5432` })
}

function start(): Promise<TestService> {
  return startTestService({
    CLICKHOUSE_URL: `http://127.0.0.1:${clickhouse.port}`,
    DATABASE_URL: `postgres://cds@127.0.0.1:${postgres.port}${new URL(address).pathname}`,
    CDS_SECRET_KEY: secretKey,
  })
}

/**
 * Ends all connections of the service, of which it gets no new ones: to the databases and to clients, this is what a kill
 * of its process is, at a tenth of the cost. `crash.test.ts` and `interleavings-crash.test.ts` kill processes.
 */
async function cutOff(): Promise<void> {
  await Promise.all([postgres.close(), clickhouse.close()])
  service.app.server.closeAllConnections()
  ending.push(service.close().catch(() => {}))
}

/** Starts a service on what the one that was cut off has left behind. */
async function startNext(): Promise<void> {
  await connect()
  service = await start()
}

async function call(method: string, path: string, body?: object) {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      origin: `https://${tenant.site}`,
      authorization: `Bearer ${tenant.key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const waiting = () => direct.db.selectFrom('journal').select('journal_id').execute()

/** A step of an event's way to ClickHouse: a statement, or the COMMIT of its transaction. */
interface Step {
  engine: () => FreezingProxy
  text: (visitorId: string) => string
  atCommit?: true
  /** Checks what the next process returns before clients repeat their requests. */
  check?: (visitorId: string, isReceived: boolean) => Promise<void>
}

const STEPS: Record<string, Step> = {
  'a flush': { engine: () => postgres, text: (visitorId) => `/${visitorId}/page` },
  'an identification': {
    engine: () => postgres,
    text: (visitorId) => `${visitorId}@example.com`,
    atCommit: true,
    check: expectIdentification,
  },
  'a new batch': { engine: () => postgres, text: () => 'form_batch' },
  "a batch's events": { engine: () => clickhouse, text: (visitorId) => `/${visitorId}/page` },
  "a batch's links": { engine: () => clickhouse, text: () => '"contact_id","version"' },
  'the clean-up': { engine: () => postgres, text: () => 'delete from "journal"' },
  "the clean-up's COMMIT": { engine: () => postgres, text: () => 'delete from "journal"', atCommit: true },
}
const CASES = Object.entries(STEPS).flatMap(([name, step]) => [
  { name, step, isReceived: true, outcome: 'receives' },
  { name, step, isReceived: false, outcome: 'never receives' },
])

test.each(CASES)(
  'cut off at $name, which the engine $outcome: the next process returns every event once, with its contact',
  async ({ step, isReceived }) => {
    const visitorId = newId()
    const pageOf = (name: string) => `https://${tenant.site}/${visitorId}/page/${name}`
    const track = (event: { event_id: string; url: string }) =>
      call('POST', '/track', { visitor_id: visitorId, events: [{ event: 'visited', ...event }] })
    const identify = () => call('POST', '/v1/identify', { visitor_id: visitorId, email: `${visitorId}@example.com` })
    await track({ event_id: newId(), url: pageOf('before') })
    await expect.poll(waiting).toEqual([])

    const engine = step.engine()
    if (step.atCommit) engine.freezeAtCommitOf(step.text(visitorId), isReceived)
    else engine.freezeAt(step.text(visitorId), isReceived)
    const during = { event_id: newId(), url: pageOf('during') }
    const sending = [track, identify].map((send) =>
      send(during).then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    await expect.poll(engine.isFrozen).toBe(true)
    await cutOff()
    const [isTracked, isIdentified] = await Promise.all(sending)
    await startNext()
    if (step.check) {
      expect(isIdentified).toBe(false)
      await step.check(visitorId, isReceived)
    }
    // Clients repeat requests that got no response.
    if (!isTracked) expect((await track(during)).status).toBe(200)
    if (!isIdentified) expect((await identify()).status).toBe(200)

    const { contacts } = (await call('GET', `/v1/contacts?search=${visitorId}`)).body
    expect(contacts).toHaveLength(1)
    const [{ contact_id }] = contacts
    const list = (await call('GET', `/v1/contacts/events/${contact_id}`)).body
    const urls = list.events
      .map(({ url }: { url: string | null }) => url)
      .filter((url: string | null) => url?.includes('/page/'))
    expect(urls.sort()).toEqual([pageOf('before'), pageOf('during')])
    const count = (await call('GET', `/v1/events?event_type=visited&contact_id=${contact_id}&count_only=true`)).body
    expect(count.count).toBe(2)
    await expectCopiedLinks(visitorId, contact_id, 2)
    await expect.poll(waiting).toEqual([])
  },
)

/** Expects that ClickHouse's copy of the links assigns a number of a visitor's events to a contact; null: to none. */
async function expectCopiedLinks(visitorId: string, contactId: string | null, count: number): Promise<void> {
  const query = `event_type=visited&visitor_id=${visitorId}&identified_only=true&count_only=true`
  expect((await call('GET', `/v1/events?${query}`)).body.count).toBe(contactId === null ? 0 : count)
  const filters = { event_type: 'visited', visitor_id: visitorId }
  const { body } = await call('POST', '/v1/aggregate', { entity: 'events', group_by: 'contact_id', filters })
  expect(body).toMatchObject({ buckets: contactId === null ? [] : [{ key: contactId, value: count }], total: count })
}

/** An identification is one transaction: all that it writes is there, or nothing. */
async function expectIdentification(visitorId: string, isThere: boolean): Promise<void> {
  const { contacts } = (await call('GET', `/v1/contacts?search=${visitorId}`)).body
  expect(contacts).toHaveLength(isThere ? 1 : 0)
  const contactId: string | null = contacts[0]?.contact_id ?? null
  const visits = (await call('GET', `/v1/events?event_type=visited&visitor_id=${visitorId}`)).body.events
  // The second visit may have been lost.
  expect([1, 2]).toContain(visits.length)
  for (const visit of visits) expect(visit.internal_contact_id).toBe(contactId)
  await expectCopiedLinks(visitorId, contactId, visits.length)
  const identified = (await call('GET', '/v1/events?event_type=contact_identified&limit=100')).body.events
  const ofVisitor = identified.filter(({ data }: { data: { visitor_ids: string[] } }) =>
    data.visitor_ids.includes(visitorId),
  )
  expect(ofVisitor).toHaveLength(isThere ? 1 : 0)
  // No test deletes a contact.
  const created = await call('GET', '/v1/events?event_type=contact_created&count_only=true')
  const existing = await call('GET', '/v1/contacts?count_only=true')
  expect(created.body.count).toBe(existing.body.count)
}

/** Journal rows of events with these names. */
function rowsOf(...names: string[]): string {
  return serializeEvents(names.map((event) => eventNow(tenant.id, event)))
}

/** A deduplication token, as the URL of an insertion contains it. */
const tokenOf = (batch: string, row: string | number) => encodeURIComponent(`${batch}/${row}`)

/** A step of a batch of two rows that is divided, because ClickHouse cannot parse an event of the first one. */
interface PartStep extends Omit<Step, 'text'> {
  name: string
  text: (first: string, second: string) => string
  isReceived: boolean
  outcome: string
}

const RECEIVED = { isReceived: true, outcome: 'receives' }
const LOST = { isReceived: false, outcome: 'never receives' }
const DIVISION = { engine: () => postgres, text: () => 'set "batch_id" = "journal_id"', atCommit: true } as const
const PART = { engine: () => clickhouse, text: (_: string, second: string) => tokenOf(second, second) }
const EVENT = { engine: () => clickhouse, text: (first: string) => tokenOf(first, 0) }
const CLEAN_UP = { engine: () => postgres, text: () => 'delete from "journal"', atCommit: true } as const
const PART_STEPS: PartStep[] = [RECEIVED, LOST].flatMap((outcome) => [
  { name: 'the division', ...DIVISION, ...outcome },
  { name: "a part's events", ...PART, ...outcome },
  { name: 'an event of a part', ...EVENT, ...outcome },
  { name: "a part's clean-up", ...CLEAN_UP, ...outcome },
])

test.each(PART_STEPS)(
  'cut off at $name, which the engine $outcome: the next process stores every event of the batch once, and sets one aside',
  async ({ isReceived, ...step }) => {
    const [first, second] = [newId(), newId()]
    const row = (journal_id: string, row_count: number, rows: string) => ({
      journal_id,
      tenant_ids: [tenant.id],
      row_count,
      rows,
    })
    const engine = step.engine()
    if (step.atCommit) engine.freezeAtCommitOf(step.text(first, second), isReceived)
    else engine.freezeAt(step.text(first, second), isReceived)
    const unreadable = rowsOf(`good ${first}`, `unreadable ${first}`).replace('"unreadable', '"\\ud83d')
    // Committed together, so that they form one batch.
    await direct.db
      .insertInto('journal')
      .values([row(first, 2, unreadable), row(second, 1, rowsOf(`other ${first}`))])
      .execute()
    await expect.poll(engine.isFrozen, { timeout: 10_000 }).toBe(true)
    await cutOff()
    await startNext()

    await expect.poll(waiting, { timeout: 10_000 }).toEqual([])
    const { events } = (await call('GET', '/v1/events?limit=100')).body
    const names = events.map(({ event }: { event: string }) => event)
    expect(names.filter((name: string) => name.includes(first)).sort()).toEqual([`good ${first}`, `other ${first}`])
    const aside = direct.db.selectFrom('refused_events').select(['journal_id', 'line'])
    expect(await aside.where('journal_id', 'in', [first, second]).execute()).toEqual([{ journal_id: first, line: 1 }])
  },
)

/**
 * ClickHouse writes tokens to a separate file, so that after a kill, a token may be there without its rows. An insertion
 * of another event with the same token has the same effect.
 */
test.each([RECEIVED, LOST])(
  'cut off at the second token of a batch whose first one has no rows, which the engine $outcome: the next process stores its event once',
  async ({ isReceived }) => {
    const [batch, first] = [newId(), newId()]
    await cutOff()
    const token = withSequence(`${batch}/${first}`, 0)
    const query = `INSERT INTO events SETTINGS insert_deduplication_token = '${token}' FORMAT JSONCompactEachRowWithNames`
    const lost = await fetch(`http://127.0.0.1:${port}/?query=${encodeURIComponent(query)}`, {
      method: 'POST',
      body: rowsOf(`deduplicated ${first}`),
    })
    expect(await lost.text()).toBe('')
    await direct.db
      .insertInto('journal')
      .values({
        journal_id: first,
        batch_id: batch,
        tenant_ids: [tenant.id],
        row_count: 1,
        rows: rowsOf(`wanted ${first}`),
      })
      .execute()
    await connect()
    clickhouse.freezeAt(encodeURIComponent(`${token}/again`), isReceived)
    // A start waits until the journal is in ClickHouse.
    const starting = start()
    await expect.poll(clickhouse.isFrozen, { timeout: 10_000 }).toBe(true)
    await Promise.all([postgres.close(), clickhouse.close()])
    ending.push(
      starting.then(
        (late) => late.close(),
        () => {},
      ),
    )
    await startNext()

    await expect.poll(waiting, { timeout: 10_000 }).toEqual([])
    const { events } = (await call('GET', '/v1/events?limit=100')).body
    const names = events.map(({ event }: { event: string }) => event)
    expect(names.filter((name: string) => name.includes(first)).sort()).toEqual([
      `deduplicated ${first}`,
      `wanted ${first}`,
    ])
  },
)
