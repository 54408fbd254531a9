import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from './people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant
let owner: Browser

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  owner = await signedIn(service, tenant.id, 'owner')
})

const FILTER = { match: 'all', conditions: [] }
const REPORT = { kind: 'trend', question: { series: [{}] } }
const VIEW = { page: 'contacts', query: {}, columns: [] }

/** Everything with a name: where it is created and changed, and the field of the response. */
const NAMED = [
  { path: '/v1/agents', field: 'name', in: 'agent', change: 'PATCH', id: 'agent_id' },
  { path: '/v1/companies', field: 'name', in: 'company', change: 'PUT', id: 'company_id' },
  {
    path: '/v1/identities',
    field: 'firstName',
    more: { lastName: 'L', role: 'R' },
    in: 'identity',
    change: 'PUT',
    id: 'identity_id',
  },
  { path: '/v1/segments', field: 'name', more: { filter: FILTER }, in: 'segment', change: 'PATCH', id: 'segment_id' },
  { path: '/v1/views', field: 'name', more: VIEW, same: VIEW, in: 'view', change: 'PUT', id: 'view_id' },
  { path: '/v1/reports', field: 'name', more: REPORT, in: 'report', change: 'PATCH', id: 'report_id' },
  { path: '/v1/dashboards', field: 'name', in: 'dashboard', change: 'PATCH', id: 'dashboard_id' },
  { path: '/v1/api-keys', field: 'name', more: { scopes: ['events:read'] } },
  { path: '/api/tenants', field: 'name' },
] as const

test.each(NAMED)('a blank $field is 400 at $path, and white space around a name is removed', async (named) => {
  const call = (method: string, path: string, body: object) =>
    named.path.startsWith('/v1') ? tenant.call(method, path, body) : owner.call(method, path, body)
  const sent = 'more' in named ? named.more : {}
  for (const blank of ['', '   ', '\t\n', '\u00a0\u3000']) {
    const { status, body } = await call('POST', named.path, { ...sent, [named.field]: blank })
    expect([status, body.error?.details?.[0]?.path], JSON.stringify(blank)).toEqual([400, named.field])
  }
  const made = await call('POST', named.path, { ...sent, [named.field]: '  Ada & Co  ' })
  expect(made.status).toBe(201)
  if (!('change' in named)) return
  expect(made.body[named.in][named.field]).toBe('Ada & Co')
  const path = `${named.path}/${made.body[named.in][named.id]}`
  const same = 'same' in named ? named.same : {}
  const blank = await call(named.change, path, { ...same, [named.field]: '  ' })
  expect([blank.status, blank.body.error?.details?.[0]?.path]).toEqual([400, named.field])
  const renamed = await call(named.change, path, { ...same, [named.field]: ' Bob ' })
  expect(renamed.body[named.in][named.field]).toBe('Bob')
})

test('a form with a blank company name sets no name', async () => {
  const contact_data = { email: 'ada@example.com' }
  const submit = async (name: string) => {
    const response = await fetch(`${service.url}/v1/public/form-submission/${tenant.id}/signup`, {
      method: 'POST',
      headers: { origin: `https://${tenant.site}`, 'content-type': 'application/json' },
      body: JSON.stringify({ contact_data, company_data: { domain: 'blank.example', name } }),
    })
    const { company_id } = (await response.json()) as { company_id: string }
    return (await tenant.call('GET', `/v1/companies/${company_id}`)).body.company.name
  }
  expect(await submit('   ')).toBeNull()
  expect(await submit(' Blank ')).toBe('Blank')
})
