import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const aggregate = (body: unknown, key = tenant.key) => tenant.call('POST', '/v1/aggregate', body, key)

const CONTACTS = { entity: 'contacts', group_by: 'country' }
const COMPANIES = { entity: 'companies', group_by: 'country' }
const EVENTS = { entity: 'events', group_by: 'event_type' }
const deep = (keys: number) => `data${'.a'.repeat(keys)}`

test.each([
  [{}, 'entity', 'contacts, companies, events'],
  [{ entity: 'people' }, 'entity', 'contacts, companies, events'],
  [{ entity: ['contacts'] }, 'entity', 'contacts, companies, events'],
  [{ entity: 'toString' }, 'entity', 'contacts, companies, events'],
  [[], '', 'object'],
  [{ entity: 'contacts' }, 'group_by', 'required'],
  [{ entity: 'contacts', group_by: '' }, 'group_by', '1 to 200'],
  [{ entity: 'events', group_by: 7 }, 'group_by', 'string'],
  [{ entity: 'events', group_by: ['data.plan'] }, 'group_by', 'string'],
  [{ entity: 'companies', group_by: 'x'.repeat(201) }, 'group_by', '1 to 200'],
  [{ entity: 'events', group_by: 'data.\u0000' }, 'group_by', 'NUL'],
  [{ ...EVENTS, metric: 'mode' }, 'metric', 'count, avg, sum, min, max, median, p90, unique_contacts'],
  [{ ...CONTACTS, metric: 'unique_people' }, 'metric', 'count, avg, sum, min, max, median, p90'],
  [{ ...EVENTS, metric: 'sum' }, 'metric_field', 'required'],
  [{ ...EVENTS, metric: 'p90' }, 'metric_field', 'required'],
  [{ ...EVENTS, metric: 'sum', metric_field: 'contact.score' }, 'metric_field', 'aggregate the entity contacts'],
  [{ ...EVENTS, metric: 'sum', metric_field: 'company.score' }, 'metric_field', String.raw`data.company\.score`],
  [{ ...EVENTS, metric: 'sum', metric_field: deep(11) }, 'metric_field', 'at most 10'],
  [{ ...EVENTS, group_by: deep(11) }, 'group_by', 'at most 10'],
  [{ ...EVENTS, time_zone: 'Mars/Olympus' }, 'time_zone', 'Europe/Berlin'],
  [{ ...EVENTS, time_zone: '+02:00' }, 'time_zone', 'Europe/Berlin'],
  [{ ...CONTACTS, time_zone: '' }, 'time_zone', '1 to 64'],
  [{ ...EVENTS, time_zone: "UTC') FROM events --" }, 'time_zone', 'IANA'],
  [{ ...CONTACTS, metric: 'avg' }, 'metric_field', 'required'],
  [{ ...COMPANIES, metric: 'min', metric_field: '' }, 'metric_field', '1 to 200'],
  [{ ...COMPANIES, metric: 'min', metric_field: 7 }, 'metric_field', 'string'],
  [{ ...COMPANIES, metric: 'min', metric_field: 'x'.repeat(201) }, 'metric_field', '1 to 200'],
  [{ ...EVENTS, limit: 0 }, 'limit', '1 to 50'],
  [{ ...EVENTS, limit: 51 }, 'limit', '1 to 50'],
  [{ ...EVENTS, limit: 2.5 }, 'limit', '1 to 50'],
  [{ ...EVENTS, limit: '25' }, 'limit', '1 to 50'],
  [{ ...EVENTS, include: 'all' }, 'include', 'system'],
  [{ ...CONTACTS, include: 'system' }, 'include', 'not a known field'],
  [{ ...EVENTS, filter: {} }, 'filter', 'not a known field'],
  [{ ...EVENTS, filters: [] }, 'filters', 'object'],
  [{ ...EVENTS, filters: { industry: 'SAAS' } }, 'filters.industry', 'event_type, event_types, contact_id'],
  [{ ...CONTACTS, filters: { event_type: 'x' } }, 'filters.event_type', 'company, lifecycle_stage, lead_status'],
  [{ ...CONTACTS, filters: { search: 'x' } }, 'filters.search', 'segment_id'],
  [{ ...COMPANIES, filters: { city: 'x' } }, 'filters.city', 'name, domain, industry'],
  [{ ...CONTACTS, filters: { lifecycle_stage: 'friend' } }, 'filters.lifecycle_stage', 'lead, prospect'],
  [{ ...CONTACTS, filters: { country: '' } }, 'filters.country', 'string'],
  [{ ...CONTACTS, filters: { country: 7 } }, 'filters.country', 'string'],
  [{ ...CONTACTS, filters: { created_after: 'soon' } }, 'filters.created_after', 'ISO 8601'],
  [{ ...CONTACTS, filters: { created_before: 1_700_000_000 } }, 'filters.created_before', 'ISO 8601'],
  [{ ...CONTACTS, filters: { created_before: '9999-12-31T23:59:59-01:00' } }, 'filters.created_before', 'ISO 8601'],
  [{ ...CONTACTS, filters: { contact_ids: 'x' } }, 'filters.contact_ids', 'list'],
  [{ ...CONTACTS, filters: { contact_ids: [7] } }, 'filters.contact_ids[0]', 'string'],
  [{ ...CONTACTS, filters: { contact_ids: Array(101).fill('x') } }, 'filters.contact_ids', '100'],
  [{ ...EVENTS, filters: { contact_ids: Array(101).fill('x') } }, 'filters.contact_ids', '100'],
  [{ ...EVENTS, filters: { event_types: Array(101).fill('x') } }, 'filters.event_types', '100'],
  [{ ...EVENTS, filters: { event_types: 'page_view' } }, 'filters.event_types', 'list'],
  [{ ...EVENTS, filters: { is_bot: 'true' } }, 'filters.is_bot', 'true or false'],
  [{ ...EVENTS, filters: { identified_only: 1 } }, 'filters.identified_only', 'true or false'],
  [{ ...EVENTS, filters: { date_after: '2026-02-30' } }, 'filters.date_after', 'ISO 8601'],
  [{ ...EVENTS, filters: { date_before: '' } }, 'filters.date_before', 'ISO 8601'],
  [{ ...COMPANIES, filters: { min_employees: '10' } }, 'filters.min_employees', 'whole number'],
  [{ ...COMPANIES, filters: { max_employees: -1 } }, 'filters.max_employees', 'whole number'],
])('%j is 400 and names %s', async (body, path, hint) => {
  const response = await aggregate(body)
  expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  expect(response.body.error.details[0].path).toBe(path)
  expect(response.body.error.details[0].message).toContain(hint)
})

test('every invalid field is reported at once', async () => {
  const { body } = await aggregate({ ...EVENTS, metric: 'sum', filters: { date_after: 'x', date_before: 'y' } })
  const paths = body.error.details.map(({ path }: { path: string }) => path)
  expect(paths).toEqual(['metric_field', 'filters.date_after', 'filters.date_before'])
})

test.each([
  ['contacts', 'shoe_size'],
  ['contacts', 'company.shoe_size'],
  ['contacts', 'properties.country'],
  ['companies', 'shoe_size'],
  ['events', 'shoe_size'],
  ['events', 'data.shoe_size'],
  ['events', 'data.'],
  ['events', 'data.a..b'],
  ['events', 'contact.shoe_size'],
  ['events', 'company.shoe_size'],
  ['events', 'owner_id'],
  ['events', 'tenant_id'],
  ['events', 'event; DROP TABLE events'],
  ['events', "data.x'), (SELECT 1"],
  ['contacts', `x' OR 1=1 --`],
])('%s by %s, which nothing has, are one bucket without a key, with a warning', async (entity, group_by) => {
  const own = await createTestTenant(service)
  await own.contact('one@example.com')
  await own.call('POST', '/v1/companies', { name: 'One' })
  await own.track({ visitor_id: 'v', events: [{ event: 'a', data: { size: 5 } }] })
  const { status, body } = await aggregate({ entity, group_by }, own.key)
  expect([status, body.buckets]).toEqual([200, [{ key: null, value: 1 }]])
  expect(body.warnings).toEqual([expect.stringMatching(/^No (contact|company|event) has the property /)])
})

test('a path may have ten keys', async () => {
  const own = await createTestTenant(service)
  await own.track({ visitor_id: 'v', events: [{ event: 'a', data: { a: { a: 1 } } }] })
  for (const metric of ['sum', 'avg', 'p90']) {
    const { status } = await aggregate({ ...EVENTS, group_by: deep(10), metric, metric_field: deep(10) }, own.key)
    expect(status).toBe(200)
  }
})

test('a dimension or a field that nothing has gives no warning', async () => {
  const own = await createTestTenant(service)
  await own.contact('one@example.com')
  await own.track({ events: [{ event: 'a' }] })
  for (const body of [CONTACTS, COMPANIES, { ...EVENTS, group_by: 'title' }, { ...EVENTS, group_by: 'screen' }]) {
    expect((await aggregate(body, own.key)).body.warnings).toBeUndefined()
  }
})

test('a field of numbers that nothing has gives a warning, and one that only others have does not', async () => {
  const own = await createTestTenant(service)
  await own.contact('one@example.com', { score: 'many' })
  await own.track({ visitor_id: 'v', events: [{ event: 'a', data: { size: 'large' } }, { event: 'b' }] })
  const warnings = async (body: object) => (await aggregate({ metric: 'sum', ...body }, own.key)).body.warnings
  expect(await warnings({ ...CONTACTS, group_by: 'score', metric_field: 'score' })).toBeUndefined()
  expect(await warnings({ ...CONTACTS, group_by: 'score', metric_field: 'age' })).toEqual([
    'No contact has the property age.',
  ])
  const ofB = { filters: { event_type: 'b' } }
  expect(await warnings({ ...EVENTS, ...ofB, group_by: 'data.size', metric_field: 'data.size' })).toBeUndefined()
  expect(await warnings({ ...EVENTS, ...ofB, metric_field: 'age' })).toEqual(['No event has the property age.'])
})

test('a missing body, malformed JSON and a NUL are 400', async () => {
  expect((await aggregate(undefined)).status).toBe(400)
  const { body } = await aggregate({ ...EVENTS, filters: { url: 'a\u0000b' } })
  expect(body.error).toMatchObject({ code: 'validation_error', details: [{ path: 'filters.url' }] })
})

describe('a segment', () => {
  test.each([newId(), 'nope', ' '])('that does not exist (%s) is 400 unknown_segment', async (segment_id) => {
    const { status, body } = await aggregate({ ...CONTACTS, filters: { segment_id } })
    expect([status, body.error.code]).toEqual([400, 'unknown_segment'])
    expect(body.error.details[0].path).toBe('filters.segment_id')
  })

  test('of another tenant is 400, like one that does not exist', async () => {
    const other = await createTestTenant(service)
    const segment_id = newId()
    const now = new Date()
    const definition = { name: 'S', filter: '{}', uses_events: false, uses_time: false }
    await other.handle.db
      .insertInto('segments')
      .values({ segment_id, ...definition, evaluated_at: now, created_at: now, updated_at: now })
      .execute()
    expect((await aggregate({ ...CONTACTS, filters: { segment_id } })).body.error.code).toBe('unknown_segment')
    expect((await aggregate({ ...CONTACTS, filters: { segment_id } }, other.key)).status).toBe(200)
  })
})

describe('the required scope depends on the entity', () => {
  test.each([
    [CONTACTS, 'contacts:read'],
    [COMPANIES, 'companies:read'],
    [EVENTS, 'events:read'],
  ])('%j requires only %s', async (body, scope) => {
    const others = ['contacts:read', 'companies:read', 'events:read', 'segments:read'].filter((each) => each !== scope)
    // The scope is checked before everything else.
    const refused = await aggregate({ ...body, group_by: 7, limit: 'x' }, await tenant.keyWith(...others))
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.error.message).toContain(scope)
    expect((await aggregate(body, await tenant.keyWith(scope))).status).toBe(200)
  })

  test.each([
    [{ ...EVENTS, group_by: 'contact.country' }, 'events:read', 'contacts:read'],
    [{ ...EVENTS, group_by: 'company.industry' }, 'events:read', 'companies:read'],
    [{ ...CONTACTS, group_by: 'company.industry' }, 'contacts:read', 'companies:read'],
    [{ ...CONTACTS, metric: 'sum', metric_field: 'company.size' }, 'contacts:read', 'companies:read'],
  ])('%j requires %s and %s', async (body, own, other) => {
    const { status, body: refused } = await aggregate(body, await tenant.keyWith(own))
    expect([status, refused.error.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.error.message).toContain(other)
    expect((await aggregate(body, await tenant.keyWith(own, other))).status).toBe(200)
  })

  test('a value of the company of the contact requires all three', async () => {
    const body = { ...EVENTS, group_by: 'contact.company.industry' }
    const refused = await aggregate(body, await tenant.keyWith('events:read', 'contacts:read'))
    expect(refused.body.error.message).toContain('companies:read')
    const all = await tenant.keyWith('events:read', 'contacts:read', 'companies:read')
    expect((await aggregate(body, all)).status).toBe(200)
  })

  test('an unknown entity is 400 for every key', async () => {
    const { status, body } = await aggregate({ entity: 'x', group_by: 7 }, await tenant.keyWith('agents:read'))
    expect([status, body.error.details[0].path]).toEqual([400, 'entity'])
  })
})

test('a field that count does not use gives a warning', async () => {
  const { status, body } = await aggregate({ ...EVENTS, metric_field: 'amount' })
  expect([status, body.warnings.length]).toEqual([200, 1])
})

test.each([
  [{ contact_ids: [] }, 0],
  [{ contact_ids: ['nope', newId()] }, 0],
  [{ created_after: '0100-01-01' }, 1],
  [{ created_before: '9999-12-31T23:59:59.999Z' }, 1],
])('%j matches %i contacts', async (filters, total) => {
  const own = await createTestTenant(service)
  await own.contact('one@example.com')
  expect((await aggregate({ ...CONTACTS, filters }, own.key)).body.total).toBe(total)
})

test("times beyond ClickHouse's range are valid bounds", async () => {
  const own = await createTestTenant(service)
  await own.track({ events: [{ event: 'a' }] })
  const count = async (filters: object) => (await aggregate({ ...EVENTS, filters }, own.key)).body.total
  expect(await count({ date_after: '0100-01-01', date_before: '9999-12-31' })).toBe(1)
  expect(await count({ date_after: '9999-12-31' })).toBe(0)
  expect(await count({ date_before: '0100-01-01' })).toBe(0)
})

test('openapi.json describes every dimension and filter', () => {
  const { components } = service.app.swagger() as unknown as { components: { schemas: Record<string, unknown> } }
  const { AggregationOfContacts, AggregationOfCompanies, AggregationOfEvents } = components.schemas
  const operation = JSON.stringify([AggregationOfContacts, AggregationOfCompanies, AggregationOfEvents])
  for (const name of ['revenue_bucket', 'referring_domain', 'created_day', 'data.<path>', 'company.<key>']) {
    expect(operation).toContain(`\`${name}\``)
  }
  for (const name of ['class_contains', 'segment_id', 'time_zone']) expect(operation).toContain(`"${name}"`)
  expect(operation).toContain('`week`: ISO week')
})
