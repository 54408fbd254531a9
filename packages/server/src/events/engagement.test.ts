import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const MINUTE_MS = 60_000
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString()

/** A page view of a visitor in a session, some minutes ago. */
async function view(visitor_id: string, session_id: string, path: string, minutes: number, title = '') {
  const url = `https://${tenant.site}${path}`
  const event = { event: 'page_view', url, title, timestamp: minutesAgo(minutes) }
  await tenant.track({ visitor_id, session_id, events: [event] })
}

const read = (id: string, key?: string) => tenant.call('GET', `/v1/contacts/${id}/engagement`, undefined, key)
const readMany = (ids: unknown) => tenant.call('POST', '/v1/batch/engagement', { contact_ids: ids })

test('a visit in which a person identified counts once, with the pages before', async () => {
  await view('v', 's1', '/pricing', 50, 'Pricing')
  await view('v', 's1', '/', 49)
  const ada = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
  await view('v', 's1', '/pricing', 40, 'Prices')
  await view('v', 's2', '/docs', 30)
  const { status, body } = await read(ada)
  expect(status).toBe(200)
  expect(body.engagement).toMatchObject({ visits: 2, page_views: 4, events: 4 })
  expect(Date.parse(body.engagement.last_seen_at)).toBeGreaterThan(Date.now() - 31 * MINUTE_MS)
  expect(body.top_pages).toEqual([
    { url_path: '/pricing', title: 'Prices', views: 2 },
    { url_path: '/', title: null, views: 1 },
    { url_path: '/docs', title: null, views: 1 },
  ])
  expect(body.first_visit).toMatchObject({ referring_domain: null, url: `https://${tenant.site}/pricing` })
  expect(Date.parse(body.first_visit.at)).toBeLessThan(Date.now() - 49 * MINUTE_MS)
  const silent = await tenant.contact('silent@example.com')
  expect((await read(silent)).body.first_visit).toBeNull()
})

test('a merged contact counts for the one that survives, and an unmerge gives it back', async () => {
  const [ada, old] = [
    await tenant.contact('ada@example.com', {}, { visitor_id: 'v' }),
    await tenant.contact('old@example.com', {}, { visitor_id: 'w' }),
  ]
  await view('v', 's1', '/', 20)
  await view('w', 's2', '/', 10)
  await tenant.call('POST', `/v1/contacts/${old}/merge`, { into: ada })
  expect((await read(ada)).body.engagement.visits).toBe(2)
  const gone = await read(old)
  expect([gone.status, gone.body.error.code]).toEqual([404, 'contact_merged'])
  await tenant.call('POST', `/v1/contacts/${old}/unmerge`)
  expect((await readMany([ada, old])).body.engagement).toMatchObject({ [ada]: { visits: 1 }, [old]: { visits: 1 } })
})

test('many contacts are read at once: unknown ones and those of another tenant are left out', async () => {
  const other = await createTestTenant(service)
  const [ada, bob] = [
    await tenant.contact('ada@example.com', {}, { visitor_id: 'v' }),
    await tenant.contact('b@example.com'),
  ]
  const foreign = await other.contact('c@example.com')
  await view('v', 's1', '/', 5)
  const { status, body } = await readMany([ada, bob.toUpperCase(), foreign, newId(), 'nope', ada])
  expect(status).toBe(200)
  expect(body.engagement).toEqual({
    [ada]: { last_seen_at: expect.any(String), visits: 1, page_views: 1, events: 1 },
    [bob]: { last_seen_at: null, visits: 0, page_views: 0, events: 0 },
  })
})

test.each([[[]], [Array(101).fill('x')], ['x'], [[7]]])('contact_ids %j is 400', async (ids) => {
  const { status, body } = await readMany(ids)
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
})

test('a stranger finds nothing, and a key needs contacts:read', async () => {
  const other = await createTestTenant(service)
  const ada = await tenant.contact('ada@example.com')
  expect((await other.call('GET', `/v1/contacts/${ada}/engagement`)).status).toBe(404)
  const { status, body } = await read(ada, await tenant.keyWith('events:read'))
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
})

test("a company has its contacts' figures together, and names the most active", async () => {
  const { company_id } = (await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' }))
    .body.company
  const of = (more: object) => ({ company_id, ...more })
  const ada = await tenant.contact('ada@engines.example', { firstname: 'Ada' }, of({ visitor_id: 'a' }))
  const bob = await tenant.contact('bob@engines.example', {}, of({ visitor_id: 'b' }))
  await tenant.contact('silent@engines.example', {}, of({}))
  await tenant.contact('other@elsewhere.example', {}, { visitor_id: 'c' })
  await view('a', 's1', '/pricing', 90, 'Pricing')
  await view('a', 's2', '/pricing', 60, 'Pricing')
  await view('b', 's3', '/docs', 30)
  await view('c', 's4', '/docs', 10)
  const path = `/v1/companies/${company_id}/engagement`
  const { status, body } = await tenant.call('GET', path)
  expect([status, body]).toMatchObject([
    200,
    {
      contacts: 3,
      engagement: { visits: 3, page_views: 3, events: 3 },
      top_pages: [
        { url_path: '/pricing', title: 'Pricing', views: 2 },
        { url_path: '/docs', title: null, views: 1 },
      ],
      most_active: [
        { contact: { _id: ada, firstname: 'Ada' }, engagement: { visits: 2 } },
        { contact: { _id: bob }, engagement: { visits: 1 } },
      ],
    },
  ])
  expect(Date.parse(body.engagement.last_seen_at)).toBeGreaterThan(Date.now() - 31 * MINUTE_MS)
  const empty = (await tenant.call('POST', '/v1/companies', { name: 'Empty' })).body.company
  expect((await tenant.call('GET', `/v1/companies/${empty.company_id}/engagement`)).body).toMatchObject({
    contacts: 0,
    engagement: { last_seen_at: null, visits: 0 },
    top_pages: [],
    most_active: [],
  })
  const stranger = await createTestTenant(service)
  expect((await stranger.call('GET', path)).status).toBe(404)
  const key = await tenant.keyWith('companies:read')
  expect((await tenant.call('GET', path, undefined, key)).status).toBe(403)
})
