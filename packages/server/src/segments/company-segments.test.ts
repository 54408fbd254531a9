import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  belongs,
  companies,
  companyFilters,
  loadCompanies,
  loadPeople,
  NOW,
  peopleOf,
  staffOf,
} from '../../test/conditions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { matchingCompanies } from '../companies/list.ts'
import { eventsOf } from '../conditions/language.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { queryEventsOfCompanies } from './company-events.ts'
import { companyContextOf, parseCompanyFilter } from './company-filters.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const all = (...conditions: object[]) => ({ match: 'all', conditions })
const is = (property: string, value: unknown, operator = 'equals') => ({ property, operator, value })
const did = (event: object, operator = 'did') => ({ event, operator })

async function define(filter: object, entity = 'companies'): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/segments', { name: 'Segment', entity, filter })
  expect([status, body.error]).toEqual([201, undefined])
  return body.segment.segment_id
}
async function company(name: string, properties: object = {}): Promise<string> {
  const { body } = await tenant.call('POST', '/v1/companies', { name, domain: `${name}.example`, properties })
  return body.company.company_id
}
async function namesIn(segmentId: string): Promise<string[] | null> {
  const { body } = await tenant.call('GET', `/v1/segments/${segmentId}/companies?limit=100`)
  return body.counting ? null : body.companies.map(({ name }: { name: string }) => name).sort()
}
/** Memberships follow within seconds. */
const eventually = (segmentId: string, names: string[]) =>
  expect.poll(() => namesIn(segmentId), { interval: 100, timeout: 60_000 }).toEqual(names)
const person = (name: string, more: Record<string, unknown> = {}) =>
  tenant.contact(`${name}@nowhere.example`, more, { visitor_id: `${tenant.id}-${name}` })
const move = (contactId: string, companyId: string | null) =>
  tenant.call('PUT', `/v1/contacts/${contactId}`, { company_id: companyId })
const act = (name: string, event: string, data: object = {}) =>
  tenant.call('POST', '/v1/events', { events: [{ visitor_id: `${tenant.id}-${name}`, event, data }] })

/** Any filter of companies, compiled for PostgreSQL and ClickHouse, selects the same ones as the simple implementation. */
test('the compiled filter selects the same random companies as the simple implementation', async () => {
  const seed = 20_260_310
  const some = fc.sample(companies, { numRuns: 25, seed })
  const persons = fc.sample(peopleOf(some), { numRuns: 120, seed })
  await loadCompanies(tenant, some)
  await loadPeople(service, tenant, persons)
  const ids = some.map(({ companyId }) => companyId)
  const staffs = some.map((each) => staffOf(each, persons))
  let members = 0
  await fc.assert(
    fc.asyncProperty(fc.array(companyFilters, { minLength: 10, maxLength: 10 }), async (sent) => {
      const filters = sent.map((each) => parseCompanyFilter(JSON.parse(JSON.stringify(each))))
      const results = await queryEventsOfCompanies(tenant.handle, filters.flatMap(eventsOf), ids, NOW)
      for (const filter of filters) {
        const condition = compileFilter(filter, {
          ...companyContextOf(NOW, 'UTC'),
          hasEvents: (match) => results.hasEvents(match),
        })
        const rows = await matchingCompanies(tenant.handle, { condition }).select('company_id').execute()
        const expected = staffs.filter((each) => belongs(filter, each)).map(({ companyId }) => companyId)
        expect(rows.map(({ company_id }) => company_id).sort(), JSON.stringify(filter)).toEqual(expected.sort())
        members += expected.length
      }
    }),
    { numRuns: 30, seed },
  )
  // Not all of the filters were of everybody or nobody.
  expect(members).toBeGreaterThan(300)
  expect(members).toBeLessThan(300 * some.length)
})

describe('members follow', () => {
  test('what changes in a company, and a new company', async () => {
    const steel = await define(all(is('industry', 'Steel')))
    await eventually(steel, [])
    const alpha = await company('alpha', { industry: 'Steel' })
    await company('beta')
    await eventually(steel, ['alpha'])
    await tenant.call('PUT', `/v1/companies/${alpha}`, { properties: { industry: 'Wool' } })
    await eventually(steel, [])
    await tenant.call('PUT', `/v1/companies/${alpha}`, { properties: { industry: ['Wool', 'Steel'] } })
    await eventually(steel, ['alpha'])
    expect((await tenant.call('GET', `/v1/segments/${steel}`)).body.segment).toMatchObject({
      entity: 'companies',
      company_count: 1,
      contact_count: null,
    })
    await tenant.call('DELETE', `/v1/companies/${alpha}`)
    await eventually(steel, [])
    expect((await tenant.call('GET', `/v1/segments/${steel}`)).body.segment.company_count).toBe(0)
  })

  test('contacts that join, leave, merge and are deleted, with their events', async () => {
    const [alpha, beta] = [await company('alpha'), await company('beta')]
    const [ann, bob, cy] = [await person('ann'), await person('bob'), await person('cy')]
    await act('ann', 'order_paid', { total: 60 })
    await act('bob', 'order_paid', { total: 50 })
    const pairs = await define(all(is('contact_count', 2, 'gte')))
    const big = await define(all(did({ measure: { function: 'sum', property: 'data.total', ...over(100) } })))
    const nobodyPaid = await define(all(did({ type: 'order_paid', count: { operator: 'equals', value: 0 } })))
    await eventually(nobodyPaid, ['alpha', 'beta'])
    await move(ann, alpha)
    await eventually(nobodyPaid, ['beta'])
    await eventually(big, [])
    await move(bob, alpha)
    // What one contact did is not enough, what both did is.
    await eventually(big, ['alpha'])
    await eventually(pairs, ['alpha'])
    await move(bob, beta)
    await eventually(big, [])
    await eventually(pairs, [])
    await eventually(nobodyPaid, [])
    await move(bob, alpha)
    await move(cy, beta)
    await eventually(pairs, ['alpha'])
    await eventually(nobodyPaid, ['beta'])
    // The events of the contact that is merged are the survivor's.
    const merged = await tenant.call('POST', `/v1/contacts/${bob}/merge`, { into: ann })
    expect(merged.body.error).toBeUndefined()
    await eventually(pairs, [])
    await eventually(big, ['alpha'])
    await move(ann, beta)
    await eventually(big, ['beta'])
    await eventually(nobodyPaid, ['alpha'])
    await tenant.call('DELETE', `/v1/contacts/${ann}`)
    await eventually(big, [])
    await eventually(nobodyPaid, ['alpha', 'beta'])
  })

  test('an event of any contact, one that a visitor had before it was known, and a sequence by two contacts', async () => {
    const alpha = await company('alpha')
    await move(await person('ann'), alpha)
    await move(await person('bob'), alpha)
    const within = { value: 1, unit: 'day' }
    const bought = await define(
      all({ sequence: [{ type: 'asked' }, { type: 'paid' }], within, operator: 'did' }, did({ type: 'seen' })),
    )
    await eventually(bought, [])
    await act('ann', 'asked')
    await act('bob', 'paid')
    const visitor = `${tenant.id}-phone`
    await tenant.track({ visitor_id: visitor, events: [{ event: 'seen', url: `https://${tenant.site}/` }] })
    await eventually(bought, [])
    await tenant.call('POST', '/v1/identify', { visitor_id: visitor, email: 'bob@nowhere.example' })
    await eventually(bought, ['alpha'])
  })

  test('contacts follow how many their company has', async () => {
    const alpha = await company('alpha')
    await move(await person('ann'), alpha)
    const filter = all(is('company.contact_count', 2, 'gte'))
    const colleagues = await define(filter, 'contacts')
    const count = async () => (await tenant.call('GET', `/v1/segments/${colleagues}`)).body.segment.contact_count
    await expect.poll(count, { timeout: 60_000 }).toBe(0)
    await move(await person('bob'), alpha)
    await expect.poll(count, { timeout: 60_000 }).toBe(2)
    const query = encodeURIComponent(JSON.stringify(filter))
    expect((await tenant.call('GET', `/v1/contacts?count_only=true&filter=${query}`)).body.count).toBe(2)
  })
})

const over = (value: number) => ({ operator: 'gt', value })

test('segments of companies name each other, and no segment of contacts', async () => {
  await company('alpha', { industry: 'Steel' })
  await company('beta')
  const steel = await define(all(is('industry', 'Steel')))
  const others = await define(all(is('segment', [steel.toUpperCase()], 'not_in')))
  await eventually(others, ['beta'])
  await tenant.call('PATCH', `/v1/segments/${steel}`, { filter: all(is('name', 'beta')) })
  await eventually(others, ['alpha'])
  const people = await define(all(is('city', 'Rome')), 'contacts')
  const send = (method: 'POST' | 'PATCH', path: string, body: object) => tenant.call(method, path, body)
  const naming = (id: string) => ({ name: 'x', filter: all(is('segment', [id], 'in')) })
  const { name: _, ...changed } = naming(others)
  for (const [{ status, body }, code, words] of [
    [await send('POST', '/v1/segments', naming(steel)), 'unknown_segment', 'segment of companies'],
    [await send('POST', '/v1/segments', { ...naming(people), entity: 'companies' }), 'unknown_segment', 'of contacts'],
    [await send('POST', '/v1/segments/preview', { filter: naming(steel).filter }), 'unknown_segment', 'of companies'],
    [await send('PATCH', `/v1/segments/${steel}`, changed), 'segment_circle', 'leads back'],
    [await send('PATCH', `/v1/segments/${steel}`, { entity: 'contacts' }), 'validation_error', 'entity'],
    [await tenant.call('DELETE', `/v1/segments/${steel}`), 'segment_in_use', 'uses this one'],
    [await tenant.call('GET', `/v1/companies?segment_id=${people}`), 'unknown_segment', 'segment of companies'],
    [await tenant.call('GET', `/v1/contacts?segment_id=${steel}`), 'unknown_segment', 'segment of contacts'],
  ] as const) {
    expect([status, body.error?.code, words]).toEqual([code === 'segment_in_use' ? 409 : 400, code, words])
    expect(body.error.message).toContain(words)
  }
  expect((await tenant.call('DELETE', `/v1/segments/${others}`)).status).toBe(200)
  expect((await tenant.call('DELETE', `/v1/segments/${steel}`)).status).toBe(200)
})

test('a route of the other members says which one to call', async () => {
  const [ofCompanies, ofContacts] = [await define(all()), await define(all(), 'contacts')]
  for (const [id, part, route] of [
    [ofCompanies, 'contacts', `GET /v1/segments/${ofCompanies}/companies`],
    [ofCompanies, 'growth', `GET /v1/segments/${ofCompanies}/companies`],
    [ofCompanies, 'changes', `GET /v1/segments/${ofCompanies}/companies`],
    [ofContacts, 'companies', `GET /v1/segments/${ofContacts}/contacts`],
  ]) {
    const { status, body } = await tenant.call('GET', `/v1/segments/${id}/${part}`)
    expect([status, body.error.code]).toEqual([400, 'wrong_entity'])
    expect(body.error.message).toContain(route)
  }
  const stranger = await createTestTenant(service)
  expect((await stranger.call('GET', `/v1/segments/${ofCompanies}/companies`)).status).toBe(404)
})

test('companies in a segment are listed page by page, and in the list of companies', async () => {
  for (const name of ['a', 'b', 'c']) await company(name, { industry: 'Steel' })
  const steel = await define(all(is('industry', 'Steel')))
  await eventually(steel, ['a', 'b', 'c'])
  const pages = await Promise.all(
    [1, 2, 3].map((page) => tenant.call('GET', `/v1/segments/${steel}/companies?limit=2&page=${page}`)),
  )
  expect(pages.map(({ body }) => body.companies.map(({ name }: { name: string }) => name))).toEqual([
    ['c', 'b'],
    ['a'],
    [],
  ])
  expect(pages[0]?.body).toMatchObject({
    segment_name: 'Segment',
    counting: false,
    companies: [{ name: 'c', domain: 'c.example', properties: { industry: 'Steel' } }, {}],
    pagination: { page: 1, limit: 2, total_pages: 2, total_items: 3 },
  })
  const { body } = await tenant.call('GET', `/v1/companies?segment_id=${steel}&name=b`)
  expect(body.companies).toMatchObject([{ name: 'b' }])
})

describe('a filter of companies with events', () => {
  const FILTER = all(did({ type: 'paid', min_count: 2 }), is('contact_count', 2))
  beforeEach(async () => {
    const [alpha, beta] = [await company('alpha', { industry: 'Steel' }), await company('beta')]
    for (const [name, companyId] of [
      ['ann', alpha],
      ['bob', alpha],
      ['cy', beta],
    ] as const) {
      await move(await person(name), companyId)
      await act(name, 'paid')
    }
  })
  const asQuery = encodeURIComponent(JSON.stringify(FILTER))

  test('is accepted by lists, files, previews, aggregation and bulk changes', async () => {
    const listed = await tenant.call('GET', `/v1/companies?filter=${asQuery}`)
    expect(listed.body.companies).toMatchObject([{ name: 'alpha' }])
    const preview = await tenant.call('POST', '/v1/segments/preview', { entity: 'companies', filter: FILTER })
    expect(preview.body).toMatchObject({ count: 1, sample: [], companies: [{ name: 'alpha' }] })
    const counted = { entity: 'companies', group_by: 'industry', where: FILTER.conditions }
    expect((await tenant.call('POST', '/v1/aggregate', counted)).body.buckets).toEqual([{ key: 'Steel', value: 1 }])
    const set = { properties: { tier: 'gold' } }
    const changed = await tenant.call('POST', '/v1/companies/bulk', { matching: { filter: FILTER }, set })
    expect(changed.body).toMatchObject({ done: 1, failed: [] })
    const gold = await tenant.call(
      'GET',
      `/v1/companies?filter=${encodeURIComponent(JSON.stringify(all(is('tier', 'gold'))))}`,
    )
    expect(gold.body.companies).toMatchObject([{ name: 'alpha' }])
  })

  test('needs the scope of events', async () => {
    const key = await tenant.keyWith('companies:read', 'segments:read', 'segments:write', 'companies:write')
    for (const [method, path, body] of [
      ['GET', `/v1/companies?filter=${asQuery}`],
      ['GET', `/v1/companies/export.csv?filter=${asQuery}`],
      ['POST', '/v1/segments', { name: 'x', entity: 'companies', filter: FILTER }],
      ['POST', '/v1/segments/preview', { entity: 'companies', filter: FILTER }],
      ['POST', '/v1/aggregate', { entity: 'companies', group_by: 'industry', where: FILTER.conditions }],
      ['POST', '/v1/companies/bulk', { matching: { filter: FILTER }, delete: true }],
    ] as const) {
      const refused = await tenant.call(method, path, body, key)
      expect([path, refused.status, refused.body.error?.message]).toEqual([
        path,
        403,
        expect.stringContaining('events:read'),
      ])
    }
  })

  test.each([
    [did({ where: [is('contact.city', 'Rome')] }), 'only the event itself is compared'],
    [is('contact_count', 'x', 'contains'), 'operator'],
    [is('segment', ['x'], 'in'), 'must be a list of ids of segments'],
    [is('segment', 'x', 'equals'), 'must be one of in, not_in'],
  ])('is refused if it cannot be: %j', async (condition, words) => {
    const sent = { entity: 'companies', filter: all(condition) }
    const { status, body } = await tenant.call('POST', '/v1/segments/preview', sent)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(JSON.stringify(body.error)).toContain(words)
  })
})
