import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

/*
 * What callers see of aggregation by properties, of figures of numbers, and of people.
 */

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

interface Bucket {
  key: unknown
  value: number | null
}

async function buckets(body: object, of = tenant): Promise<[unknown, number | null][]> {
  const { status, body: result } = await of.call('POST', '/v1/aggregate', { entity: 'events', ...body })
  expect([status, result.error]).toEqual([200, undefined])
  return result.buckets.map(({ key, value }: Bucket) => [key, value])
}

const ofEvent = (event: string) => ({ filters: { event_type: event } })

async function send(events: object[]) {
  const sent = events.map((event) => ({ visitor_id: 'v', ...event }))
  const { status, body } = await tenant.call('POST', '/v1/events', { events: sent })
  expect([status, body.failed]).toEqual([200, 0])
}

test('keys keep their type, and equal values are sorted by the JSON of the keys', async () => {
  const plans = ['7', 7, 7.5, 'pro', true, null, '', ['a', 'b', 'a'], [], { b: 1 }]
  await send([...plans.map((plan) => ({ event: 'typed', data: { plan } })), { event: 'typed' }])
  expect(await buckets({ group_by: 'data.plan', ...ofEvent('typed') })).toEqual([
    [null, 3],
    ['', 1],
    ['7', 1],
    ['a', 1],
    ['b', 1],
    ['pro', 1],
    [7, 1],
    [7.5, 1],
    [true, 1],
    ['{"b":1}', 1],
  ])
})

test('an event counts once in the total, however many items its list has', async () => {
  await send([
    { event: 'listed', data: { tags: ['a', 'b'] } },
    { event: 'listed', data: { tags: ['a'] } },
  ])
  const body = { entity: 'events', group_by: 'data.tags', ...ofEvent('listed') }
  const { body: result } = await tenant.call('POST', '/v1/aggregate', body)
  expect(result).toMatchObject({
    total: 2,
    distinct_groups: 2,
    buckets: [
      { key: 'a', value: 2 },
      { key: 'b', value: 1 },
    ],
  })
})

test('a path goes into objects and through lists, and an escaped dot belongs to a key', async () => {
  const data = { 'a.b': 1, a: { b: 2 }, items: [{ sku: 'x', price: 0.1 }, { sku: 'y', price: 0.2 }, { sku: 'x' }] }
  await send([{ event: 'nested', data }])
  const of = ofEvent('nested')
  expect(await buckets({ group_by: 'data.a.b', ...of })).toEqual([[2, 1]])
  expect(await buckets({ group_by: String.raw`data.a\.b`, ...of })).toEqual([[1, 1]])
  expect(await buckets({ group_by: 'data.items.sku', ...of })).toEqual([
    ['x', 1],
    ['y', 1],
  ])
  const sum = (metric_field: string) => buckets({ group_by: 'event', metric: 'sum', metric_field, ...of })
  expect(await sum('data.items.price')).toEqual([['nested', 0.3]])
  expect(await sum('a.b')).toEqual([['nested', 1]])
  expect(await sum('data.a.b')).toEqual([['nested', 2]])
})

describe('figures of numbers', () => {
  const NUMBERS = [0.1, 0.2, '0.3', ' +1e3 ', 'many', true, null]

  beforeAll(async () => {
    const amounts = NUMBERS.map((n) => ({ event: 'figures', data: { n } }))
    const refunds = [100.1, -100, 1e15, 0.7, -1e15].map((n) => ({ event: 'refunds', data: { n } }))
    const huge = [1.7e308, 1.7e308, -5].map((n) => ({ event: 'huge', data: { n } }))
    const tiny = [1e-20, 2e-20].map((n) => ({ event: 'tiny', data: { n } }))
    await send([...amounts, ...refunds, ...huge, ...tiny])
  })

  const figure = async (event: string, metric: string, group_by = 'event') => {
    const [[, value] = []] = await buckets({ group_by, metric, metric_field: 'data.n', ...ofEvent(event) })
    return value
  }

  test.each([
    ['figures', 'sum', 0.6],
    ['figures', 'avg', 0.2],
    ['figures', 'median', 0.2],
    ['figures', 'p90', 0.28],
    ['figures', 'min', 0.1],
    ['figures', 'max', 0.3],
    ['refunds', 'sum', 0.8],
    ['refunds', 'median', 0.7],
    ['huge', 'sum', null],
    ['huge', 'max', 1.7e308],
    ['tiny', 'sum', 3e-20],
    ['tiny', 'avg', 1.5e-20],
  ])('of %s: the %s is %d', async (event, metric, value) => {
    expect(await figure(event, metric)).toBe(value)
    expect(await figure(event, metric, 'day')).toBe(value)
    expect(await figure(event, metric, 'contact.country')).toBe(value)
  })

  test('of contacts and companies are as exact', async () => {
    const own = await createTestTenant(service)
    for (const score of [0.1, 0.2, -0.3, '1.5']) await own.contact(`s${score}@example.com`, { score })
    const of = (metric: string) =>
      buckets({ entity: 'contacts', group_by: 'country', metric, metric_field: 'score' }, own)
    expect(await of('sum')).toEqual([[null, 1.5]])
    expect(await of('median')).toEqual([[null, 0.15]])
    expect(await of('p90')).toEqual([[null, 1.11]])
  })
})

describe('people', () => {
  let own: TestTenant
  let ada: string

  const figures = async (group_by = 'event') => {
    const all = ['unique_people', 'unique_contacts', 'unique_visitors', 'unique_sessions', 'count']
    return Promise.all(
      all.map(async (metric) => Object.fromEntries(await buckets({ group_by, metric, ...ofEvent('seen') }, own))),
    )
  }
  const see = (visitor_id: string, session_id = `s-${visitor_id}`) =>
    own.track({ visitor_id, session_id, events: [{ event: 'seen', data: { plan: 'pro' } }] })

  beforeAll(async () => {
    own = await createTestTenant(service)
    // A device before and after it is identified, a second device, and two visitors that nobody knows.
    await see('phone')
    ada = await own.contact('ada@people.example', { country: 'FR' }, { visitor_id: 'phone' })
    await see('phone')
    await see('laptop')
    await own.call('POST', '/v1/identify', { visitor_id: 'laptop', email: 'ada@people.example' })
    await see('stranger')
    await see('stranger', 's-later')
    await see('other')
    await own.contact('bob@people.example', {}, { visitor_id: 'tablet' })
    await see('tablet')
    // A server knows no visitor.
    const ofServer = { event: 'seen', email: 'bob@people.example', data: { plan: 'pro' } }
    await own.call('POST', '/v1/events', { events: [ofServer] })
  })

  test('are contacts, across devices and their anonymous past, and visitors that belong to none', async () => {
    expect(await figures()).toEqual([{ seen: 4 }, { seen: 2 }, { seen: 5 }, { seen: 6 }, { seen: 8 }])
    expect(await figures('data.plan')).toEqual([{ pro: 4 }, { pro: 2 }, { pro: 5 }, { pro: 6 }, { pro: 8 }])
  })

  test('are counted by values of their contacts too', async () => {
    const by = (metric: string) => buckets({ group_by: 'contact.country', metric, ...ofEvent('seen') }, own)
    expect(await by('unique_people')).toEqual([
      [null, 3],
      ['FR', 1],
    ])
    expect(await by('unique_contacts')).toEqual([
      ['FR', 1],
      [null, 1],
    ])
  })

  test('are one after a merge, and two again after it is undone', async () => {
    const twin = await own.contact('twin@people.example', {}, { visitor_id: 'twin' })
    await see('twin')
    expect((await figures())[0]).toEqual({ seen: 5 })
    expect((await own.call('POST', `/v1/contacts/${twin}/merge`, { into: ada })).status).toBe(200)
    expect((await figures()).slice(0, 2)).toEqual([{ seen: 4 }, { seen: 2 }])
    expect((await own.call('POST', `/v1/contacts/${twin}/unmerge`)).status).toBe(200)
    expect((await figures()).slice(0, 2)).toEqual([{ seen: 5 }, { seen: 3 }])
  })

  test('are two when a contact is deleted: it, and its visitor from then on', async () => {
    const last = await createTestTenant(service)
    const id = await last.contact('eve@people.example', {}, { visitor_id: 'shared' })
    await last.track({ visitor_id: 'shared', events: [{ event: 'seen' }] })
    expect((await last.call('DELETE', `/v1/contacts/${id}`)).status).toBe(200)
    for (let n = 0; n < 2; n++) await last.track({ visitor_id: 'shared', events: [{ event: 'seen' }] })
    expect(await buckets({ group_by: 'event', metric: 'unique_people', ...ofEvent('seen') }, last)).toEqual([
      ['seen', 2],
    ])
  })
})

describe('another tenant', () => {
  test('has nothing of it in any grouping', async () => {
    await send([{ event: 'secret', data: { plan: 'pro', n: 5 } }])
    await tenant.contact('secret@example.com', { tier: 'gold' }, { visitor_id: 'v' })
    const stranger = await createTestTenant(service)
    await stranger.contact('own@example.com', {}, { visitor_id: 'v' })
    for (const group_by of ['data.plan', 'contact.tier', 'company.name', 'contact_id', 'hour', 'event']) {
      for (const metric of ['count', 'unique_people']) {
        expect([group_by, await buckets({ group_by, metric, ...ofEvent('secret') }, stranger)]).toEqual([group_by, []])
      }
    }
    const keys = await buckets({ entity: 'contacts', group_by: 'tier' }, stranger)
    expect(keys).toEqual([[null, 1]])
    const { body } = await stranger.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'data.plan' })
    expect(body.warnings).toEqual(['No event has the property data.plan.'])
  })
})

test('contacts and companies are grouped by properties, columns and values of the company', async () => {
  const own = await createTestTenant(service)
  const { body } = await own.call('POST', '/v1/companies', {
    name: 'Engines',
    domain: 'engines.example',
    properties: { industry: 'Steam', size: 12 },
  })
  const { company_id } = body.company
  await own.contact('ada@engines.example', { tags: ['a', 'b'], created_day: 'Monday', 'a.b': 1 }, { company_id })
  await own.contact('bob@engines.example', { tags: ['a'], vip: true }, { company_id })
  await own.contact('eve@example.com', { tags: [], vip: 'true' })
  const contacts = (group_by: string) => buckets({ entity: 'contacts', group_by }, own)
  expect(await contacts('tags')).toEqual([
    ['a', 2],
    ['b', 1],
    [null, 1],
  ])
  expect(await contacts('vip')).toEqual([
    ['true', 1],
    [true, 1],
    [null, 1],
  ])
  expect(await contacts('a.b')).toEqual([
    [null, 2],
    [1, 1],
  ])
  expect(await contacts('properties.created_day')).toEqual([
    [null, 2],
    ['Monday', 1],
  ])
  for (const [group_by, key] of [
    ['company.name', 'Engines'],
    ['company.industry', 'Steam'],
    ['company.size', 12],
    ['company.contact_count', 2],
  ]) {
    expect(await contacts(String(group_by))).toEqual([
      [key, 2],
      [null, 1],
    ])
  }
  const companies = (group_by: string) => buckets({ entity: 'companies', group_by }, own)
  expect(await companies('name')).toContainEqual(['Engines', 1])
  expect(await companies('contact_count')).toContainEqual([2, 1])
})
