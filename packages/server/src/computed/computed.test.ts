import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { DAY_MS } from '../platform/time.ts'

let now = new Date('2026-03-02T12:00:00Z')
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

const later = (ms: number) => {
  now = new Date(now.getTime() + ms)
}
const ORDERS = { name: 'orders', entity: 'contacts', function: 'count', event: 'order' }
const PATH = '/v1/computed-properties'

const sent = (definition: object) => tenant.call('POST', PATH, definition)
async function define(definition: object = ORDERS): Promise<string> {
  const { status, body } = await sent(definition)
  expect([status, body.error]).toEqual([201, undefined])
  return body.computed_property.computed_property_id
}
const person = (name: string, properties: object = {}, more: object = {}) =>
  tenant.contact(`${name}@nowhere.example`, { ...properties }, { visitor_id: `${tenant.id}-${name}`, ...more })
const order = (name: string, data: object = {}, more: object = {}) =>
  tenant.call('POST', '/v1/events', { events: [{ visitor_id: `${tenant.id}-${name}`, event: 'order', data, ...more }] })
const contact = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include=provenance`)).body.contact
const eventually = (read: () => Promise<unknown>, value: unknown) =>
  expect.poll(read, { interval: 200, timeout: 30_000 }).toEqual(value)
const computed =
  (id: string, name = 'orders') =>
  async () =>
    (await contact(id)).properties[name]
const filled = (id: string) =>
  eventually(async () => (await tenant.call('GET', `${PATH}/${id}`)).body.computed_property.filling, false)
const refused = ({
  status,
  body,
}: {
  status: number
  body: { error: { code: string; details?: { path: string }[] } }
}) => [status, body.error.code, ...(body.error.details ?? []).map(({ path }) => path)]

describe('a value', () => {
  test('covers the past, also the anonymous one, follows events, and is written once for many', async () => {
    await order('ada')
    const ada = await person('ada')
    const bob = await person('bob')
    const id = await define()
    await eventually(computed(ada), 1)
    await eventually(computed(bob), 0)
    await filled(id)
    const { body } = await tenant.call('POST', '/v1/events', {
      events: Array.from({ length: 5 }, () => ({ visitor_id: `${tenant.id}-ada`, event: 'order' })),
    })
    expect(body.error).toBeUndefined()
    await eventually(computed(ada), 6)
    const { properties_provenance: provenance } = await contact(ada)
    expect(provenance.orders).toMatchObject({ source: 'computed' })
    const { events } = (await tenant.call('GET', `/v1/events?contact_id=${ada}&event_type=contact_updated`)).body
    expect(events.map((each: { data: { changed: string[] } }) => each.data.changed)).toEqual([['orders'], ['orders']])
    // Who comes later has it too.
    await eventually(computed(await person('eve')), 0)
  })

  test('changes with time alone, when an event leaves the days that count', async () => {
    await define({ ...ORDERS, within_days: 2 })
    await define({ ...ORDERS, name: 'last plan', function: 'last', property: 'data.plan', within_days: 3 })
    const ada = await person('ada')
    await order('ada', { plan: 'small' })
    later(DAY_MS)
    await order('ada')
    await eventually(computed(ada), 2)
    await eventually(computed(ada, 'last plan'), 'small')
    later(DAY_MS)
    // Exactly two days old, it still counts.
    await eventually(computed(ada), 2)
    later(1)
    await eventually(computed(ada), 1)
    later(DAY_MS)
    await eventually(computed(ada), 0)
    await eventually(computed(ada, 'last plan'), undefined)
    later(30 * DAY_MS)
    const { db } = tenant.handle
    await eventually(() => db.selectFrom('computed_expirations').selectAll().execute(), [])
  })

  test('is right after a merge, after its undoing, and for late events', async () => {
    await define()
    const [ada, bob] = [await person('ada'), await person('bob')]
    await order('ada')
    await order('bob')
    await order('bob', {}, { timestamp: '2020-01-01T00:00:00Z' })
    await eventually(computed(bob), 2)
    await tenant.call('POST', `/v1/contacts/${ada}/merge`, { into: bob })
    await eventually(computed(bob), 3)
    await tenant.call('POST', `/v1/contacts/${ada}/unmerge`)
    await eventually(computed(bob), 2)
    await eventually(computed(ada), 1)
  })

  test('is no part of the version that If-Match names, of a contact and of a company', async () => {
    const { company_id } = (await tenant.call('POST', '/v1/companies', { name: 'One' })).body.company
    const id = await person('ada', {}, { company_id })
    await define()
    await define({ ...ORDERS, entity: 'companies' })
    await eventually(computed(id), 0)
    const paths = [`/v1/contacts/${id}`, `/v1/companies/${company_id}`]
    const read = await Promise.all(paths.map((path) => tenant.call('GET', path)))
    const seen = read.map(({ headers }) => headers.get('etag') ?? '')
    await order('ada')
    await eventually(computed(id), 1)
    const ofCompany = async () => (await tenant.call('GET', paths[1] ?? '')).body.company.properties.orders
    await eventually(ofCompany, 1)
    for (const [index, path] of paths.entries()) {
      const headers = { authorization: `Bearer ${tenant.key}`, 'if-match': seen[index] ?? '' }
      const change = { headers, body: JSON.stringify({ properties: { industry: 'Engines' } }) }
      expect((await call(service, 'PUT', path, change)).status).toBe(200)
      expect((await call(service, 'PUT', path, change)).status).toBe(412)
    }
  })

  test('of a company follows its contacts: one that comes, one that leaves, one that is deleted or erased', async () => {
    const company = async (name: string) =>
      (await tenant.call('POST', '/v1/companies', { name })).body.company.company_id as string
    const [one, two] = [await company('One'), await company('Two')]
    await define({ ...ORDERS, entity: 'companies', function: 'sum', property: 'data.amount', within_days: 5 })
    const [ada, bob] = [await person('ada', {}, { company_id: one }), await person('bob', {}, { company_id: one })]
    const sumOf = (id: string) => async () =>
      (await tenant.call('GET', `/v1/companies/${id}`)).body.company.properties.orders
    await order('ada', { amount: 0.1 })
    await order('bob', { amount: 0.2 })
    await eventually(sumOf(one), 0.3)
    const { companies } = (await tenant.call('GET', '/v1/companies?sort_property=orders')).body
    expect(companies.map((each: { company_id: string }) => each.company_id)).toEqual([one, two])
    await tenant.call('PUT', `/v1/contacts/${bob}`, { company_id: two })
    await eventually(sumOf(one), 0.1)
    await eventually(sumOf(two), 0.2)
    await tenant.call('DELETE', `/v1/contacts/${bob}`)
    await eventually(sumOf(two), undefined)
    await order('ada', { amount: 1 })
    await eventually(sumOf(one), 1.1)
    later(6 * DAY_MS)
    await eventually(sumOf(one), undefined)
    await order('ada', { amount: 7 })
    await eventually(sumOf(one), 7)
    await tenant.call('POST', '/v1/erasures', { contact_id: ada })
    await eventually(sumOf(one), undefined)
  })

  test('is a property like any other: lists, segments, aggregation and the catalogue have it', async () => {
    await define()
    const ada = await person('ada')
    await person('bob')
    await order('ada')
    const filter = { match: 'all', conditions: [{ property: 'orders', operator: 'gte', value: 1 }] }
    const { segment } = (await tenant.call('POST', '/v1/segments', { name: 'Buyers', filter })).body
    await eventually(
      async () =>
        (await tenant.call('GET', `/v1/contacts?segment_id=${segment.segment_id}`)).body.contacts.map(
          ({ contact_id }: { contact_id: string }) => contact_id,
        ),
      [ada],
    )
    const { properties } = (await tenant.call('GET', '/v1/properties?entity=contacts&search=orders')).body
    expect(properties).toMatchObject([{ name: 'orders', type: 'number', is_editable: false, is_computed: true }])
    const eve = await person('eve')
    for (let n = 0; n < 11; n++) await order('eve')
    await eventually(computed(eve), 11)
    const sorted = async (query: string) =>
      (await tenant.call('GET', `/v1/contacts?sort_property=orders&${query}`)).body.contacts.map(
        (each: { properties: { orders: number } }) => each.properties.orders,
      )
    expect(await sorted('sort_dir=asc')).toEqual([0, 1, 11])
    expect(await sorted('')).toEqual([11, 1, 0])
    expect(await sorted('limit=1&page=3')).toEqual([0])
  })
})

describe('a definition', () => {
  test('that changes gives all records new values, and one that is deleted takes them away', async () => {
    const id = await define()
    const ada = await person('ada')
    await order('ada', { plan: 'a' })
    await order('ada', { plan: 'b' })
    await eventually(computed(ada), 2)
    const where = [{ property: 'data.plan', operator: 'equals', value: 'b' }]
    const { body } = await tenant.call('PATCH', `${PATH}/${id}`, { where })
    expect(body).toMatchObject({ changed: ['where'], computed_property: { where, filling: true } })
    await eventually(computed(ada), 1)
    const second = await tenant.call('PATCH', `${PATH}/${id}`, { function: 'last', property: 'data.plan', where: [] })
    expect(second.body.changed).toEqual(['function', 'property', 'where'])
    await eventually(computed(ada), 'b')
    await filled(id)
    expect((await tenant.call('DELETE', `${PATH}/${id}`)).body).toMatchObject({ deleted: true })
    expect((await tenant.call('GET', `${PATH}/${id}`)).status).toBe(404)
    await eventually(computed(ada), undefined)
    // Then it is anybody's.
    await eventually(
      async () => (await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { orders: 'x' } })).status,
      200,
    )
    expect(refused(await sent(ORDERS))).toEqual([409, 'property_in_use', 'name'])
  })

  test('is listed by name, of one entity or with some words', async () => {
    await define({ ...ORDERS, name: 'big orders' })
    await define({ ...ORDERS, entity: 'companies' })
    const namesOf = async (query: string) =>
      (await tenant.call('GET', `${PATH}?${query}`)).body.computed_properties.map(({ name }: { name: string }) => name)
    expect(await namesOf('')).toEqual(['big orders', 'orders'])
    expect(await namesOf('entity=companies')).toEqual(['orders'])
    expect(await namesOf('search=BIG')).toEqual(['big orders'])
    expect(await namesOf('limit=1&page=2')).toEqual(['orders'])
  })

  test('is refused if it says too little, too much, or could go round for ever', async () => {
    const base = { name: 'x', entity: 'contacts', function: 'count', event: 'order' }
    const { function: _, ...noFunction } = base
    const cases: [object, ...string[]][] = [
      [{ name: 'x', entity: 'contacts' }, 'function', 'event'],
      [noFunction, 'function'],
      [{ ...base, event: ' ' }, 'event'],
      [{ ...base, event: 'contact_updated' }, 'event'],
      [{ ...base, event: 'segment_entered' }, 'event'],
      [{ ...base, property: 'data.x' }, 'property'],
      [{ ...base, function: 'sum' }, 'property'],
      [{ ...base, function: 'sum', property: 'contact.email' }, 'property'],
      [{ ...base, where: [{ property: 'contact.email', operator: 'is_set' }] }, 'where[0].property'],
      [{ ...base, where: [{ property: 'data.due', operator: 'within_days', value: 3 }] }, 'where'],
      [{ ...base, where: [{ property: 'data.due', operator: 'after', value: '2026-01-01' }] }, 'where'],
      [{ ...base, score: [{ filter: { match: 'all', conditions: [] }, points: 1 }] }, 'score'],
    ]
    for (const [definition, ...paths] of cases) {
      expect([definition, refused(await sent(definition))]).toEqual([definition, [400, 'validation_error', ...paths]])
    }
    expect((await tenant.call('GET', PATH)).body.pagination.total_items).toBe(0)
  })

  test('cannot take the name of a property that exists, is built in, or is computed', async () => {
    await person('ada', { shoe_size: 41 })
    await tenant.call('POST', '/v1/companies', { name: 'One', properties: { seats: 3 } })
    await define({ ...ORDERS, name: 'free' })
    for (const name of ['shoe_size', 'email', 'First Name', 'created_at', 'unsubscribed', 'free']) {
      expect([name, ...refused(await sent({ ...ORDERS, name }))]).toEqual([name, 409, 'property_in_use', 'name'])
    }
    expect(refused(await sent({ ...ORDERS, entity: 'companies', name: 'seats' }))[1]).toBe('property_in_use')
    expect((await sent({ ...ORDERS, name: ' ' })).status).toBe(400)
    // What contacts have says nothing about companies.
    await define({ ...ORDERS, entity: 'companies', name: 'shoe_size' })
  })

  test('is one of at most 50', async () => {
    for (let n = 0; n < 50; n++) await define({ ...ORDERS, name: `orders ${n}` })
    expect(refused(await sent(ORDERS))).toEqual([409, 'too_many_computed_properties'])
  })
})

describe('nobody else writes it', () => {
  const CONTACT = { email: 'eve@nowhere.example', properties: { orders: 99, city: 'Oslo' } }
  beforeEach(async () => {
    await define()
    await define({ ...ORDERS, entity: 'companies', name: 'seats' })
  })

  test('a program gets 409, and nothing is written', async () => {
    const ada = await person('ada')
    const company = (await tenant.call('POST', '/v1/companies', { name: 'One' })).body.company.company_id
    const answers = [
      await tenant.call('POST', '/v1/contacts', CONTACT),
      await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { orders: null, city: 'Oslo' } }),
      await tenant.call('POST', '/v1/identify', { ...CONTACT, visitor_id: `${tenant.id}-eve` }),
    ]
    for (const answer of answers) {
      expect(refused(answer)).toEqual([409, 'computed_property', 'properties.orders'])
    }
    const ofCompanies = [
      await tenant.call('POST', '/v1/companies', { name: 'Two', properties: { seats: 1 } }),
      await tenant.call('PUT', `/v1/companies/${company}`, { properties: { seats: 1 } }),
    ]
    for (const answer of ofCompanies) expect(refused(answer)).toEqual([409, 'computed_property', 'properties.seats'])
    expect(await tenant.contactOf('eve@nowhere.example')).toBeUndefined()
    expect((await contact(ada)).properties.city).toBeUndefined()
  })

  test('a record of a source and a row of a file fail alone', async () => {
    const good = { external_id: '1', email: 'good@nowhere.example', properties: { city: 'Rome' } }
    const { body } = await tenant.call('POST', '/v1/sources/shop/contacts', {
      kind: 'crm',
      records: [good, { external_id: '2', ...CONTACT }],
    })
    expect(body.results).toMatchObject([
      { status: 'created' },
      { status: 'failed', error: { code: 'computed_property' } },
    ])
    expect(await tenant.contactOf('eve@nowhere.example')).toBeUndefined()
  })

  test('a page gets a warning, and the rest is written', async () => {
    const { status, body } = await tenant.track({
      visitor_id: `${tenant.id}-eve`,
      identify: { traits: { email: 'eve@nowhere.example', orders: 99, city: 'Oslo' } },
      events: [],
    })
    expect([status, JSON.stringify(body.warnings)]).toEqual([200, expect.stringContaining('Ignored: traits.orders.')])
    await eventually(async () => {
      const { city, orders } = (await tenant.contactOf('eve@nowhere.example'))?.properties ?? {}
      return [city, orders]
    }, ['Oslo', 0])
  })
})

test('another tenant neither sees nor changes it', async () => {
  const id = await define()
  const stranger = await createTestTenant(service)
  for (const [method, body] of [['GET'], ['PATCH', { within_days: 3 }], ['DELETE']] as const) {
    expect((await stranger.call(method, `${PATH}/${id}`, body)).status).toBe(404)
  }
  expect((await stranger.call('GET', PATH)).body.computed_properties).toEqual([])
  await stranger.contact('x@nowhere.example', { orders: 5 })
})
