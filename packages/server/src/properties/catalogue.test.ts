import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { nearestName } from '../platform/nearest-name.ts'
import { unknownPropertyWarnings } from './unknown.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

interface Listed {
  name: string
  kinds: string[]
  values_seen: number | null
  last_seen_at: string | null
  top_values?: unknown[]
}

async function list(of: TestTenant, query: string): Promise<Listed[]> {
  const { status, body } = await of.call('GET', `/v1/properties?${query}`)
  expect(status).toBe(200)
  return body.properties
}

const namesOf = (properties: Listed[]) => properties.map(({ name }) => name)
/** Those in the data of events. */
const inData = (properties: Listed[]) => properties.filter(({ name }) => name.startsWith('data.'))

test('properties are listed with their types', async () => {
  await tenant.contact('p@example.com', {
    score: 7,
    seats: '12',
    vip: true,
    since: '2026-01-01',
    tags: ['a', 'b'],
    favorite_color: 'red',
    do_not_contact: true,
  })
  const { body } = await tenant.call('GET', '/v1/properties')
  const types = Object.fromEntries(
    body.properties.map(({ name, type }: { name: string; type: string }) => [name, type]),
  )
  const fixed = body.properties.flatMap((each: { name: string; is_editable: boolean }) =>
    each.is_editable ? [] : [each.name],
  )
  expect(fixed).toEqual(expect.arrayContaining(['company_id', 'creation_source', 'created_at', 'do_not_contact']))
  for (const name of ['email', 'lifecyclestage', 'score']) expect(fixed).not.toContain(name)
  expect(types).toMatchObject({
    email: 'text',
    created_at: 'date',
    score: 'number',
    seats: 'number',
    vip: 'boolean',
    since: 'date',
    tags: 'list',
    favorite_color: 'text',
  })
  expect(body.properties).toContainEqual({
    name: 'favorite_color',
    label: 'Favorite color',
    type: 'text',
    is_editable: true,
    is_computed: false,
    is_usual: false,
    choices: null,
    kinds: ['text'],
    values_seen: 1,
    last_seen_at: expect.any(String),
    top_values: ['red'],
  })
  const stage = body.properties.find(({ name }: { name: string }) => name === 'lifecyclestage')
  for (const lifecyclestage of stage.choices) await tenant.contact(`${lifecyclestage}@example.com`, { lifecyclestage })
  const other = { email: 'other@example.com', properties: { lifecyclestage: 'unheard of' } }
  expect((await tenant.call('POST', '/v1/contacts', other)).status).toBe(400)
  await tenant.track({ visitor_id: 'x', events: [{ event: 'custom', data: { plan_size: 'big' } }] })
  const events = await tenant.call('GET', '/v1/properties?entity=events')
  expect(events.body.properties).toContainEqual({
    name: 'data.plan_size',
    label: 'Plan size',
    type: 'text',
    is_editable: false,
    is_computed: false,
    is_usual: false,
    choices: null,
    kinds: ['text'],
    values_seen: 1,
    last_seen_at: expect.any(String),
    top_values: ['big'],
  })
  expect((await tenant.call('GET', '/v1/properties?entity=companies')).body.properties[0].name).toBe('name')
  expect((await tenant.call('GET', '/v1/properties?entity=secrets')).status).toBe(400)
})

test('one property is read by its name, as it is listed', async () => {
  await tenant.contact('named@example.com', { favorite_engine: 'steam' })
  const { body } = await tenant.call('GET', '/v1/properties/favorite_engine')
  expect(body.property).toMatchObject({ name: 'favorite_engine', type: 'text', is_editable: true })
  const { body: listed } = await tenant.call('GET', '/v1/properties?entity=companies')
  const domain = await tenant.call('GET', '/v1/properties/domain?entity=companies')
  expect(listed.properties).toContainEqual(domain.body.property)
  const unknown = await tenant.call('GET', '/v1/properties/favorite_engine?entity=companies')
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  expect((await tenant.call('GET', '/v1/properties/domain?entity=secrets')).status).toBe(400)
})

test('the properties of events are listed by their paths, most used first, with kinds, values and the latest time', async () => {
  const own = await createTestTenant(service)
  const order = (total: unknown, sku: string) => ({ order: { total, items: [{ sku }, { sku: 'b' }] }, plan: 'pro' })
  const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`
  await own.track({
    visitor_id: 'v',
    events: [
      { event: 'order', timestamp: at(1), data: order(5, 'a') },
      { event: 'order', timestamp: at(2), data: order('5', 'b') },
      { event: 'login', timestamp: at(3), data: { plan: 'free', due: '2026-02-03', vip: true, tags: [], 'a.b': null } },
      { event: 'login', timestamp: at(0), data: { 'a.b': 1, due: '2026-02-03T10:00:00Z' } },
    ],
  })
  const properties = await list(own, 'entity=events')
  expect(inData(properties)).toMatchObject([
    { name: 'data.order.items.sku', kinds: ['text'], values_seen: 4, last_seen_at: at(2), top_values: ['b', 'a'] },
    { name: 'data.plan', kinds: ['text'], values_seen: 3, last_seen_at: at(3), top_values: ['pro', 'free'] },
    { name: 'data.due', kinds: ['time'], values_seen: 2, last_seen_at: at(3) },
    { name: 'data.order.items', kinds: ['list'], values_seen: 2 },
    { name: 'data.order.total', kinds: ['number', 'text'], values_seen: 2 },
    { name: 'data.a\\.b', kinds: ['number'], values_seen: 1, last_seen_at: at(0), top_values: [1] },
    { name: 'data.tags', kinds: ['list'], values_seen: 1 },
    { name: 'data.vip', kinds: ['boolean'], top_values: [true] },
  ])
  expect(properties.find(({ name }) => name === 'url_path')).toMatchObject({ kinds: ['text'], values_seen: null })
  const ofLogin = inData(await list(own, 'entity=events&event=login'))
  expect(namesOf(ofLogin)).toEqual(['data.due', 'data.a\\.b', 'data.plan', 'data.tags', 'data.vip'])
  expect(namesOf(await list(own, 'entity=events&search=ORDER.I'))).toEqual(['data.order.items.sku', 'data.order.items'])
  expect(namesOf(await list(own, 'entity=events&event=nothing&search=data.'))).toEqual([])
})

test("what the service's own events have in their data is listed too", async () => {
  const own = await createTestTenant(service)
  const id = await own.contact('stage@example.com', { lifecyclestage: 'lead' })
  await own.call('PUT', `/v1/contacts/${id}`, { properties: { lifecyclestage: 'customer' } })
  const [source] = await list(own, 'entity=events&event=lifecycle_stage_changed&search=data.source')
  expect(source).toMatchObject({ name: 'data.source', top_values: ['manual'] })
  expect(namesOf(await list(own, 'entity=events&search=data.source'))).toEqual(['data.source'])
})

test('values of personal properties are not listed, in whatever object they are', async () => {
  const own = await createTestTenant(service)
  const data = {
    email: 'a@example.com',
    user: { phone: '+49 123', plan: 'pro' },
    first_name: 'Ada',
    comment: 'Hello',
    'a@b.example': 1,
  }
  await own.track({ visitor_id: 'v', events: [{ event: 'x', data }] })
  const found = inData(await list(own, 'entity=events'))
  expect(found).toHaveLength(5)
  expect(namesOf(found.filter(({ top_values }) => top_values !== undefined))).toEqual(['data.user.plan'])
  await own.contact('ada@example.com', { firstname: 'Ada', seats: 3 })
  const withValues = (await list(own, 'entity=contacts')).filter(({ top_values }) => top_values !== undefined)
  expect(namesOf(withValues)).toEqual(['seats'])
})

test('properties are listed in the order of their use, up to 2,000, and the rest is counted', async () => {
  const own = await createTestTenant(service)
  const data = Object.fromEntries(Array.from({ length: 2_100 }, (_, index) => [`k${index}`, 1]))
  await own.track({
    visitor_id: 'v',
    events: [
      { event: 'wide', data },
      { event: 'x', data: { k2050: 2 } },
    ],
  })
  const { body } = await own.call('GET', '/v1/properties?entity=events')
  expect(body.more).toBe(100)
  expect(inData(body.properties)).toHaveLength(2_000)
  expect(inData(body.properties)[0]).toMatchObject({ name: 'data.k2050', values_seen: 2 })
})

test('a stranger sees no properties of others, and a key needs the scope of the entity', async () => {
  const stranger = await createTestTenant(service)
  await tenant.track({ visitor_id: 'x', events: [{ event: 'custom', data: { secret_key: 'big' } }] })
  expect(inData(await list(stranger, 'entity=events'))).toEqual([])
  const key = await tenant.keyWith('contacts:read')
  for (const [entity, status] of [
    ['contacts', 200],
    ['companies', 403],
    ['events', 403],
  ] as const) {
    expect((await tenant.call('GET', `/v1/properties?entity=${entity}`, undefined, key)).status).toBe(status)
  }
  expect((await tenant.call('GET', '/v1/properties?entity=events&event=')).status).toBe(400)
})

test.each([
  ['plna', 'plan'],
  ['Life Cycle Stage', 'lifecyclestage'],
  ['data.order.totl', 'data.order.total'],
  ['jobtitel', 'jobtitle'],
  ['zzz', null],
  ['', null],
])('the nearest of %j is %j', (name, nearest) => {
  const known = ['plan', 'lifecyclestage', 'data.order.total', 'jobtitle', 'planned', 'place']
  expect(nearestName(name, known)).toBe(nearest)
})

test('a name that nothing has gets a warning with the nearest one, and any that something has gets none', async () => {
  const own = await createTestTenant(service)
  await own.contact('c@example.com', { plan: 'pro' })
  await own.track({ visitor_id: 'v', events: [{ event: 'x', data: { order: { total: 1 } } }] })
  const warnings = (entity: 'contacts' | 'companies' | 'events', ...names: string[]) =>
    unknownPropertyWarnings(own.handle, entity, names)
  expect(await warnings('contacts', 'plan', 'properties.plan', 'country', 'segment', 'company.industry')).toEqual([])
  expect(
    await warnings('events', 'data.order.total', 'data.order', 'url_path', 'contact.plan', 'company.name'),
  ).toEqual([])
  expect(await warnings('companies', 'industry', 'contact_count')).toEqual([])
  expect(await warnings('contacts', 'plna', 'company.industri', 'nothing_like_it')).toEqual([
    'No contact has the property plna. Did you mean plan?',
    'No company has the property company.industri. Did you mean company.industry?',
    'No contact has the property nothing_like_it.',
  ])
  expect(await warnings('events', 'data.order.totl', 'url_pth', 'contact.plna')).toEqual([
    'No event has the property data.order.totl. Did you mean data.order.total?',
    'No event has the property url_pth. Did you mean url_path?',
    'No contact has the property contact.plna. Did you mean contact.plan?',
  ])
})
