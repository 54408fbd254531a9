import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  eventMeets,
  loadCompanies,
  loadPeople,
  NOW,
  type Person,
  people,
  type Visit,
  wheres,
} from '../../test/conditions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { meetsAll } from '../conditions/in-memory.ts'
import { EMPTY_RECORD, type EventRecord } from '../journal/event-record.ts'
import { compileEventFilter } from './event-filter.ts'

let service: TestService
let tenant: TestTenant
let persons: Person[]
const allowed = { now: NOW, requireScope: () => {}, visibleOnly: false }

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  persons = fc.sample(people, { numRuns: 150, seed: 46 })
  await loadCompanies(tenant)
  await loadPeople(service, tenant, persons)
  // Without events, so that many conditions are met by more contacts than a query names.
  const others = fc.sample(people, { numRuns: 1_500, seed: 47 })
  await loadPeople(
    service,
    tenant,
    others.map((person) => ({ ...person, events: [] })),
  )
})

async function idsMeeting(where: unknown): Promise<string[]> {
  const { sql, parameters } = await compileEventFilter(tenant.handle, { where }, allowed)
  const selection = {
    name: 'test',
    lane: 'heavy' as const,
    columns: 'toString(event_id) AS id',
    where: [sql],
    parameters,
  }
  const rows = await tenant.handle.events.select<{ id: string }>(selection)
  return rows.map(({ id }) => id).sort()
}

/** A visit as the collector records it. */
const recordOf = ({ id: event_id, at: timestamp, isSystem: is_system, data, ...visit }: Visit): EventRecord => {
  const own = { tenant_id: tenant.id, event_id, timestamp, received_at: timestamp, is_system }
  return { ...EMPTY_RECORD, ...visit, ...own, data: JSON.stringify(data) }
}

test('random conditions select the same events in ClickHouse and in memory as in the simple implementation', async () => {
  await fc.assert(
    fc.asyncProperty(wheres, async (where) => {
      const expected = persons.flatMap((person) =>
        person.events.filter((visit) => eventMeets(where, visit, person)).map(({ id }) => id),
      )
      if (!JSON.stringify(where).match(/"(contact|company)\./)) {
        const met = persons.flatMap(({ events }) => events.filter((visit) => meetsAll(recordOf(visit), where, NOW)))
        expect(met.map(({ id }) => id).sort()).toEqual(expected.toSorted())
      }
      expect(await idsMeeting(JSON.parse(JSON.stringify(where)))).toEqual(expected.sort())
    }),
    { numRuns: 60, seed: 46 },
  )
})

describe('GET /v1/events?filter=', () => {
  let own: TestTenant
  const list = async (conditions: object[], query = '', of = own) => {
    const filter = encodeURIComponent(JSON.stringify({ match: 'all', conditions }))
    return of.call('GET', `/v1/events?date_after=2026-01-01&sort_dir=asc&filter=${filter}${query}`)
  }
  const namesOf = async (...conditions: object[]) => {
    const { body } = await list(conditions)
    return body.events.map(({ event }: { event: string }) => event)
  }
  const is = (property: string, value: unknown, operator = 'equals') => ({ property, operator, value })

  beforeAll(async () => {
    own = await createTestTenant(service)
    await own.contact('ann@events.example', { plan: 'pro' }, { visitor_id: 'ann' })
    const event = (visitor_id: string, name: string, data: object) => {
      const timestamp = `2026-05-0${name.length}T10:00:00Z`
      return {
        visitor_id,
        event: name,
        data,
        timestamp,
        url: visitor_id === 'ann' ? 'https://shop.example/pricing' : null,
      }
    }
    const lists = { order: { items: [{ sku: 'x' }, { sku: 'y' }] }, 'a.b': true }
    const events = [
      event('ann', 'a', { plan: 'pro', seats: 5 }),
      event('ann', 'bb', { seats: '5' }),
      event('bob', 'ccc', lists),
      event('bob', 'dddd', { seats: 12 }),
    ]
    const sent = await own.call('POST', '/v1/events', { events })
    expect(sent.body).toMatchObject({ failed: 0 })
    const stranger = await createTestTenant(service)
    await stranger.call('POST', '/v1/events', { events: events.slice(0, 1) })
  })

  test('events are found by any value in their data, of its type', async () => {
    expect(await namesOf(is('data.plan', 'pro'))).toEqual(['a'])
    expect(await namesOf(is('data.seats', 5))).toEqual(['a'])
    expect(await namesOf(is('data.seats', '5'))).toEqual(['bb'])
    expect(await namesOf(is('data.seats', 5, 'gte'))).toEqual(['a', 'bb', 'dddd'])
    expect(await namesOf(is('data.order.items.sku', 'y'))).toEqual(['ccc'])
    expect(await namesOf(is('data.a\\.b', true))).toEqual(['ccc'])
    expect(await namesOf(is('data.plan', 'pro', 'not_equals'))).toEqual(['bb', 'ccc', 'dddd'])
    expect(await namesOf(is('url_path', '/pri', 'starts_with'), is('data.plan', '', 'is_not_set'))).toEqual(['bb'])
    expect((await list([is('data.seats', 5, 'gte')], '&count_only=true')).body).toMatchObject({ count: 3 })
  })

  test('events are found by their contact, whose events before it was known count', async () => {
    expect(await namesOf(is('contact.plan', 'pro'))).toEqual(['a', 'bb'])
    expect(await namesOf(is('contact.plan', 'pro', 'not_equals'))).toEqual(['ccc', 'dddd'])
    expect(await namesOf(is('company.name', 'Nobody'))).toEqual([])
    const key = await own.keyWith('events:read')
    const filter = encodeURIComponent(JSON.stringify({ match: 'all', conditions: [is('contact.plan', 'pro')] }))
    const refused = await own.call('GET', `/v1/events?filter=${filter}`, undefined, key)
    expect(refused.status).toBe(403)
  })

  test('a date alone is a day in the time zone of the tenant', async () => {
    const onFirst = [is('timestamp', '2026-05-01', 'after'), is('timestamp', '2026-05-01', 'before')]
    expect(await namesOf(...onFirst)).toEqual(['a'])
    await own.call('PATCH', '/v1/tenant', { time_zone: 'Pacific/Kiritimati' })
    expect(await namesOf(...onFirst)).toEqual([])
    expect(await namesOf(is('timestamp', '2026-05-02', 'after'), is('timestamp', '2026-05-02', 'before'))).toEqual([
      'a',
    ])
    await own.call('PATCH', '/v1/tenant', { time_zone: 'UTC' })
  })

  test.each([
    [{ property: 'data.plan', operator: 'like', value: 'x' }, 'filter.conditions[0].operator', 'must be one of equals'],
    [
      { property: 'timestamp', operator: 'equals', value: 'x' },
      'filter.conditions[0].operator',
      'must be one of is_set',
    ],
    [{ property: 'is_bot', operator: 'gt', value: 1 }, 'filter.conditions[0].operator', 'must be one of equals'],
    [
      { property: 'contact.created_at', operator: 'equals', value: 'x' },
      'filter.conditions[0].operator',
      'must be one of is_set',
    ],
    [{ event: {}, operator: 'did' }, 'filter.conditions[0]', 'must be a condition with property'],
    [{ property: `data${'.x'.repeat(11)}`, operator: 'is_set' }, 'filter.conditions[0].property', 'at most 10 keys'],
    [{ property: 'data.x'.repeat(40), operator: 'is_set' }, 'filter.conditions[0].property', '1 to 128 characters'],
  ])('%j is refused', async (condition, path, message) => {
    const { status, body } = await list([condition])
    expect(status).toBe(400)
    expect(body.error.details[0].path).toBe(path)
    expect(body.error.details[0].message).toContain(message)
  })

  test.each(['{', '[]', '"x"', 'null'])('%s is no filter', async (filter) => {
    expect((await own.call('GET', `/v1/events?filter=${encodeURIComponent(filter)}`)).status).toBe(400)
  })
})
