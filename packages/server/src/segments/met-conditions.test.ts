import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { claimSegment, createClaimedSegment, evaluateNow } from '../../test/segments.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { SegmentCondition } from '../conditions/language.ts'
import { updateContact } from '../contacts/write.ts'
import { createWriter } from '../contacts/writing/writer.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { storeUnavailable } from '../platform/errors.ts'
import { openTenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { cacheDefinitions } from './definitions.ts'
import { createFollower } from './follow.ts'
import { deleteSegment, updateSegment } from './segments.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const LEAD: SegmentCondition = { property: 'lifecyclestage', operator: 'equals', value: 'lead' }
const did = (type: string, more: object = {}): SegmentCondition => ({ event: { type, ...more }, operator: 'did' })
const clock = () => new Date()

async function define(...conditions: SegmentCondition[]): Promise<string> {
  const segment = { name: 'Some', description: null, filter: { match: 'all', conditions } }
  const { segmentId } = await createClaimedSegment(tenant.handle, segment)
  await evaluateNow(tenant.handle, segmentId)
  return segmentId
}

/** A contact with a visitor of the same name. */
const person = (name: string, properties: object = {}) =>
  tenant.contact(`${name}@example.com`, { ...properties }, { visitor_id: name })
const visit = (name: string, ...events: string[]) =>
  tenant.track({ visitor_id: name, events: events.map((event) => ({ event })) })

async function segmentsOf(contactId: string): Promise<string[]> {
  return (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.segment_ids
}

/** The contacts stored for a condition, and their number. */
async function met(): Promise<{ contactIds: string[]; matches: number }> {
  const rows = await tenant.handle.db.selectFrom('segment_met_conditions').selectAll().execute()
  const contactIds = rows.map((row) => row.contact_id).sort()
  return { contactIds, matches: new Set(rows.map((row) => row.match_key)).size }
}

async function eventually(check: () => Promise<void>): Promise<void> {
  await expect.poll(() => check().then(() => 'done', String), { interval: 100 }).toBe('done')
}

async function checksAreDone(): Promise<void> {
  await eventually(async () =>
    expect(await tenant.handle.db.selectFrom('segment_checks').select('contact_id').execute()).toEqual([]),
  )
}

/** The tenant's data with a different ClickHouse. */
function withClickHouse(clickhouse: Partial<ClickHouse>) {
  const { stores } = service
  return openTenant({ ...stores, clickhouse: { ...stores.clickhouse, ...clickhouse } }, tenant.id)
}

/** Runs `work` before each query by which the service checks contacts of the tenant, until the test ends. */
function beforeEventQueries(work: () => Promise<void>): void {
  const { clickhouse } = service.stores
  const { query } = clickhouse
  const watched: ClickHouse['query'] = async (sql, parameters = {}, bounds = {}) => {
    if (sql.startsWith('/* segments.events */') && parameters.tenant_id === tenant.id) await work()
    return query(sql, parameters, bounds)
  }
  Object.assign(clickhouse, { query: watched })
  onTestFinished(() => {
    Object.assign(clickhouse, { query })
  })
}

test('a write updates memberships from the stored results of event conditions while ClickHouse is down', async () => {
  const buyers = await define(did('purchase'), LEAD)
  const [ada, bob] = [await person('ada'), await person('bob')]
  await visit('ada', 'purchase')
  await eventually(async () => expect((await met()).contactIds).toEqual([ada]))
  await checksAreDone()
  const away = () => Promise.reject(storeUnavailable('ClickHouse', null))
  const handle = withClickHouse({ query: away, insert: away, command: away, stream: () => { throw storeUnavailable('ClickHouse', null) } }) // biome-ignore format: an engine
  const writing = service.writing
  const writer = createWriter({ ...writing, segments: createFollower(cacheDefinitions(), clock) })
  for (const contactId of [ada, bob]) {
    await updateContact(
      handle,
      { ...writing, writer },
      contactId,
      { properties: { lifecyclestage: 'lead' }, visitorIds: [] },
      () => {},
    )
  }
  expect([await segmentsOf(ada), await segmentsOf(bob)]).toEqual([[buyers], []])
  await updateContact(
    handle,
    { ...writing, writer },
    ada,
    { properties: { lifecyclestage: 'customer' }, visitorIds: [] },
    () => {},
  )
  expect(await segmentsOf(ada)).toEqual([])
})

test('a write queues a check only if it records an event that a segment asks for', async () => {
  await define(did('purchase'), LEAD)
  const ada = await tenant.contact('ada@example.com')
  /** Before the write is committed, because the service ends a check at once. */
  const queuedBy = (properties: Record<string, string>) =>
    tenant.handle.transaction(async (tx) => {
      await updateContact(tx, service.writing, ada, { properties, visitorIds: [] }, () => {})
      return tx.db.selectFrom('segment_checks').select('contact_id').execute()
    })
  expect(await queuedBy({ city: 'Oslo' })).toEqual([])
  expect(await queuedBy({ lifecyclestage: 'lead' })).toEqual([])
  await define(did('contact_updated'))
  expect(await queuedBy({ city: 'Rome' })).toEqual([{ contact_id: ada }])
})

test('the events of fifty contacts cost a few queries of ClickHouse, and later writes to the contacts none', async () => {
  const buyers = await define(did('purchase'), LEAD)
  const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => tenant.contact(`p${n}@example.com`)))
  let queries = 0
  beforeEventQueries(async () => {
    queries++
  })
  const events = ids.map((contact_id) => ({ event: 'purchase', contact_id }))
  expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
  await eventually(async () => expect((await met()).contactIds).toEqual([...ids].sort()))
  await checksAreDone()
  expect(queries).toBeGreaterThan(0)
  expect(queries).toBeLessThanOrEqual(ids.length / 10)

  queries = 0
  for (const properties of [{ city: 'Oslo' }, { lifecyclestage: 'lead' }]) {
    const put = (contactId: string) => tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
    expect(new Set((await Promise.all(ids.map(put))).map(({ status }) => status))).toEqual(new Set([200]))
  }
  await checksAreDone()
  expect(queries).toBe(0)
  expect((await tenant.call('GET', `/v1/segments/${buyers}`)).body.segment.contact_count).toBe(ids.length)
})

test('contacts with many visitors can be checked in one batch', async () => {
  await define(did('purchase'))
  const names = Array.from({ length: 5 }, (_, n) => `crowd${n}`)
  const ids = await Promise.all(names.map((name) => person(name)))
  await sql`INSERT INTO owner_links (tenant_id, owner_id, contact_id)
    SELECT ${tenant.id}::uuid, gen_random_uuid(), contact_id
    FROM unnest(${ids}::uuid[]) AS contact_id, generate_series(1, 5000)`.execute(service.stores.database)
  await Promise.all(names.map((name) => visit(name, 'purchase')))
  await tenant.handle.db
    .insertInto('segment_checks')
    .values(ids.map((contact_id) => ({ contact_id })))
    .onConflict((known) => known.doNothing())
    .execute()
  await eventually(async () => expect((await met()).contactIds).toEqual([...ids].sort()))
  await checksAreDone()
})

test('a write before the first evaluation is checked later, after a query of the events', async () => {
  const [ada, bob] = [await person('ada'), await person('bob')]
  await visit('ada', 'purchase')
  const idle: SegmentCondition = { event: { type: 'purchase' }, operator: 'did_not' }
  const segment = { name: 'Some', description: null, filter: { match: 'all', conditions: [idle, LEAD] } }
  const { segmentId } = await createClaimedSegment(tenant.handle, segment)
  for (const contactId of [ada, bob]) {
    const { body } = await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { lifecyclestage: 'lead' } })
    expect(body.contact.segment_ids).toEqual([])
  }
  await eventually(async () => expect(await segmentsOf(bob)).toEqual([segmentId]))
  expect(await segmentsOf(ada)).toEqual([])
  for (const [contactId, times] of [
    [ada, 0],
    [bob, 1],
  ]) {
    const { body } = await tenant.call('GET', `/v1/events?contact_id=${contactId}&event_type=segment_entered`)
    expect(body.events).toHaveLength(Number(times))
  }
})

test('segments with the same condition share its results, which are deleted once no segment uses it', async () => {
  const [ada, bob] = [await person('ada'), await person('bob')]
  await visit('ada', 'purchase', 'page_view')
  await visit('bob', 'page_view')
  const first = await define(did('purchase'), did('page_view', { min_count: 1 }))
  const second = await define(did('page_view'), LEAD)
  expect(await met()).toEqual({ contactIds: [ada, ada, bob].sort(), matches: 2 })
  await deleteSegment(tenant.handle, first)
  await eventually(async () => expect(await met()).toEqual({ contactIds: [ada, bob].sort(), matches: 1 }))
  await updateSegment(tenant.handle, second, { filter: { match: 'all', conditions: [did('purchase')] } }, new Date())
  await eventually(async () => expect(await met()).toEqual({ contactIds: [ada], matches: 1 }))
  await updateSegment(tenant.handle, second, { filter: { match: 'all', conditions: [LEAD] } }, new Date())
  await eventually(async () => expect(await met()).toEqual({ contactIds: [], matches: 0 }))
  await eventually(async () =>
    expect(await tenant.handle.db.selectFrom('segment_unused_matches').selectAll().execute()).toEqual([]),
  )
})

test('the results of a deleted contact are deleted, and an evaluation does not restore them', async () => {
  const [ada, bob] = [await person('ada'), await person('bob')]
  await visit('ada', 'purchase')
  await visit('bob', 'purchase')
  const segmentId = await define(did('purchase'))
  expect((await met()).contactIds).toEqual([ada, bob].sort())
  await tenant.call('DELETE', `/v1/contacts/${ada}`)
  expect((await met()).contactIds).toEqual([bob])
  await evaluateNow(tenant.handle, segmentId)
  expect((await met()).contactIds).toEqual([bob])
})

test('a contact can be deleted while its check waits for ClickHouse, and its results are not stored then', async () => {
  await define(did('purchase'))
  const ids = await Promise.all(['ada', 'bob'].map((name) => tenant.contact(`${name}@example.com`)))
  const [ada, bob] = ids
  const [asked, responded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  onTestFinished(() => responded.resolve())
  beforeEventQueries(() => {
    asked.resolve()
    return responded.promise
  })
  const events = ids.map((contact_id) => ({ event: 'purchase', contact_id }))
  expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
  await asked.promise
  expect((await tenant.call('DELETE', `/v1/contacts/${ada}`)).status).toBe(200)
  responded.resolve()
  await checksAreDone()
  expect(await met()).toEqual({ contactIds: [bob], matches: 1 })
})

test('an evaluation queries ClickHouse once for all event conditions of a segment, and not at all without any', async () => {
  await person('ada')
  await visit('ada', 'purchase', 'page_view')
  const queries: string[] = []
  const { clickhouse } = service.stores
  const handle = withClickHouse({
    query: (sql, ...rest) => {
      queries.push(sql)
      return clickhouse.query(sql, ...rest)
    },
    stream: (sql, ...rest) => {
      queries.push(sql)
      return clickhouse.stream(sql, ...rest)
    },
  })
  const evaluate = (segmentId: string) => evaluateNow(handle, segmentId)
  const segmentId = await define(did('purchase'), { match: 'any', conditions: [did('page_view'), LEAD, did('none')] })
  await evaluate(segmentId)
  expect(queries).toHaveLength(1)
  await evaluate(await define(LEAD))
  expect(queries).toHaveLength(1)
})

test("a query result that is older than a check does not overwrite the check's result", async () => {
  const ada = await person('ada')
  const segmentId = await define(did('purchase'))
  await claimSegment(tenant.handle, segmentId)
  const { clickhouse } = service.stores
  const handle = withClickHouse({
    stream: async function* <Row>(...query: Parameters<ClickHouse['stream']>) {
      const result: Row[] = []
      for await (const rows of clickhouse.stream<Row>(...query)) result.push(...rows)
      await visit('ada', 'purchase')
      await eventually(async () => expect(await segmentsOf(ada)).toEqual([segmentId]))
      yield result
    },
  })
  await evaluateNow(handle, segmentId)
  expect((await met()).contactIds).toEqual([ada])
  await checksAreDone()
  expect((await met()).contactIds).toEqual([ada])
  const { body } = await tenant.call('GET', `/v1/events?contact_id=${ada}&event_type=segment_exited`)
  expect(body.events).toEqual([])
})

test('an evaluation corrects results that checks have missed, in both directions', async () => {
  const [ada, bob] = [await person('ada'), await person('bob')]
  await visit('ada', 'purchase')
  const segmentId = await define(did('purchase', { within_days: 3 }))
  const { match_key } = await tenant.handle.db
    .selectFrom('segment_met_conditions')
    .select('match_key')
    .executeTakeFirstOrThrow()
  await checksAreDone()
  await tenant.handle.db.deleteFrom('segment_met_conditions').execute()
  await tenant.handle.db.insertInto('segment_met_conditions').values({ contact_id: bob, match_key }).execute()
  const evaluateAt = (now: Date) =>
    evaluateNow(tenant.handle, segmentId, { definitions: cacheDefinitions(), clock: () => now })
  await evaluateAt(new Date())
  expect((await met()).contactIds).toEqual([ada])
  // The service itself, whose clock is not ahead, may still be checking ada and find her purchase recent.
  await eventually(async () => {
    await evaluateAt(new Date(Date.now() + 4 * DAY_MS))
    expect([(await met()).contactIds, await segmentsOf(ada)]).toEqual([[], []])
  })
})
