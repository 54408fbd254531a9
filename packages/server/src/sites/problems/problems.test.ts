import { beforeAll, beforeEach, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { deleteOldProblems } from './record.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const problemsOf = async (whose: TestTenant, query = '') => {
  const { body } = await whose.call('GET', `/v1/tracker/problems${query}`)
  return body
}

/** Sends a request as a page does. */
const send = (path: string, body: unknown, host = tenant.site, type = 'text/plain') =>
  call(service, 'POST', path, {
    headers: { origin: `https://${host}`, 'content-type': type, 'user-agent': CHROME },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

test('a rejected batch is listed with its reason and its body', async () => {
  const sent = { visitor_id: 'v1', events: [{ event: 'page_view' }, { event: '' }] }
  expect((await send('/track', sent)).status).toBe(400)
  await until(async () => expect((await problemsOf(tenant)).problems).toHaveLength(1))
  const { problems, pagination } = await problemsOf(tenant)
  expect(pagination.total_items).toBe(1)
  expect(problems[0]).toEqual({
    problem_id: expect.any(String),
    at: expect.any(String),
    method: 'POST',
    path: '/track',
    status: 400,
    code: 'validation_error',
    messages: [expect.stringMatching(/^events\[1\]\.event: /)],
    page_host: tenant.site,
    domain_to_add: null,
    visitor_id: 'v1',
    user_agent: CHROME,
    body: JSON.stringify(sent),
    skipped: 0,
  })
})

test('a request that is accepted with warnings is listed, one that is accepted without is not', async () => {
  expect((await tenant.track({ visitor_id: 'v1', events: [{ event: 'page_view' }] })).status).toBe(200)
  const warned = await tenant.track({ visitor_id: 'v1', events: [], identify: { traits: { email: 'no address' } } })
  expect(warned.status).toBe(200)
  await until(async () => expect((await problemsOf(tenant)).problems).toHaveLength(1))
  const { problems } = await problemsOf(tenant)
  expect(problems[0]).toMatchObject({ status: 200, code: 'warnings', messages: warned.body.warnings })
})

test('rejected form submissions, broken JSON and NUL characters are listed', async () => {
  await send(
    `/v1/public/form-submission/${tenant.id}/f`,
    { contact_data: { email: 'x' } },
    tenant.site,
    'application/json',
  )
  await send('/track', '{"visitor_id": ')
  await send('/track', { visitor_id: 'a\0b', events: [] })
  await until(async () => expect((await problemsOf(tenant)).problems).toHaveLength(3))
  const { problems } = await problemsOf(tenant)
  expect(problems.map(({ path }: { path: string }) => path).sort()).toEqual([
    '/track',
    '/track',
    `/v1/public/form-submission/${tenant.id}/f`,
  ])
  expect((await problemsOf(tenant, '?limit=1&page=2')).problems).toEqual([problems[1]])
})

test('a tenant that added a domain sees that its pages send, but not what; one that verified it sees everything; others see nothing', async () => {
  const adding = await createTestTenant(service)
  const host = `added-${tenant.site}`
  await adding.call('POST', '/v1/domains', { domain: host })
  expect((await send('/track', { visitor_id: 'secret', events: [{ event: 'page_view' }] }, `www.${host}`)).status).toBe(
    403,
  )
  await until(async () => expect((await problemsOf(adding)).problems).toHaveLength(1))
  const [problem] = (await problemsOf(adding)).problems
  expect(problem).toMatchObject({
    code: 'domain_not_allowed',
    status: 403,
    page_host: `www.${host}`,
    visitor_id: null,
    body: null,
  })
  await send('/track', { events: 'none' })
  await until(async () => expect((await problemsOf(tenant)).problems).toHaveLength(1))
  expect((await problemsOf(adding)).problems).toEqual([problem])
})

test("a form's tenant sees that an unknown page submitted to it, and an unknown tenant in the path harms nothing", async () => {
  const body = { contact_data: { email: 'a@example.com' } }
  const unknown = '01980000-0000-7000-8000-000000000000'
  for (const id of [tenant.id, unknown, 'no-id']) {
    const path = `/v1/public/form-submission/${id}/f`
    expect((await send(path, body, `elsewhere-${tenant.site}`, 'application/json')).status).toBe(403)
  }
  await until(async () => expect((await problemsOf(tenant)).problems).toHaveLength(1))
  expect((await problemsOf(tenant)).problems[0]).toMatchObject({ code: 'domain_not_allowed', body: null })
})

test('a sample of a flood is kept, with the number of the others', async () => {
  await Promise.all(Array.from({ length: 60 }, () => send('/track', '[]')))
  await until(async () => {
    const { problems } = await problemsOf(tenant, '?limit=100')
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.length).toBeLessThan(60)
    expect(Math.max(...problems.map(({ skipped }: { skipped: number }) => skipped))).toBeGreaterThan(0)
  })
})

test('problems are deleted after an hour, and with the erasure of a contact', async () => {
  const database = service.stores.database
  const count = async () => (await problemsOf(tenant)).problems.length
  await send('/track', '[]')
  await until(async () => expect(await count()).toBe(1))
  await deleteOldProblems(database, new Date(Date.now() + 59 * MINUTE_MS))
  expect(await count()).toBe(1)
  const id = await tenant.contact('gone@example.com')
  expect((await tenant.call('POST', '/v1/erasures', { contact_id: id })).status).toBe(202)
  await until(async () => expect(await count()).toBe(0))
  await send('/track', '[]')
  await until(async () => expect(await count()).toBe(1))
  await deleteOldProblems(database, new Date(Date.now() + 61 * MINUTE_MS))
  expect(await count()).toBe(0)
})

test('rejected writes of contacts with an API key are listed, other requests are not', async () => {
  const stranger = await createTestTenant(service)
  const missing = { properties: { city: 'Rome' } }
  const writes: [path: string, body: object][] = [
    ['/v1/contacts', missing],
    ['/v1/identify', { email: 'no address' }],
    ['/v1/sources/crm/contacts', { records: 'none' }],
  ]
  for (const [path, body] of writes) expect((await tenant.call('POST', path, body)).status, path).toBe(400)
  await tenant.call('POST', '/v1/companies', {})
  await tenant.call('POST', '/v1/contacts', { email: 'ada@example.com' })
  await until(async () => expect((await problemsOf(tenant)).problems).toHaveLength(3))
  const { problems } = await problemsOf(tenant)
  const listed = problems.map(({ path, body }: { path: string; body: string }) => [path, JSON.parse(body)])
  expect(new Map(listed)).toEqual(new Map(writes))
  for (const problem of problems) {
    expect(problem).toMatchObject({ status: 400, code: 'validation_error', page_host: null })
    expect(problem.messages.length).toBeGreaterThan(0)
  }
  expect((await problemsOf(stranger)).problems).toEqual([])
})
