import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { MINUTE_MS } from '../../platform/time.ts'

interface Problem {
  page_host: string
  domain_to_add: string | null
  path: string
  skipped: number
}

const problemsOf = async (tenant: TestTenant): Promise<Problem[]> =>
  (await tenant.call('GET', '/v1/tracker/problems?limit=100')).body.problems
const hostsOf = async (tenant: TestTenant) => new Set((await problemsOf(tenant)).map((problem) => problem.page_host))

/** Loads the script as a page does. */
const load = (service: TestService, host: string, query = '', scheme = 'https') =>
  fetch(`${service.url}/tracker.js${query}`, { headers: { referer: `${scheme}://${host}/`, 'user-agent': CHROME } })

const track = (service: TestService, host: string) =>
  call(service, 'POST', '/track', {
    headers: { origin: `https://${host}`, 'content-type': 'text/plain', 'user-agent': CHROME },
    body: JSON.stringify({ visitor_id: 'secret', events: [{ event: 'page_view' }] }),
  })

describe('a page of a domain that nobody added', () => {
  let service: TestService
  let tenant: TestTenant
  let stranger: TestTenant
  beforeAll(async () => {
    service = await sharedService()
    tenant = await createTestTenant(service)
    stranger = await createTestTenant(service)
  })

  test('is listed for the tenant in the URL of the script, without personal data, until the domain is added', async () => {
    const host = `new-${tenant.site}`
    expect((await load(service, host, `?tenant=${tenant.id.toUpperCase()}`)).status).toBe(200)
    await until(async () => expect(await problemsOf(tenant)).toHaveLength(1))
    expect((await problemsOf(tenant))[0]).toEqual({
      problem_id: expect.any(String),
      at: expect.any(String),
      method: 'GET',
      path: '/tracker.js',
      status: 200,
      code: 'domain_not_allowed',
      messages: [`${host} is not one of your verified domains. Add and verify it in the settings.`],
      page_host: host,
      domain_to_add: host,
      visitor_id: null,
      user_agent: '',
      body: null,
      skipped: 0,
    })
    expect(await problemsOf(stranger)).toEqual([])
    await tenant.call('POST', '/v1/domains', { domain: host })
    expect(await problemsOf(tenant)).toMatchObject([{ page_host: host, domain_to_add: null }])
  })

  test('is listed for the tenant that added it with www, and for no other', async () => {
    const own = await createTestTenant(service)
    const host = `bare-${own.site}`
    await own.call('POST', '/v1/domains', { domain: `www.${host}` })
    expect((await track(service, host)).status).toBe(403)
    await until(async () => expect(await hostsOf(own)).toEqual(new Set([host])))
    expect(await problemsOf(own)).toMatchObject([{ path: '/track', domain_to_add: host }])
    expect(await hostsOf(stranger)).toEqual(new Set())
  })

  test('is listed for nobody if several tenants might be meant, or the tenant named does not exist', async () => {
    const [nobody, marker] = [`nobody-${tenant.site}`, `marker-${tenant.site}`]
    await load(service, nobody)
    await load(service, nobody, '?tenant=01980000-0000-7000-8000-000000000000')
    for (const query of ['?tenant=x', '?tenant=a&tenant=b', "?tenant='", '?tenant=']) {
      expect((await load(service, nobody, query)).status, query).toBe(200)
    }
    await load(service, marker, `?tenant=${tenant.id}`)
    await until(async () => expect(await hostsOf(tenant)).toContain(marker))
    for (const each of [tenant, stranger]) expect(await hostsOf(each)).not.toContain(nobody)
  })

  test('is offered only if it can be a domain', async () => {
    const own = await createTestTenant(service)
    const hosts = ['github.io', '[2001:db8::1]', `fine-${own.site}`]
    for (const host of hosts) await load(service, host, `?tenant=${own.id}`)
    await until(async () => expect(await hostsOf(own)).toEqual(new Set(hosts)))
    const toAdd = (await problemsOf(own)).map((problem) => problem.domain_to_add).filter((host) => host !== null)
    expect(toAdd).toEqual([`fine-${own.site}`])
  })
})

describe('on a service with one tenant', () => {
  let service: TestService
  let tenant: TestTenant
  let now = new Date()
  beforeAll(async () => {
    service = await startTestService({ CDS_PUBLIC_URL: 'https://cds.example' }, { clock: () => now })
    tenant = await createTestTenant(service)
  })
  afterAll(() => service.close())

  test('a page of any host is listed, once a minute, with the number of the other loads', async () => {
    for (let n = 0; n < 4; n++) await load(service, 'shop.test')
    await track(service, 'shop.test')
    await until(async () => expect(await problemsOf(tenant)).toMatchObject([{ page_host: 'shop.test', skipped: 0 }]))
    now = new Date(now.getTime() + MINUTE_MS)
    await load(service, 'shop.test')
    await until(async () => expect(await problemsOf(tenant)).toHaveLength(2))
    expect((await problemsOf(tenant))[0]).toMatchObject({ page_host: 'shop.test', skipped: 4 })
  })

  test('a local page is listed, but cannot be added to a service that others reach', async () => {
    await load(service, 'localhost', '', 'http')
    await until(async () => expect(await hostsOf(tenant)).toContain('localhost'))
    const [local] = (await problemsOf(tenant)).filter((problem) => problem.page_host === 'localhost')
    expect(local?.domain_to_add).toBeNull()
  })

  test('a stranger who invents hosts fills neither the list nor the database, and hides no problem', async () => {
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 60 }, (_, n) => load(service, `flood-${round}-${n}.test`)))
      await call(service, 'POST', '/track', {
        headers: { origin: `https://${tenant.site}`, 'content-type': 'text/plain' },
        body: '[]',
      })
      // Longer than the round in which problems are written.
      await new Promise((resolve) => setTimeout(resolve, 1_200))
    }
    const problems = await problemsOf(tenant)
    const refused = new Set(problems.filter(({ path }) => path === '/tracker.js').map(({ page_host }) => page_host))
    expect(refused.size).toBe(20)
    expect(problems.filter(({ page_host }) => page_host === tenant.site)).toHaveLength(3)
    const rows = await service.stores.database.selectFrom('request_problems').selectAll().execute()
    expect(rows.length).toBeLessThan(30)
  })
})
