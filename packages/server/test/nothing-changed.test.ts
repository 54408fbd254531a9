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

const FILTER = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
const PLAYBOOK = { require_approval: false, variables: { b: '1', a: '2' } }

/** What can be changed, with a body that equals the current values. */
const CHANGEABLE = [
  {
    path: '/v1/agents',
    body: { name: 'A', playbook: PLAYBOOK, monitoring: { filter: FILTER } },
    in: 'agent',
    method: 'PATCH',
  },
  {
    path: '/v1/contacts',
    body: { email: 'ada@example.com', properties: { city: 'Paris' } },
    in: 'contact',
    method: 'PUT',
  },
  { path: '/v1/companies', body: { name: 'Engines', properties: { city: 'Paris' } }, in: 'company', method: 'PUT' },
  { path: '/v1/identities', body: { firstName: 'Ada', lastName: 'L', role: 'R' }, in: 'identity', method: 'PUT' },
  { path: '/v1/segments', body: { name: 'S', filter: FILTER }, in: 'segment', method: 'PATCH' },
  {
    path: '/v1/webhooks',
    body: { event: 'page_view', url: 'https://93.184.215.14/hook' },
    in: 'webhook',
    method: 'PATCH',
  },
] as const

test.each(CHANGEABLE)('$method $path/:id without changes leaves no trace', async (changeable) => {
  const { path, body, in: name, method } = changeable
  const made = await tenant.call('POST', path, body)
  expect(made.status).toBe(201)
  const id = made.body[name]._id ?? made.body[name].subscription_id
  const read = async () => (await tenant.call('GET', `${path}/${id}`)).body[name]
  if (name === 'segment') await expect.poll(async () => (await read()).counting).toBe(false)
  const seen = async () => ({
    stored: await read(),
    audited: (await owner.call('GET', '/v1/audit-log')).body.entries,
    events: (await tenant.call('GET', '/v1/events?include=system')).body.events,
  })
  const before = await seen()
  const { event: _, email: __, role: ___, ...said } = body as Record<string, unknown>
  for (const sent of [{}, said]) {
    expect((await tenant.call(method, `${path}/${id}`, sent)).status, JSON.stringify(sent)).toBe(200)
    expect(await seen()).toEqual(before)
  }
})

test('settings that are sent unchanged, or not at all, leave no trace', async () => {
  const changes = { outreach_interval_days: 3, quiet_hours: { from: '22:00', to: '07:00' } }
  expect((await owner.call('PATCH', '/v1/agent-settings', changes)).status).toBe(200)
  const audited = async () => (await owner.call('GET', '/v1/audit-log')).body.entries
  const before = await audited()
  for (const sent of [{}, changes]) expect((await owner.call('PATCH', '/v1/agent-settings', sent)).status).toBe(200)
  expect((await tenant.call('PATCH', '/v1/tenant', {})).status).toBe(200)
  expect(await audited()).toEqual(before)
})
