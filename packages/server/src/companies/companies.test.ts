import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

async function create(body: object) {
  const response = await tenant.call('POST', '/v1/companies', body)
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.company
}

const emails = (body: { contacts: { properties: { email: string } }[] }) =>
  body.contacts.map(({ properties }) => properties.email)
const names = (body: { companies: { name: string }[] }) => body.companies.map(({ name }) => name)

test('a company is created, read, changed and deleted', async () => {
  const company = await create({
    domain: 'https://www.Acme.com/about',
    name: 'Acme',
    properties: { industry: 'Steel' },
  })
  expect(company).toMatchObject({ domain: 'acme.com', name: 'Acme', properties: { industry: 'Steel' } })
  expect(company._id).toBe(company.company_id)
  const path = `/v1/companies/${company.company_id}`
  expect((await tenant.call('GET', path)).body.company).toEqual(company)
  const changed = await tenant.call('PUT', path, { name: 'ACME', properties: { industry: null, country: 'US' } })
  expect(changed.body.company).toMatchObject({ name: 'ACME', domain: 'acme.com', properties: { country: 'US' } })
  expect(changed.body.company.properties).not.toHaveProperty('industry')
  const contact = await tenant.contact('ada@acme.com', {}, { company_id: company.company_id })
  expect((await tenant.call('DELETE', path)).body).toEqual({
    status: 'success',
    deleted: true,
    company_id: company.company_id,
  })
  expect((await tenant.call('GET', path)).body.error.code).toBe('not_found')
  const { body } = await tenant.call('GET', `/v1/contacts/${contact}`)
  expect(body.contact.company_id).toBeNull()
})

test('a contact is added to a company and removed from it', async () => {
  const { company_id } = await create({ domain: 'acme.com' })
  const id = await tenant.contact('ada@acme.com')
  const given = await tenant.call('PUT', `/v1/contacts/${id}`, { company_id })
  expect(given.body.contact).toMatchObject({ company_id, associations: { companies: [company_id] } })
  const listed = await tenant.call('GET', `/v1/contacts?company_id=${company_id}`)
  expect(listed.body.pagination.total_items).toBe(1)
  const removed = await tenant.call('PUT', `/v1/contacts/${id}`, { company_id: null })
  expect(removed.body.contact).toMatchObject({ company_id: null, associations: { companies: [] } })
  const stranger = await createTestTenant(service)
  const theirs = await stranger.contact('eve@acme.com')
  const refused = await stranger.call('PUT', `/v1/contacts/${theirs}`, { company_id })
  expect([refused.status, refused.body.error.code]).toEqual([400, 'unknown_company'])
})

describe("a company's contacts", () => {
  test('are listed newest first, by page, as the list of contacts shows them', async () => {
    const { company_id } = await create({ domain: 'acme.com' })
    const other = await create({ domain: 'other.com' })
    const path = `/v1/companies/${company_id}/contacts`
    expect((await tenant.call('GET', path)).body).toEqual({
      status: 'success',
      contacts: [],
      pagination: { page: 1, limit: 20, total_pages: 0, total_items: 0 },
    })
    for (const name of ['ada', 'bob', 'cid']) await tenant.contact(`${name}@acme.com`, {}, { company_id })
    await tenant.contact('eve@other.com', {}, { company_id: other.company_id })
    await tenant.contact('nobody@example.com')
    const { body } = await tenant.call('GET', path)
    expect(emails(body)).toEqual(['cid@acme.com', 'bob@acme.com', 'ada@acme.com'])
    expect(body.contacts).toEqual((await tenant.call('GET', `/v1/contacts?company_id=${company_id}`)).body.contacts)
    const last = (await tenant.call('GET', `${path}?page=2&limit=2`)).body
    expect(emails(last)).toEqual(['ada@acme.com'])
    expect(last.pagination).toEqual({ page: 2, limit: 2, total_pages: 2, total_items: 3 })
  })

  test('of a deleted company are 404', async () => {
    const { company_id } = await create({ domain: 'acme.com' })
    await tenant.call('DELETE', `/v1/companies/${company_id}`)
    const { status, body } = await tenant.call('GET', `/v1/companies/${company_id}/contacts`)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  })

  test('finds a domain in any spelling', async () => {
    await create({ name: 'Books', domain: 'bücher.example' })
    await create({ name: 'Other', domain: 'other.example' })
    const list = async (query: string) => names((await tenant.call('GET', `/v1/companies?${query}`)).body)
    const spellings = ['bücher.example', 'BÜCHER.example', 'xn--bcher-kva.example', 'https://www.bu\u0308cher.example/']
    for (const spelling of spellings) {
      expect(await list(`domain=${encodeURIComponent(spelling)}`)).toEqual(['Books'])
      const filterOf = (operator: string, value: unknown) =>
        `filter=${encodeURIComponent(JSON.stringify({ match: 'all', conditions: [{ property: 'domain', operator, value }] }))}`
      expect(await list(filterOf('equals', spelling))).toEqual(['Books'])
      expect(await list(filterOf('not_equals', spelling))).toEqual(['Other'])
      expect(await list(filterOf('in', [spelling]))).toEqual(['Books'])
      expect(await list(filterOf('contains', 'bücher'))).toEqual(['Books'])
    }
  })

  test.each(['limit=0', 'limit=101', 'page=0'])('%s is 400', async (query) => {
    const { company_id } = await create({ domain: 'acme.com' })
    const { status, body } = await tenant.call('GET', `/v1/companies/${company_id}/contacts?${query}`)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
  })
})

test('a domain is unique per tenant', async () => {
  const first = await create({ domain: 'acme.com' })
  const again = await tenant.call('POST', '/v1/companies', { domain: 'ACME.com' })
  expect([again.status, again.body.error.code]).toEqual([409, 'company_domain_taken'])
  expect(again.body.error.details).toEqual([{ path: 'company_id', message: first.company_id }])
  const other = await create({ domain: 'other.com' })
  const renamed = await tenant.call('PUT', `/v1/companies/${other.company_id}`, { domain: 'WWW.renamed.com' })
  expect(renamed.body.company.domain).toBe('renamed.com')
  const moved = await tenant.call('PUT', `/v1/companies/${other.company_id}`, { domain: 'acme.com' })
  expect([moved.status, moved.body.error.code]).toEqual([409, 'company_domain_taken'])
  tenant = await createTestTenant(service)
  await create({ domain: 'acme.com' })
})

describe('the list', () => {
  test('filters, searches, sorts and pages', async () => {
    const place = { country: 'US', state: 'Ohio' }
    const beta = { industry: 'Steel', numberofemployees: '20', ...place }
    await create({ name: 'Beta', domain: 'beta.example', properties: beta })
    await create({ name: 'alpha', domain: 'alpha.example', properties: { industry: 'Steel', numberofemployees: 200 } })
    await create({ domain: 'nameless.example', properties: { numberofemployees: 'many' } })
    const list = async (query: string) => names((await tenant.call('GET', `/v1/companies?${query}`)).body)
    expect(await list('')).toEqual([null, 'alpha', 'Beta'])
    expect(await list('sort_by=name&sort_dir=asc')).toEqual(['alpha', 'Beta', null])
    expect(await list('sort_by=name&sort_dir=desc')).toEqual(['Beta', 'alpha', null])
    expect(await list('industry=Steel&sort_by=name&sort_dir=asc')).toEqual(['alpha', 'Beta'])
    expect(await list('min_employees=20&max_employees=20')).toEqual(['Beta'])
    expect(await list('domain=ALPHA.example')).toEqual(['alpha'])
    expect(await list('name=Beta')).toEqual(['Beta'])
    expect(await list('name=beta')).toEqual([])
    expect(await list('country=US&state=Ohio')).toEqual(['Beta'])
    expect(await list('country=US&state=Iowa')).toEqual([])
    expect(await list('created_after=2020-01-01&created_before=2020-01-02')).toEqual([])
    expect(await list('created_after=2020-01-01&created_before=2100-01-01')).toHaveLength(3)
    expect(await list('search=example%20ALP')).toEqual(['alpha'])
    expect(await list('search=%25')).toEqual([])
    const page = await tenant.call('GET', '/v1/companies?limit=2&page=2')
    expect(page.body.pagination).toEqual({ page: 2, limit: 2, total_pages: 2, total_items: 3 })
    expect((await tenant.call('GET', '/v1/companies?count_only=1&industry=Steel')).body).toEqual({
      status: 'success',
      count: 2,
    })
  })

  test.each(['limit=0', 'limit=101', 'page=0', 'sort_by=domain', 'min_employees=x', 'created_after=soon'])(
    '%s is 400',
    async (query) => {
      const { status, body } = await tenant.call('GET', `/v1/companies?${query}`)
      expect([status, body.error.code]).toEqual([400, 'validation_error'])
    },
  )
})

test.each([
  [{}, 'domain'],
  [{ domain: 'no domain' }, 'domain'],
  [{ domain: '10.0.0.1' }, 'domain'],
  [{ domain: 7 }, 'domain'],
  [{ name: '' }, 'name'],
  [{ name: '  ' }, 'name'],
  [{ name: 'x', properties: { domain: 'x.com' } }, 'properties.domain'],
  [{ name: 'x', properties: { a: { b: 1 } } }, 'properties.a'],
  [{ name: 'x', nonsense: 1 }, 'nonsense'],
])('creating %j is 400 and names %s', async (body, path) => {
  const response = await tenant.call('POST', '/v1/companies', body)
  expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  expect(response.body.error.details[0].path).toBe(path)
})

describe('a company must have a name or a domain', () => {
  const put = (id: string, body: object) => tenant.call('PUT', `/v1/companies/${id}`, body)

  test.each([
    ['its only one', { domain: 'acme.com' }, { domain: null }, 'domain'],
    ['its only one, with something else', { name: 'Acme' }, { name: null, properties: { country: 'US' } }, 'name'],
    ['both at once', { name: 'Acme', domain: 'acme.com' }, { name: null, domain: null }, 'name'],
    ['the one and a blank for the other', { name: 'Acme', domain: 'acme.com' }, { name: '  ', domain: null }, 'name'],
    ['one of them as a property', { name: 'Acme' }, { properties: { name: null } }, 'properties.name'],
  ])('removing %s is 400, and writes nothing', async (_, body, changes, place) => {
    const company = await create(body)
    const { status, body: refused } = await put(company.company_id, changes)
    expect([status, refused.error?.code]).toEqual([400, 'validation_error'])
    expect(refused.error.details[0].path).toBe(place)
    expect((await tenant.call('GET', `/v1/companies/${company.company_id}`)).body.company).toEqual(company)
  })

  test('removing one while setting the other is allowed', async () => {
    const { company_id } = await create({ domain: 'acme.com' })
    expect((await put(company_id, { name: 'Acme', domain: null })).body.company).toMatchObject({
      name: 'Acme',
      domain: null,
    })
    expect((await put(company_id, { domain: 'acme.com', name: null })).status).toBe(200)
  })

  test('two concurrent requests cannot remove both', async () => {
    for (let round = 0; round < 5; round++) {
      const { company_id } = await create({ name: `Acme ${round}`, domain: `acme${round}.com` })
      const responses = await Promise.all([put(company_id, { name: null }), put(company_id, { domain: null })])
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400])
      const { company } = (await tenant.call('GET', `/v1/companies/${company_id}`)).body
      expect([company.name, company.domain].filter((value) => value !== null)).toHaveLength(1)
    }
  })
})
