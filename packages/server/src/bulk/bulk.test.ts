import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const bulk = (body: object, of: TestTenant = tenant, kind = 'contacts') => of.call('POST', `/v1/${kind}/bulk`, body)
const inCity = (city: string) => ({ match: 'all', conditions: [{ property: 'city', operator: 'equals', value: city }] })
const propertyOf = async (id: string, name: string) =>
  (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact?.properties[name]

test('contacts are changed by id like by requests of their own, and those that fail are named', async () => {
  const one = await tenant.contact('one@bulk.example', { city: 'Oslo' })
  const two = await tenant.contact('two@bulk.example')
  const other = await createTestTenant(service)
  const theirs = await other.contact('one@bulk.example')
  const ids = [one, two, two, theirs, newId(), 'no id']
  const { status, body } = await bulk({ contact_ids: ids, set: { properties: { city: 'Rome', lead_status: null } } })
  expect([status, body.done, body.next]).toEqual([200, 2, null])
  expect(body.failed.map(({ id, error }: { id: string; error: { code: string } }) => [id, error.code])).toEqual(
    ids.slice(3).map((id) => [id, 'not_found']),
  )
  expect(await propertyOf(one, 'city')).toBe('Rome')
  const { body: read } = await tenant.call('GET', `/v1/contacts/${one}?include=provenance`)
  expect(read.contact.properties_provenance.city.source).toBe('manual')
  const { body: events } = await tenant.call('GET', `/v1/contacts/events/${one}?include=system`)
  expect(events.events.map(({ event }: { event: string }) => event)).toContain('contact_updated')
  expect((await other.call('GET', `/v1/contacts/${theirs}`)).body.contact.properties.city).toBeUndefined()
})

test('all contacts that match a filter are changed in steps, also those that no longer match afterwards', async () => {
  const many = await createTestTenant(service)
  const records = Array.from({ length: 250 }, (_, n) => ({
    external_id: `x${n}`,
    email: `c${n}@many.example`,
    properties: { city: n < 230 ? 'Oslo' : 'Rome' },
  }))
  for (let from = 0; from < records.length; from += 100) {
    await many.call('POST', '/v1/sources/crm/contacts', { records: records.slice(from, from + 100) })
  }
  const sizes = []
  for (let after: string | null | undefined; after !== null; ) {
    const set = { properties: { city: 'Bergen' } }
    const { body } = await bulk({ matching: { filter: inCity('Oslo') }, set, ...(after ? { after } : {}) }, many)
    sizes.push(body.done)
    after = body.next
  }
  expect(sizes).toEqual([100, 100, 30])
  const count = async (city: string) => (await many.call('GET', `/v1/contacts?count_only=true&city=${city}`)).body.count
  expect([await count('Bergen'), await count('Oslo'), await count('Rome')]).toEqual([230, 0, 20])
  const removed = await bulk({ matching: { search: 'c24', filter: inCity('Rome') }, delete: true }, many)
  expect([removed.body.done, removed.body.next, await count('Rome')]).toEqual([10, null, 10])
})

test('contacts move to a company, and out of it', async () => {
  const id = await tenant.contact('moving@bulk.example')
  const { body: created } = await tenant.call('POST', '/v1/companies', { name: 'Movers' })
  const { company_id } = created.company
  expect((await bulk({ contact_ids: [id], set: { company_id } })).body.done).toBe(1)
  const companyOf = async () => (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact.company_id
  expect(await companyOf()).toBe(company_id)
  expect((await bulk({ matching: { company_id }, set: { company_id: null } })).body.done).toBe(1)
  expect(await companyOf()).toBeNull()
  const unknown = await bulk({ contact_ids: [id], set: { company_id: newId() } })
  expect([unknown.status, unknown.body.error.code]).toEqual([400, 'unknown_company'])
})

test('companies are changed and deleted', async () => {
  const ids = []
  for (const name of ['Alpha Bulk', 'Beta Bulk']) {
    ids.push((await tenant.call('POST', '/v1/companies', { name })).body.company.company_id)
  }
  const set = { properties: { industry: 'Steel' } }
  expect((await bulk({ company_ids: ids, set }, tenant, 'companies')).body).toMatchObject({ done: 2, failed: [] })
  const filter = { match: 'any', conditions: [{ property: 'name', operator: 'contains', value: 'beta b' }] }
  const [, last] = ids.sort()
  expect((await bulk({ matching: { filter }, after: last, set }, tenant, 'companies')).body.done).toBe(0)
  expect((await bulk({ matching: { filter }, delete: true }, tenant, 'companies')).body.done).toBe(1)
  const left = await tenant.call('GET', '/v1/companies?industry=Steel')
  expect(left.body.companies.map(({ name }: { name: string }) => name)).toEqual(['Alpha Bulk'])
})

const event = { match: 'all', conditions: [{ event: { type: 'x' }, operator: 'did' }] }
const where = [{ property: 'contact.city', operator: 'equals', value: 'Rome' }]
const ofContact = { match: 'all', conditions: [{ event: { where }, operator: 'did' }] }

test.each([
  ['contacts', {}, 'contact_ids'],
  ['contacts', { contact_ids: [newId()], matching: {}, delete: true }, 'contact_ids'],
  ['contacts', { contact_ids: [newId()] }, 'set'],
  ['contacts', { contact_ids: [newId()], delete: true, set: {} }, 'set'],
  ['contacts', { contact_ids: [], delete: true }, 'contact_ids'],
  ['contacts', { contact_ids: Array.from({ length: 101 }, () => 'x'), delete: true }, 'contact_ids'],
  ['contacts', { contact_ids: [newId()], delete: true, after: newId() }, 'after'],
  ['contacts', { matching: {}, delete: true, after: 'soon' }, 'after'],
  ['contacts', { matching: { city: 'Rome' }, delete: true }, 'matching.city'],
  ['contacts', { matching: { search: 'a b c d e f g h i j k' }, delete: true }, 'matching.search'],
  ['contacts', { matching: { filter: { match: 'all' } }, delete: true }, 'filter.conditions'],
  ['contacts', { matching: { segment_id: newId() }, delete: true }, 'segment_id'],
  ['contacts', { contact_ids: [newId()], set: { properties: { email: 'a@b.example' } } }, 'set.properties.email'],
  ['contacts', { contact_ids: [newId()], set: { properties: { a: { b: 1 } } } }, 'properties.a'],
  ['companies', { matching: { filter: ofContact }, delete: true }, 'filter.conditions[0].event.where[0].property'],
  ['companies', { matching: { segment_id: newId() }, delete: true }, 'segment_id'],
  ['companies', { company_ids: [newId()], set: { properties: { name: 'x' } } }, 'properties.name'],
])('a bulk change of %s with %j is 400 and names %s', async (kind, body, path) => {
  const response = await bulk(body, tenant, kind)
  expect([response.status, response.body.error.details[0].path]).toEqual([400, path])
})

test('event conditions need the scope of events', async () => {
  const key = await tenant.keyWith('contacts:write')
  const body = { matching: { filter: event }, delete: true }
  const response = await tenant.call('POST', '/v1/contacts/bulk', body, key)
  expect([response.status, response.body.error.code]).toEqual([403, 'insufficient_scope'])
})
