import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
const ids: Record<string, string> = {}

beforeAll(async () => {
  service = await startTestService({ CDS_EVENT_FILTER_MAX_CONTACTS: '3' })
  tenant = await createTestTenant(service)
  for (const name of ['ada', 'bob', 'cyd', 'dan']) {
    const properties = { firstname: name, country: name === 'ada' ? 'UK' : 'US' }
    ids[name] = await tenant.contact(`${name}@example.com`, properties, { visitor_id: name })
  }
  const click = (visitor_id: string, data: object, at: string, path = '/pricing') =>
    tenant.track({
      visitor_id,
      events: [{ event: 'button_click', timestamp: at, url: `https://${tenant.site}${path}`, data }],
    })
  await click('ada', { text: 'Start Trial', class: 'btn Primary', id: 'go' }, '2026-01-10T12:00:00Z')
  await click('bob', { text: 'start trial now', class: 'btn', id: 'stop' }, '2026-01-20T12:00:00Z', '/Über-uns')
  await click('anonymous', { text: 'Start Trial', class: 'btn', id: 'go' }, '2026-01-20T12:00:00Z')
  await tenant.track({ visitor_id: 'cyd', events: [{ event: 'page_view', url: `https://${tenant.site}/pricing` }] })
  for (const visitor_id of ['ada', 'bob', 'cyd', 'dan']) await tenant.track({ visitor_id, events: [{ event: 'all' }] })
})
afterAll(() => service.close())

const found = async (query: string) => {
  const { body } = await tenant.call('GET', `/v1/contacts?sort_by=firstname&sort_dir=asc&${query}`)
  return body.contacts?.map((contact: { properties: { firstname: string } }) => contact.properties.firstname) ?? body
}

describe('the event filters of the contact list', () => {
  test.each([
    ['has_event_type=button_click', ['ada', 'bob']],
    ['has_event_type=nothing', []],
    ['has_event_text=Start%20Trial', ['ada']],
    ['has_event_text=start%20trial', []],
    ['has_event_text_contains=START%20TRIAL', ['ada', 'bob']],
    ['has_event_text_contains=%25', []],
    ['has_event_url_contains=PRICING', ['ada', 'cyd']],
    ['has_event_url_contains=%C3%BCBER', ['bob']],
    ['has_event_class_contains=primary', ['ada']],
    ['has_event_element_id=stop', ['bob']],
    ['has_event_type=button_click&has_event_after=2026-01-11', ['bob']],
    ['has_event_type=button_click&has_event_before=2026-01-10', ['ada']],
    ['has_event_after=2026-01-10T12:00:00Z&has_event_before=2026-01-10T12:00:00Z', ['ada']],
    // All filters apply to the same event: ada clicked on /pricing, cyd only viewed it.
    ['has_event_type=page_view&has_event_element_id=go', []],
    ['has_event_url_contains=pricing&has_event_type=page_view', ['cyd']],
    // Combined with other filters.
    ['has_event_type=button_click&country=UK', ['ada']],
    ['has_event_type=button_click&search=bob', ['bob']],
    ['has_event_type=button_click&limit=1&page=2', ['bob']],
    ["has_event_type=' OR 1=1 --", []],
  ])('%s finds %j', async (query, names) => {
    expect(await found(query)).toEqual(names)
  })

  test('work with count_only and pages', async () => {
    const { body } = await tenant.call('GET', '/v1/contacts?has_event_type=button_click&limit=1')
    expect(body.pagination).toEqual({ page: 1, limit: 1, total_pages: 2, total_items: 2 })
    const counted = await tenant.call('GET', '/v1/contacts?has_event_type=button_click&count_only=true')
    expect(counted.body).toEqual({ status: 'success', count: 2 })
  })

  test('match system events only by name', async () => {
    const { body } = await tenant.call('GET', '/v1/contacts?has_event_after=2100-01-01')
    expect(body.contacts).toEqual([])
    await tenant.call('PUT', `/v1/contacts/${ids.dan}`, { properties: { lifecyclestage: 'lead' } })
    expect(await found('has_event_type=lifecycle_stage_changed')).toEqual(['dan'])
  })

  test('that match too many contacts are rejected, with filters that narrow them', async () => {
    const { status, body } = await tenant.call('GET', '/v1/contacts?has_event_type=all')
    expect([status, body.error.code]).toEqual([400, 'event_filter_too_broad'])
    expect(body.error.message).toMatch(/has_event_after.*has_event_before/)
    const filter = { match: 'all', conditions: [{ event: { type: 'all' }, operator: 'did' }] }
    const run = await tenant.call('POST', '/v1/enrichment/runs', { filter })
    expect([run.status, run.body.error.code]).toEqual([400, 'event_filter_too_broad'])
  })

  test('require events:read and contacts:read, before validation', async () => {
    const key = await tenant.keyWith('contacts:read')
    const refused = await tenant.call('GET', '/v1/contacts?has_event_type=x&limit=0', undefined, key)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.error.message).toContain('events:read')
    expect((await tenant.call('GET', '/v1/contacts', undefined, key)).status).toBe(200)
  })

  test.each(['has_event_type=', 'has_event_after=soon', 'has_event_before=2026-13-45', 'has_event_text='])(
    '%s is 400',
    async (query) => {
      const { status, body } = await tenant.call('GET', `/v1/contacts?${query}`)
      expect([status, body.error.code]).toEqual([400, 'validation_error'])
    },
  )

  test("do not match another tenant's events", async () => {
    const stranger = await createTestTenant(service)
    await stranger.contact('ada@example.com', {}, { visitor_id: 'x' })
    const { body } = await stranger.call('GET', '/v1/contacts?has_event_type=button_click')
    expect(body.contacts).toEqual([])
  })
})
