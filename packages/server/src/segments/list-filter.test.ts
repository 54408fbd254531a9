import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  for (const [index, city] of ['Rome', 'Oslo', 'Rome', 'Bergen'].entries()) {
    await tenant.contact(`p${index}@filter.example`, { city, age: index * 10 }, { visitor_id: `filter${index}` })
  }
  await tenant.track({ visitor_id: 'filter2', events: [{ event: 'checkout' }] })
  for (const [name, industry] of [
    ['Alpha', 'Steel'],
    ['Beta', 'Steel'],
    ['Gamma', 'Wool'],
  ]) {
    const properties = { industry, numberofemployees: name === 'Beta' ? 500 : 5 }
    await tenant.call('POST', '/v1/companies', { name, domain: `${name}.filter.example`, properties })
  }
})

type Condition = object
const query = (conditions: Condition[], match = 'all') =>
  `filter=${encodeURIComponent(JSON.stringify({ match, conditions }))}`
const namesOf = async (parameters: string) => {
  const { body } = await tenant.call('GET', `/v1/contacts?sort_by=email&sort_dir=asc&${parameters}`)
  return body.contacts.map(({ properties }: { properties: { email: string } }) => properties.email.split('@')[0])
}
const inRome = { property: 'city', operator: 'equals', value: 'Rome' }
const adult = { property: 'age', operator: 'gte', value: 15 }
const bought = { event: { type: 'checkout' }, operator: 'did' }

test('a list of contacts takes the filter of a segment, with its other parameters', async () => {
  expect(await namesOf(query([inRome]))).toEqual(['p0', 'p2'])
  expect(await namesOf(query([inRome, adult]))).toEqual(['p2'])
  expect(await namesOf(query([inRome, adult], 'any'))).toEqual(['p0', 'p2', 'p3'])
  expect(await namesOf(query([bought]))).toEqual(['p2'])
  expect(await namesOf(query([{ ...bought, operator: 'did_not' }, inRome]))).toEqual(['p0'])
  expect(await namesOf(`${query([inRome])}&search=p0`)).toEqual(['p0'])
  expect(await namesOf(`${query([inRome])}&limit=1&page=2`)).toEqual(['p2'])
  expect((await tenant.call('GET', `/v1/contacts?count_only=true&${query([adult])}`)).body.count).toBe(2)
})

test('contacts are listed by segment and by id, and exported alike', async () => {
  const filter = { match: 'all', conditions: [inRome] }
  const { body } = await tenant.call('POST', '/v1/segments', { name: 'Romans', filter })
  const segment = `segment_id=${body.segment.segment_id}`
  await until(async () => expect(await namesOf(segment)).toEqual(['p0', 'p2']))
  const { body: found } = await tenant.call('GET', '/v1/contacts?search=p2')
  const ids = `contact_ids=${found.contacts[0].contact_id},${newId()},none`
  expect(await namesOf(ids)).toEqual(['p2'])
  expect(await namesOf(`${ids}&has_event_type=checkout`)).toEqual(['p2'])
  expect(await namesOf(`${ids}&has_event_type=other`)).toEqual([])
  expect(await namesOf(`contact_ids=${newId()}&has_event_type=checkout`)).toEqual([])
  const csv = await tenant.call('GET', `/v1/contacts/export.csv?columns=email&${segment}&${query([adult])}`)
  expect(parse(String(csv.body), { bom: true })).toEqual([['email'], ['p2@filter.example']])
})

test('a list of companies takes a filter of properties', async () => {
  const names = async (parameters: string) => {
    const { body } = await tenant.call('GET', `/v1/companies?sort_by=name&sort_dir=asc&${parameters}`)
    return body.companies.map(({ name }: { name: string }) => name)
  }
  expect(await names(query([{ property: 'industry', operator: 'equals', value: 'Steel' }]))).toEqual(['Alpha', 'Beta'])
  expect(await names(query([{ property: 'numberofemployees', operator: 'gt', value: 100 }]))).toEqual(['Beta'])
  expect(await names(query([{ property: 'name', operator: 'contains', value: 'alp' }]))).toEqual(['Alpha'])
  expect(await names(query([{ property: 'domain', operator: 'equals', value: 'GAMMA.filter.example' }]))).toEqual([
    'Gamma',
  ])
  expect(await names(query([{ property: 'created_at', operator: 'within_days', value: 1 }]))).toHaveLength(3)
  const { body } = await tenant.call('GET', '/v1/companies?search=beta')
  expect(await names(`company_ids=${body.companies[0].company_id}`)).toEqual(['Beta'])
})

test.each([
  ['contacts?filter=', 'filter'],
  ['contacts?filter={', 'filter'],
  ['contacts?filter=7', 'filter'],
  [
    'contacts?filter={"match":"all","conditions":[{"property":"a","operator":"like"}]}',
    'filter.conditions[0].operator',
  ],
  [`contacts?filter=${'['.repeat(5_000)}`, 'filter'],
  [`contacts?filter=${'x'.repeat(10_001)}`, 'filter'],
  [`contacts?segment_id=${newId()}`, 'segment_id'],
  ['contacts?segment_id=x', 'segment_id'],
  [`contacts?contact_ids=${Array.from({ length: 101 }, (_, n) => n).join(',')}`, 'contact_ids'],
  ['companies?filter={"match":"all","conditions":[{"event":{"type":"x"}}]}', 'filter.conditions[0].operator'],
  [`companies?segment_id=${newId()}`, 'segment_id'],
  ['companies?filter={', 'filter'],
])('GET /v1/%.80s is 400 and names %s', async (path, named) => {
  const { status, body } = await tenant.call('GET', `/v1/${path}`)
  expect([status, body.error.details[0].path]).toEqual([400, named])
})

test('a filter with event conditions needs the scope of events, in a file too', async () => {
  const key = await tenant.keyWith('contacts:read')
  for (const path of ['/v1/contacts', '/v1/contacts/export.csv']) {
    expect((await tenant.call('GET', `${path}?${query([inRome])}`, undefined, key)).status).toBe(200)
    const refused = await tenant.call('GET', `${path}?${query([bought])}`, undefined, key)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
  }
})
