import { beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { MINUTE_MS } from '../platform/time.ts'

let service: TestService
let tenant: TestTenant
let contactId: string
let companyId: string

const now = Date.now()
/** Minutes before now. */
const ago = (minutes: number) => new Date(now - minutes * MINUTE_MS).toISOString()

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const { body } = await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })
  companyId = body.company.company_id
  const owned = { visitor_id: 'ada', company_id: companyId }
  contactId = await tenant.contact('ada@engines.example', { firstname: 'Ada' }, owned)
  const site = `https://${tenant.site}`
  const landing = `${site}/?utm_source=news&utm_medium=email&utm_campaign=a%20b`
  await tenant.track({
    visitor_id: 'ada',
    session_id: 's1',
    events: [
      { event: 'page_view', timestamp: ago(60), url: landing, title: 'Home', referrer: 'https://www.google.com/' },
      { event: 'page_leave', timestamp: ago(59), url: landing, data: { time_on_page: 60 } },
      { event: 'page_view', timestamp: ago(59), url: `${site}/pricing`, title: 'Pricing', referrer: landing },
      { event: 'button_click', timestamp: ago(58), url: `${site}/pricing`, data: { text: 'Buy' } },
      { event: 'page_leave', timestamp: ago(57.5), url: `${site}/pricing`, data: { time_on_page: 90 } },
    ],
  })
  await tenant.track({ visitor_id: 'ada', session_id: 's2', events: [{ event: 'page_view', timestamp: ago(10) }] })
  // The same session id of another visitor is another visit.
  await tenant.track({ visitor_id: 'eve', session_id: 's2', events: [{ event: 'page_view', timestamp: ago(5) }] })
  await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { lifecyclestage: 'customer' } })
})

const list = async (query: string, path = '/v1/visits') => {
  const { status, body } = await tenant.call('GET', `${path}?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const sessions = async (query: string) =>
  (await list(query)).visits.map((visit: { visitor_id: string; session_id: string }) =>
    [visit.visitor_id, visit.session_id].join(' '),
  )

test('a visit has the figures of its events, its source, its pages and its contact', async () => {
  const { visits } = await list('visitor_id=ada&session_id=s1')
  expect(visits).toEqual([
    {
      visitor_id: 'ada',
      session_id: 's1',
      started_at: ago(60),
      ended_at: ago(57.5),
      duration_seconds: 150,
      page_views: 2,
      event_count: 5,
      event_names: ['button_click', 'page_leave', 'page_view'],
      entry_url: `https://${tenant.site}/?utm_source=news&utm_medium=email&utm_campaign=a%20b`,
      entry_title: 'Home',
      exit_url: `https://${tenant.site}/pricing`,
      referrer: 'https://www.google.com/',
      referring_domain: 'google.com',
      utm_source: 'news',
      utm_medium: 'email',
      utm_campaign: 'a b',
      browser: expect.anything(),
      os: expect.anything(),
      country: null,
      region: null,
      city: null,
      device_type: expect.anything(),
      is_bot: false,
      internal_contact_id: contactId,
      contact: { _id: contactId, email: 'ada@engines.example', firstname: 'Ada', lastname: null },
      company: { _id: companyId, name: 'Engines', domain: 'engines.example' },
    },
  ])
})

test('visits are listed newest first, by page, with every filter', async () => {
  expect(await sessions('')).toEqual(['eve s2', 'ada s2', 'ada s1'])
  const second = await list('page=2&limit=2')
  expect(second.visits).toMatchObject([{ session_id: 's1' }])
  expect(second.pagination).toEqual({ page: 2, limit: 2, total_pages: 2, total_items: 3 })
  expect(await list('page=9')).toMatchObject({ visits: [], pagination: { total_items: 3 } })
  for (const [query, expected] of [
    [`contact_id=${contactId}`, ['ada s2', 'ada s1']],
    [`company_id=${companyId}`, ['ada s2', 'ada s1']],
    ['identified_only=true', ['ada s2', 'ada s1']],
    ['visitor_id=eve', ['eve s2']],
    ['session_id=s2', ['eve s2', 'ada s2']],
    [`domain=${tenant.site}`, ['ada s1']],
    ['is_bot=true', []],
    ['device_type=tv', []],
    ['browser=None', []],
    ['os=None', []],
    // The dates are those of the first event: s1 has later events.
    [`date_after=${ago(59.5)}`, ['eve s2', 'ada s2']],
    [`date_before=${ago(59.5)}`, ['ada s1']],
  ] as const) {
    expect([query, await sessions(query)]).toEqual([query, expected])
  }
  const { visits } = await list(`date_before=${ago(59.5)}`)
  expect(visits).toMatchObject([{ event_count: 5 }])
})

test('without dates, only recent visits are listed, unless a filter has an index', async () => {
  const own = await createTestTenant(service)
  const timestamp = ago(60 * 24 * 40)
  await own.track({ visitor_id: 'old', session_id: 's', events: [{ event: 'page_view', timestamp }] })
  const count = async (query: string) => (await own.call('GET', `/v1/visits?${query}`)).body.pagination.total_items
  expect(await count('')).toBe(0)
  expect(await count('visitor_id=old')).toBe(1)
  expect(await count('date_after=2020-01-01')).toBe(1)
  expect(await count(`date_before=${ago(60 * 24 * 30)}`)).toBe(1)
})

test('the timeline has visits, and the events outside visits as lines of their own', async () => {
  const kinds = async (query: string) =>
    (await list(query, '/v1/timeline')).items.map(
      (item: { visit?: { session_id: string }; event?: { event: string } }) =>
        item.visit ? item.visit.session_id : item.event?.event,
    )
  expect(await kinds(`contact_id=${contactId}`)).toEqual(['s2', 's1'])
  const all = await kinds(`contact_id=${contactId}&include=system`)
  expect(all).toEqual(
    expect.arrayContaining(['contact_created', 'contact_updated', 'lifecycle_stage_changed', 's1', 's2']),
  )
  expect(all.filter((name: string) => name.startsWith('s'))).toEqual(['s2', 's1'])
  // In pages of one, every line appears once, in the same order.
  const paged = await Promise.all(
    all.map(async (_: string, index: number) =>
      kinds(`contact_id=${contactId}&include=system&limit=1&page=${index + 1}`),
    ),
  )
  expect(paged.flat()).toEqual(all)
  expect(await list('visitor_id=nobody&page=2', '/v1/timeline')).toMatchObject({ items: [] })
})

test("another tenant's visits are not visible", async () => {
  const other = await createTestTenant(service)
  const stranger = await signedIn(service, other.id, 'viewer')
  for (const path of ['visits', 'timeline']) {
    const { body } = await stranger.call('GET', `/v1/${path}?contact_id=${contactId}`)
    expect(body.pagination.total_items).toBe(0)
  }
})
