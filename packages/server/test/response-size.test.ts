import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { boundLoading } from '../src/platform/response-size.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})

const outcome = async (path: string) => {
  const { status, body } = await tenant.call('GET', path)
  return [status, body.error?.code]
}
const OK = [200, undefined]
const TOO_LARGE = [400, 'response_too_large']

describe('a response beyond 16 MiB is rejected, and a smaller request succeeds', () => {
  beforeAll(async () => {
    tenant = await createTestTenant(service)
  })

  test('for long contacts', async () => {
    const longest = sql`(SELECT jsonb_object_agg('k' || n, repeat('x', 60000)) FROM generate_series(1, 4) AS n)`
    const records = Array.from({ length: 80 }, (_, n) => ({ external_id: `long${n}`, email: `long${n}@example.com` }))
    expect((await tenant.call('POST', '/v1/sources/long/contacts', { records })).body.failed).toBe(0)
    await sql`UPDATE contacts SET properties = ${longest} WHERE tenant_id = ${tenant.id}`.execute(
      service.stores.database,
    )
    expect(await outcome('/v1/contacts?limit=100')).toEqual(TOO_LARGE)
    expect(await outcome('/v1/contacts?limit=50')).toEqual(OK)
    expect(await outcome('/v1/contacts?limit=100&fields=summary')).toEqual(OK)
  })

  test('for long filters of segments', async () => {
    await sql`INSERT INTO segments (tenant_id, segment_id, name, filter, uses_events, uses_time, created_at, updated_at)
      SELECT ${tenant.id}, gen_random_uuid(), n, jsonb_build_object('match', 'all', 'conditions',
        jsonb_build_array(jsonb_build_object('property', 'p', 'operator', 'equals', 'value', repeat(chr(1), 30000)))),
        false, false, now(), now() FROM generate_series(1, 100) AS n`.execute(service.stores.database)
    expect(await outcome('/v1/segments?limit=100')).toEqual(TOO_LARGE)
    expect(await outcome('/v1/segments?limit=10')).toEqual(OK)
  })
})

describe('events', () => {
  beforeAll(async () => {
    tenant = await createTestTenant(service)
    await tenant.contact('visitor@example.com', {}, { visitor_id: 'v' })
  })

  async function record(events: object[]): Promise<void> {
    const { status, body } = await tenant.call('POST', '/v1/events', { events })
    expect([status, body.failed]).toEqual([200, 0])
  }

  test('with long URLs are rejected as one page, and returned in smaller pages', async () => {
    const long = '\u0001'.repeat(16_384)
    const event = { event: 'long', url: long, referrer: long, visitor_id: 'v' }
    for (let n = 0; n < 90; n += 15) await record(Array.from({ length: 15 }, () => event))
    expect(await outcome('/v1/events?limit=100')).toEqual(TOO_LARGE)
    expect(await outcome('/v1/events?limit=50')).toEqual(OK)
    expect(await outcome('/v1/events?limit=100&fields=summary')).toEqual(OK)
  })

  test('of a contact are cut off at 8 MiB, newest first, and the response says how to read the rest', async () => {
    const { body: found } = await tenant.call('GET', '/v1/contacts')
    const contactId = found.contacts[0].contact_id
    const data = { filler: 'x'.repeat(30_000) }
    const startedAt = Date.now() - 300
    for (let n = 0; n < 300; n += 100) {
      const numbers = Array.from({ length: 100 }, (_, at) => n + at)
      const wide = { event: 'wide', visitor_id: 'v' }
      await record(
        numbers.map((at) => ({ ...wide, timestamp: new Date(startedAt + at).toISOString(), data: { ...data, n: at } })),
      )
    }
    const path = `/v1/contacts/events/${contactId}?event_type=wide`
    const { status, body } = await tenant.call('GET', path)
    expect([status, body.total_items]).toEqual([200, 300])
    expect(body.returned).toBeGreaterThan(100)
    expect(body.returned).toBeLessThan(300)
    expect(body.events).toHaveLength(body.returned)
    expect(body.events.at(-1).data.n).toBe(300 - body.returned)
    expect(body.warnings).toEqual([expect.stringContaining(`/v1/events?contact_id=${contactId}`)])
    const oldest = (await tenant.call('GET', `${path}&sort_dir=asc`)).body
    expect(oldest.events[0].data.n).toBe(0)
    const all = (await tenant.call('GET', `/v1/contacts/events/${contactId}`)).body
    expect([all.total_items, all.events.length]).toEqual([390, all.returned])
  })

  test('of a contact are cut off at 8 MiB of JSON, even if their text is several times shorter', async () => {
    const { body: found } = await tenant.call('GET', '/v1/contacts')
    const path = `/v1/contacts/events/${found.contacts[0].contact_id}?event_type=long`
    const { status, body } = await tenant.call('GET', path)
    expect([status, body.total_items, body.warnings?.length]).toEqual([200, 90, 1])
    // An event is 200 kB of JSON.
    expect(body.returned).toBeGreaterThan(10)
    expect(body.returned).toBeLessThan(43)
    expect(await outcome(`${path}&fields=summary`)).toEqual(OK)
  })

  test('are rejected by ClickHouse before they are loaded', async () => {
    const select = (bytesMax: number) =>
      tenant.handle.events.select({
        name: 't',
        lane: 'light',
        columns: 'data',
        where: ['is_system = 0'],
        parameters: {},
        bytesMax,
      })
    await expect(select(1_000_000)).rejects.toMatchObject({ code: 'response_too_large' })
    expect(await select(20_000_000)).toHaveLength(390)
  })
})

describe('a query of a request', () => {
  const bytes = (megabytes: number) =>
    service.stores.database.transaction().execute(async (tx) => {
      // So much takes a busy machine longer than a request may take.
      await sql`SET LOCAL statement_timeout = 0`.execute(tx)
      return sql`SELECT repeat('x', 1000000) AS text FROM generate_series(1, ${megabytes}::int)`.execute(tx)
    })
  const inRequest = (megabytes: number) => boundLoading(() => bytes(megabytes))

  test('loads at most 64 MiB, and its connection stays usable', async () => {
    await expect(inRequest(68)).rejects.toMatchObject({ code: 'response_too_large' })
    // The pool lends the connection that was returned last.
    expect(await inRequest(60)).toMatchObject({ rows: { length: 60 } })
  })

  test('of the service itself is not limited, because it reads in pages', async () => {
    expect(await bytes(68)).toMatchObject({ rows: { length: 68 } })
  })
})
