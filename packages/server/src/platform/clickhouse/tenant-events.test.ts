import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestTenant, sharedService } from '../../../test/service.ts'
import { storeUnavailable } from '../errors.ts'
import { newId } from '../ids.ts'
import { openTenant } from '../tenant.ts'
import type { TenantEvents } from './tenant-events.ts'

test("a condition with an OR reads no other tenant's events", async () => {
  const service = await sharedService()
  const [tenant, other] = [await createTestTenant(service), await createTestTenant(service)]
  await tenant.track({ visitor_id: 'v', events: [{ event: 'ours' }] })
  await other.track({ visitor_id: 'v', events: [{ event: 'theirs' }] })
  const selection = {
    name: 'test',
    lane: 'light' as const,
    columns: 'event',
    where: ["event = 'ours' OR event = 'theirs'", '1 OR 1'],
    parameters: {},
  }
  expect(await tenant.handle.events.select(selection)).toEqual([{ event: 'ours' }])
  const streamed = []
  for await (const rows of other.handle.events.stream(selection)) streamed.push(...rows)
  expect(streamed).toEqual([{ event: 'theirs' }])
})

test.each(['columns', 'where'])('%s with a subquery are rejected', async (part) => {
  const tenant = await createTestTenant(await sharedService())
  const subquery = '(SELECT count() FROM events)'
  const selection = { name: 'test', lane: 'light' as const, columns: 'event', where: ['1'], parameters: {} }
  const rejected = { ...selection, [part]: part === 'where' ? [subquery] : subquery }
  await expect(tenant.handle.events.select(rejected)).rejects.toThrow('must not contain a subquery')
})

test("a second selection reads no other tenant's events, has no subquery, and needs an outer query", async () => {
  const service = await sharedService()
  const [tenant, other] = [await createTestTenant(service), await createTestTenant(service)]
  await tenant.track({ visitor_id: 'v', events: [{ event: 'one' }, { event: 'two' }, { event: 'three' }] })
  await other.track({ visitor_id: 'v', events: [{ event: 'one' }, { event: 'two' }] })
  const selection = {
    name: 'test',
    lane: 'light' as const,
    columns: 'event, count() AS n',
    groupBy: 'event',
    where: ["event = 'one'"],
    parameters: {},
    outer: { columns: 'event, sum(n) AS n', groupBy: 'event', orderBy: 'event' },
  }
  const { select } = tenant.handle.events
  const also = { columns: 'event, count() AS n', where: ["event = 'two' OR event = 'one'"] }
  expect(await select({ ...selection, also })).toEqual([
    { event: 'one', n: 2 },
    { event: 'two', n: 1 },
  ])
  for (const wrong of [{ columns: '(SELECT 1)' }, { where: ['1 IN (SELECT 1)'] }]) {
    await expect(select({ ...selection, also: { ...also, ...wrong } })).rejects.toThrow('must not contain a subquery')
  }
  const { outer: _, ...bare } = selection
  await expect(select({ ...bare, also })).rejects.toThrow('need an outer query')
})

test('an outer query may have one itself, of which no part has a subquery', async () => {
  const tenant = await createTestTenant(await sharedService())
  const events = ['one', 'one', 'two'].map((event) => ({ event }))
  await tenant.track({ visitor_id: 'v', events })
  const selection = {
    name: 'test',
    lane: 'light' as const,
    columns: 'event, count() AS n',
    groupBy: 'event',
    where: ['1'],
    parameters: {},
  }
  const { select } = tenant.handle.events
  const last = { columns: 'max(twice) AS most', where: 'twice > 0' }
  const through = (outer: object) =>
    select({ ...selection, outer: { columns: 'n * 2 AS twice', outer: { ...last, ...outer } } })
  expect(await through({})).toEqual([{ most: 4 }])
  const subquery = '(SELECT 1)'
  for (const wrong of [
    { columns: subquery },
    { where: subquery },
    { orderBy: subquery },
    { groupBy: subquery },
    { limitBy: { rows: 1, columns: subquery } },
    { outer: { columns: subquery } },
  ]) {
    await expect(through(wrong)).rejects.toThrow('must not contain a subquery')
  }
})

test('events by person are those of a contact, with its anonymous past, or of an anonymous visitor', async () => {
  const tenant = await createTestTenant(await sharedService())
  await tenant.track({ visitor_id: 'laptop', events: [{ event: 'one' }] })
  await tenant.track({ visitor_id: 'phone', events: [{ event: 'one' }, { event: 'one' }] })
  const { body } = await tenant.call('POST', '/v1/identify', { visitor_id: 'laptop', email: 'a@example.com' })
  const { contact_id } = body
  expect(body).toMatchObject({ linked_visitors: 1 })
  await tenant.call('POST', '/v1/events', { events: [{ contact_id, event: 'one' }] })
  const rows = await tenant.handle.events.select<{ person: string; is_contact: number; events: number }>({
    name: 'test',
    lane: 'heavy',
    isPerPerson: true,
    columns: 'count() AS n',
    where: ["event = 'one'"],
    parameters: {},
    outer: {
      columns: 'toString(person) AS person, toUInt8(any(is_contact)) AS is_contact, sum(n) AS events',
      groupBy: 'person',
      orderBy: 'is_contact DESC',
    },
  })
  expect(rows).toEqual([
    { person: contact_id, is_contact: 1, events: 2 },
    { person: expect.not.stringMatching(contact_id), is_contact: 0, events: 2 },
  ])
})

test('inside a transaction only light reads are possible', async () => {
  const tenant = await createTestTenant(await sharedService())
  const selection = { name: 'test', columns: 'event', where: ['1'], parameters: {} }
  await tenant.handle.transaction(async (tx) => {
    expect(await tx.events.select({ ...selection, lane: 'light' })).toEqual([])
    await expect(tx.events.select({ ...selection, lane: 'heavy' })).rejects.toThrow('only light reads')
  })
})

const SELECTION = { name: 'test', lane: 'light', columns: 'event', where: ['1'], parameters: {} } as const
const EVERYTHING = { from: 'events', after: 0, upTo: Number.MAX_SAFE_INTEGER } as const
/** Every way to read through the handle. */
const READS: Record<Exclude<keyof TenantEvents, 'barrier' | 'addToSet'>, (events: TenantEvents) => Promise<unknown>> = {
  select: (events) => events.select(SELECTION),
  stream: (events) => Array.fromAsync(events.stream(SELECTION)),
  version: (events) => events.version(),
  sizes: (events) => events.sizes({ ...EVERYTHING, limit: 10 }),
  parquet: (events) => events.parquet({ ...EVERYTHING, name: 'test', columns: 'event', share: { index: 0, of: 1 } }),
}

test.each(Object.entries(READS))('%s asks ClickHouse only after the barrier of the tenant', async (_name, read) => {
  const { stores } = await sharedService()
  const steps: string[] = []
  let isPassable = false
  const barrier = async (tenantId: string) => {
    await nextTurn()
    steps.push(`barrier of ${tenantId}`)
    if (!isPassable) throw storeUnavailable('ClickHouse', new Error('behind'))
  }
  const clickhouse = new Proxy(stores.clickhouse, {
    get: (...used) => {
      steps.push('query')
      return Reflect.get(...used)
    },
  })
  const tenant = openTenant({ ...stores, clickhouse, barrier }, newId())
  await expect(read(tenant.events)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(steps).toEqual([`barrier of ${tenant.id}`])
  isPassable = true
  await read(tenant.events)
  expect(steps.slice(1)).toEqual([`barrier of ${tenant.id}`, 'query'])
})
