import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const submit = (body: unknown, headers: Record<string, string> = {}, form = 'contact-us', tenantId = tenant.id) =>
  call(service, 'POST', `/v1/public/form-submission/${tenantId}/${form}`, {
    headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const contactOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include=provenance`)).body

test('a submission creates the contact and the company, and links them', async () => {
  const response = await submit({
    contact_data: {
      email: ' Ada@Example.com',
      firstName: 'Ada',
      jobTitle: 'Analyst',
      plan: 'pro',
      city: '',
      state: null,
    },
    company_data: { domain: 'www.Acme.com', name: 'Acme', numberOfEmployees: 12 },
  })
  expect(response.status).toBe(200)
  const { contact } = await contactOf(response.body.contact_id)
  expect(contact).toMatchObject({
    creation_source: 'form',
    company_id: response.body.company_id,
    properties: { email: 'ada@example.com', firstname: 'Ada', jobtitle: 'Analyst', plan: 'pro' },
    properties_provenance: { firstname: { source: 'form' } },
  })
  expect(contact.properties).not.toHaveProperty('city')
  const company = await tenant.call('GET', `/v1/companies/${response.body.company_id}`)
  expect(company.body.company).toMatchObject({
    domain: 'acme.com',
    name: 'Acme',
    properties: { numberofemployees: 12 },
  })
  const again = await submit({ contact_data: { email: 'bob@acme.com' }, company_data: { domain: 'acme.com' } })
  expect(again.body.company_id).toBe(response.body.company_id)
})

test.each([
  [{ visitor_id: null, company_data: null }],
  [{ visitor_id: '', company_data: {} }],
  [{ company_data: { domain: '', name: null } }],
  [{ visitor_id: ' ', company_data: { domain: ' ', name: '\t' } }],
])('%j beside the contact counts as absent, and the lead is stored', async (blank) => {
  for (let n = 0; n < 7; n++) {
    const { status, body } = await submit({ contact_data: { email: `ada${n}@example.com` }, ...blank })
    expect([status, body.company_id]).toEqual([200, null])
  }
  expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(7)
})

test.each(['undefined', 'null', 'none', ' N/A ', '{{company.domain}}'])(
  'a company domain %j leaves out the company with a warning, and the lead is stored',
  async (domain) => {
    const company_data = { domain, name: 'Acme' }
    const { status, body } = await submit({ contact_data: { email: 'ada@example.com' }, company_data })
    expect([status, body.company_id]).toEqual([200, null])
    expect(body.warnings).toEqual([expect.stringMatching(/^ignored_id: company_data\.domain /)])
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(0)
    expect((await contactOf(body.contact_id)).contact.properties.email).toBe('ada@example.com')
  },
)

test('fields may nest one level', async () => {
  const { body } = await submit({
    contact_data: { email: 'ada@example.com', address: { city: 'Köln', zip: '' } },
    company_data: { domain: 'acme.com', address: { city: 'Bonn' } },
  })
  const { contact } = await contactOf(body.contact_id)
  expect(contact.properties['address.city']).toBe('Köln')
  const { company } = (await tenant.call('GET', `/v1/companies/${body.company_id}`)).body
  expect(company.properties).toEqual({ 'address.city': 'Bonn' })
})

test('a form fills the blanks of an existing contact, as the source form; blank fields change nothing', async () => {
  const id = await tenant.contact('ada@example.com', { firstname: 'Ada', city: 'London' })
  const response = await submit({
    contact_data: { email: 'ADA@example.com', firstname: 'Augusta', city: '', plan: 'pro' },
  })
  const warnings = [expect.stringContaining('contact_data.firstname')]
  expect(response.body).toEqual({ status: 'success', contact_id: id, company_id: null, warnings })
  const { contact, unified_profile } = await contactOf(id)
  expect(contact.properties).toMatchObject({ firstname: 'Ada', city: 'London', plan: 'pro' })
  expect(contact.creation_source).toBe('manual')
  expect(unified_profile.profile.firstname).toMatchObject({ has_conflict: true, all_sources: ['manual', 'form'] })
})

test("it links the visitor, moves the visitor's earlier events, and records a form_submission", async () => {
  await tenant.track({ visitor_id: 'v', events: [{ event: 'before', url: `https://${tenant.site}/` }] })
  const page = `https://${tenant.site}/contact`
  const { body } = await submit({ visitor_id: 'v', contact_data: { email: 'ada@example.com' } }, { referer: page })
  await tenant.track({ visitor_id: 'v', events: [{ event: 'after' }] })
  const { body: list } = await tenant.call('GET', `/v1/events?contact_id=${body.contact_id}&sort_dir=asc`)
  expect(list.events.map(({ event }: { event: string }) => event)).toEqual(['before', 'form_submission', 'after'])
  expect(list.events[1]).toMatchObject({
    url: page,
    domain: tenant.site,
    visitor_id: 'v',
    browser: 'Chrome',
    data: { form_id: 'contact-us', fields: ['email'] },
    internal_contact_id: body.contact_id,
  })
})

test('concurrent submissions of one new person create one contact', async () => {
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      submit({
        visitor_id: `v${n}`,
        contact_data: { email: 'ada@example.com' },
        company_data: { domain: 'acme.com' },
      }),
    ),
  )
  expect(new Set(responses.map(({ body }) => body.contact_id)).size).toBe(1)
  expect(new Set(responses.map(({ body }) => body.company_id)).size).toBe(1)
})

describe('who may submit', () => {
  const body = { contact_data: { email: 'ada@example.com' } }

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['no page', { origin: '' }],
    ['a site with a similar name', { origin: 'https://notexample.com' }],
    ['an opaque origin', { origin: 'null' }],
  ])('%s is 403', async (_, headers) => {
    const response = await submit(body, headers)
    expect([response.status, response.body.error.code]).toEqual([403, 'domain_not_allowed'])
  })

  test("a tenant's site may not submit to another tenant, nor to one that does not exist", async () => {
    const other = await createTestTenant(service)
    for (const id of [other.id, '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', 'nonsense']) {
      const response = await submit(body, {}, 'f', id)
      expect([response.status, response.body.error.code]).toEqual([403, 'domain_not_allowed'])
    }
    expect((await other.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
  })

  test('a subdomain, or only a Referer, is accepted', async () => {
    expect((await submit(body, { origin: `https://www.${tenant.site}` })).status).toBe(200)
    const headers = { referer: `https://${tenant.site}/page` }
    const path = `/v1/public/form-submission/${tenant.id}/f`
    const response = await call(service, 'POST', path, { headers, body: JSON.stringify(body) })
    expect(response.status).toBe(200)
  })

  test('a preflight from the site succeeds, one from another site fails', async () => {
    const preflight = (origin: string) =>
      call(service, 'OPTIONS', `/v1/public/form-submission/${tenant.id}/f`, {
        headers: { origin, 'access-control-request-method': 'POST' },
      })
    const allowed = await preflight(`https://${tenant.site}`)
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get('access-control-allow-origin')).toBe(`https://${tenant.site}`)
    const refused = await preflight('https://evil.example')
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })
})

describe('bad bodies', () => {
  test.each([
    ['{', 'invalid_json', ''],
    [{}, 'validation_error', 'contact_data'],
    [{ contact_data: {} }, 'validation_error', 'contact_data.email'],
    [{ contact_data: { email: 'a@' } }, 'validation_error', 'contact_data.email'],
    [{ contact_data: { email: 5 } }, 'validation_error', 'contact_data.email'],
    [{ contact_data: [] }, 'validation_error', 'contact_data'],
    [{ contact_data: { email: 'a@example.com', x: { y: {} } } }, 'validation_error', 'contact_data.x.y'],
    [
      { contact_data: { email: 'a@example.com', lifecycleStage: 'x' } },
      'validation_error',
      'contact_data.lifecyclestage',
    ],
    [
      { contact_data: { email: 'a@example.com' }, company_data: { name: 'Acme' } },
      'validation_error',
      'company_data.domain',
    ],
    [
      { contact_data: { email: 'a@example.com' }, company_data: { domain: '@' } },
      'validation_error',
      'company_data.domain',
    ],
    [{ contact_data: { email: 'a@example.com' }, visitor_id: 7 }, 'validation_error', 'visitor_id'],
    [{ contact_data: { email: 'a@example.com' }, more: 1 }, 'validation_error', 'more'],
  ])('%j is 400 %s naming %s, and nothing is written', async (body, code, path) => {
    const response = await submit(body)
    expect([response.status, response.body.error.code]).toEqual([400, code])
    if (path) expect(response.body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(0)
  })

  test('300 KB are 413, another content type is 415, a long form id is 400', async () => {
    const big = await submit({ contact_data: { email: 'a@example.com', x: 'x'.repeat(300_000) } })
    expect([big.status, big.body.error.code]).toEqual([413, 'body_too_large'])
    const xml = await submit('<a/>', { 'content-type': 'application/xml' })
    expect(xml.status).toBe(415)
    const long = await submit({ contact_data: { email: 'a@example.com' } }, {}, 'f'.repeat(201))
    expect([long.status, long.body.error.code]).toEqual([400, 'validation_error'])
  })
})

test('a long number is kept as text and one that is too large is left out; what cannot be stored is 400', async () => {
  const sent = '{"contact_data":{"email":"exact@example.com","account":1234567890123456781,"huge":1e400}}'
  const { status, body } = await submit(sent)
  expect([status, body.warnings]).toEqual([
    200,
    [
      'contact_data.account was kept as text: as a number, it would lose digits.',
      'contact_data.huge was left out: it is a number that is too large to be stored.',
    ],
  ])
  const { contact } = await contactOf(body.contact_id)
  expect(contact.properties).toMatchObject({ account: '1234567890123456781' })
  const refused = await submit('{"contact_data":{"email":"nul@example.com","note":"a\\u0000"}}')
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'contact_data.note'])
  expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(1)
})
