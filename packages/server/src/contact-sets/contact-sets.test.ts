import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { type ContactRange, rangesOfContacts } from '../contacts/ranges.ts'
import { isInSet } from '../platform/clickhouse/contact-sets.ts'
import { createTableStatements } from '../platform/clickhouse/tables.ts'
import { newId, ZERO_ID } from '../platform/ids.ts'
import { openTenant } from '../platform/tenant.ts'
import { HOUR_MS } from '../platform/time.ts'
import { copyContacts } from './copy.ts'
import { deleteFromSets } from './erase.ts'
import { CONTACT_SETS_TABLE } from './table.ts'

/** More than a query could name. */
const CONTACTS = 12_000

let service: TestService
let tenant: TestTenant
let ann: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  await sql`INSERT INTO contacts (tenant_id, contact_id, properties, creation_source, first_seen_at, created_at, updated_at)
    SELECT ${tenant.id}::uuid, gen_random_uuid(), '{"plan": "pro"}', 'import', now(), now(), now()
    FROM generate_series(1, ${CONTACTS}::int)`.execute(service.stores.database)
  await tenant.track({ visitor_id: 'ann', events: [{ event: 'before_ann_was_known' }] })
  ann = await tenant.contact('ann@sets.example', { plan: 'pro' }, { visitor_id: 'ann' })
  await tenant.contact('bob@sets.example', { plan: 'free' }, { visitor_id: 'bob' })
  await tenant.track({ visitor_id: 'ann', events: [{ event: 'by_ann' }] })
  await tenant.track({ visitor_id: 'bob', events: [{ event: 'by_bob' }] })
  await tenant.track({ visitor_id: 'stranger', events: [{ event: 'by_stranger' }] })
})

const is = (property: string, value: unknown, operator = 'equals') => ({ property, operator, value })
const PRO = is('contact.plan', 'pro')

async function eventsWhere(...conditions: object[]): Promise<string[]> {
  const filter = encodeURIComponent(JSON.stringify({ match: 'all', conditions }))
  const { status, body } = await tenant.call('GET', `/v1/events?filter=${filter}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.events.map(({ event }: { event: string }) => event).sort()
}

/** A set of some contacts of the tenant. */
async function setOf(...contactIds: string[]): Promise<string> {
  const setId = newId()
  await tenant.handle.events.addToSet(setId, contactIds.map((id) => `${id}\n`).join(''))
  return setId
}

const ofSet = (setId: string, condition = isInSet('some')) => ({
  name: 'test',
  lane: 'heavy' as const,
  columns: 'event',
  where: [condition],
  parameters: { some: setId },
  orderBy: 'event',
})

async function eventsOfSet(setId: string, of = tenant, condition?: string): Promise<string[]> {
  const rows = await of.handle.events.select<{ event: string }>(ofSet(setId, condition))
  return rows.map(({ event }) => event).filter((event) => event.includes('ann') || event.includes('by_'))
}

async function rowsWith(setId: string): Promise<number> {
  const found = 'SELECT count() AS n FROM contact_sets WHERE set_id = {set: UUID}'
  const [row] = await service.stores.clickhouse.query<{ n: number }>(found, { set: setId })
  return Number(row?.n)
}

describe('a condition that more than 10,000 contacts meet', () => {
  test('selects their events, also those from before they were known', async () => {
    expect(await eventsWhere(PRO)).toEqual(['before_ann_was_known', 'by_ann'])
    const question = { entity: 'events', group_by: 'event_type', where: [PRO] }
    const { body } = await tenant.call('POST', '/v1/aggregate', question)
    expect(body).toMatchObject({ total: 2, distinct_groups: 2 })
  })

  test('and its opposite selects all others, also those of anonymous visitors', async () => {
    expect(await eventsWhere(is('contact.plan', 'pro', 'not_equals'))).toEqual(['by_bob', 'by_stranger'])
    expect(await eventsWhere(is('contact.plan', undefined, 'is_not_set'))).toEqual(['by_stranger'])
    const either = { match: 'any', conditions: [PRO, is('event', 'by_stranger')] }
    expect(await eventsWhere(either)).toEqual(['before_ann_was_known', 'by_ann', 'by_stranger'])
    expect(await eventsWhere(PRO, is('contact.plan', 'free'))).toEqual([])
  })

  test('follows a merge and its undoing', async () => {
    const cat = await tenant.contact('cat@sets.example', {}, { visitor_id: 'cat' })
    await tenant.track({ visitor_id: 'cat', events: [{ event: 'by_cat' }] })
    expect(await eventsWhere(PRO)).toEqual(['before_ann_was_known', 'by_ann'])
    expect((await tenant.call('POST', `/v1/contacts/${cat}/merge`, { into: ann })).status).toBe(200)
    expect(await eventsWhere(PRO)).toEqual(['before_ann_was_known', 'by_ann', 'by_cat'])
    expect((await tenant.call('POST', `/v1/contacts/${cat}/unmerge`)).status).toBe(200)
    expect(await eventsWhere(PRO)).toEqual(['before_ann_was_known', 'by_ann'])
  })

  test('selects the same events in a file', async () => {
    const filter = encodeURIComponent(JSON.stringify({ match: 'all', conditions: [PRO] }))
    const { status, body } = await tenant.call('GET', `/v1/events/export.csv?filter=${filter}&columns=event`)
    expect([
      status,
      String(body)
        .match(/\w*ann\w*/g)
        ?.sort(),
    ]).toEqual([200, ['before_ann_was_known', 'by_ann']])
  })
})

test('a few contacts with more visitors than a query names are copied too', async () => {
  const own = await createTestTenant(service)
  const dan = await own.contact('dan@sets.example', { plan: 'pro' }, { visitor_id: 'dan' })
  await own.track({ visitor_id: 'dan', events: [{ event: 'by_dan' }] })
  await sql`INSERT INTO owner_links (tenant_id, owner_id, contact_id)
    SELECT ${own.id}::uuid, gen_random_uuid(), ${dan}::uuid FROM generate_series(1, 20000)`.execute(
    service.stores.database,
  )
  const { body } = await own.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'event_type', where: [PRO] })
  expect(body.buckets).toEqual([{ key: 'by_dan', value: 1 }])
})

describe('a set', () => {
  test('has the contacts of all ranges, each once', async () => {
    const ranges: ContactRange[] = []
    const linesOf = async (range: ContactRange) => {
      ranges.push(range)
      const { rows } = await sql<{ lines: string }>`
        SELECT coalesce(string_agg(contact_id || E'\n', ''), '') AS lines FROM contacts WHERE tenant_id = ${tenant.id}::uuid
          AND contact_id > ${range.after}::uuid AND contact_id <= ${range.upTo}::uuid`.execute(service.stores.database)
      return rows[0]?.lines ?? ''
    }
    const setId = await copyContacts(tenant.handle, rangesOfContacts(tenant.handle, 5_000), linesOf)
    expect(ranges.length).toBe(3)
    expect(ranges[0]?.after).toBe(ZERO_ID)
    const counted =
      'SELECT count() AS n, uniqExact(contact_id) AS different FROM contact_sets WHERE set_id = {set: UUID}'
    const [row] = await service.stores.clickhouse.query(counted, { set: setId })
    const contacts = (await tenant.call('GET', '/v1/contacts?count_only=true')).body.count
    expect(row).toEqual({ n: contacts, different: contacts })
  })

  test('whose copying fails half-way is known to nobody, and the next one is complete', async () => {
    const added: string[] = []
    const handle = {
      ...tenant.handle,
      events: {
        ...tenant.handle.events,
        addToSet: async (setId: string, lines: string) => {
          if (added.length === 1) throw new Error('the connection broke')
          added.push(setId)
          await tenant.handle.events.addToSet(setId, lines)
        },
      },
    }
    // More than one insertion.
    const lines = `${ann}\n`.repeat(120_000)
    await expect(copyContacts(handle, [lines, lines], async (each) => each)).rejects.toThrow('the connection broke')
    expect(await rowsWith(added[0] ?? '')).toBe(120_000)
    expect(await eventsWhere(PRO)).toEqual(['before_ann_was_known', 'by_ann'])
  })

  test('is no longer copied when its caller has left', async () => {
    const left = new AbortController()
    const handle = openTenant(service.stores, tenant.id, left.signal)
    let reads = 0
    const linesOf = () => {
      reads++
      left.abort()
      return handle.heavyRead(async () => `${ann}\n`)
    }
    await expect(copyContacts(handle, [1, 2], linesOf)).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(reads).toBe(1)
  })

  test("of another tenant is empty, and so is one with another tenant's contacts", async () => {
    const setId = await setOf(ann)
    expect(await eventsOfSet(setId)).toEqual(['before_ann_was_known', 'by_ann'])
    const stranger = await createTestTenant(service)
    await stranger.track({ visitor_id: 'ann', events: [{ event: 'by_ann' }] })
    expect(await eventsOfSet(setId, stranger)).toEqual([])
    const theirs = newId()
    await stranger.handle.events.addToSet(theirs, `${ann}\n`)
    expect(await eventsOfSet(theirs, stranger)).toEqual([])
    expect(await eventsOfSet(theirs)).toEqual([])
  })

  test('can be named in any part of a query, and more than once', async () => {
    const setId = await setOf(ann)
    expect(await eventsOfSet(setId, tenant, `NOT ${isInSet('some')} AND event LIKE 'by_%'`)).toEqual([
      'by_bob',
      'by_cat',
      'by_stranger',
    ])
    const columns = `countIf(${isInSet('some')}) AS theirs, countIf(NOT ${isInSet('some')} AND event = 'by_bob') AS others`
    const { orderBy: _, ...selection } = ofSet(setId)
    const rows = await tenant.handle.events.select({ ...selection, columns, where: ['is_system = 0'] })
    expect(rows).toEqual([{ theirs: 2, others: 1 }])
  })

  test('is used for an hour at most, because its rows expire', async () => {
    const milliseconds = (Date.now() - HOUR_MS - 1_000).toString(16).padStart(12, '0')
    const old = `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}${newId().slice(13)}`
    await tenant.handle.events.addToSet(old, `${ann}\n`)
    await expect(eventsOfSet(old)).rejects.toMatchObject({ status: 400, code: 'query_too_expensive' })
    const { orderBy: _, ...selection } = ofSet(old)
    const valued = { ...selection, columns: 'count() AS n', where: [], valuesOf: ['some'] }
    await expect(tenant.handle.events.select(valued)).rejects.toMatchObject({ code: 'query_too_expensive' })
    expect(createTableStatements(CONTACT_SETS_TABLE, null)[0]).toContain('\nTTL created_at + INTERVAL 90 MINUTE\n')
  })

  test('loses a contact that is erased', async () => {
    const [setId, other] = [await setOf(ann, newId()), await createTestTenant(service)]
    await deleteFromSets({ clickhouse: service.stores.clickhouse, cluster: null }, other.id, ann)
    expect(await rowsWith(setId)).toBe(2)
    await deleteFromSets({ clickhouse: service.stores.clickhouse, cluster: null }, tenant.id, ann)
    expect(await rowsWith(setId)).toBe(1)
  })

  test('is not copied inside a transaction', async () => {
    await tenant.handle.transaction(async (tx) => {
      await expect(tx.events.addToSet(newId(), `${ann}\n`)).rejects.toThrow('inside a transaction')
    })
  })
})
