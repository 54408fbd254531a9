import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let viewer: Browser

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  viewer = await signedIn(service, tenant.id, 'viewer')
})

test("a company's events are those of its contacts only", async () => {
  const { body } = await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })
  const { company_id } = body.company
  const events = `/v1/companies/${company_id}/events`
  expect((await viewer.call('GET', events)).body).toMatchObject({ events: [], pagination: { total_items: 0 } })
  await tenant.contact('ada@engines.example', {}, { visitor_id: 'ada', company_id })
  await tenant.contact('bob@engines.example', {}, { visitor_id: 'bob', company_id })
  await tenant.contact('eve@other.example', {}, { visitor_id: 'eve' })
  for (const [visitor_id, event] of [
    ['ada', 'asked'],
    ['bob', 'answered'],
    ['eve', 'listened'],
    ['nobody', 'passed'],
  ]) {
    await tenant.track({ visitor_id, events: [{ event, url: `https://${tenant.site}/` }] })
  }
  const { status, body: page } = await viewer.call('GET', `${events}?limit=1`)
  expect([status, page.pagination.total_items]).toEqual([200, 2])
  expect(page.events).toMatchObject([{ event: 'answered', company: { name: 'Engines' } }])
  expect((await viewer.call('GET', `${events}?event_type=asked`)).body.events).toMatchObject([{ event: 'asked' }])

  const other = await createTestTenant(service)
  const stranger = await signedIn(service, other.id, 'owner')
  expect((await stranger.call('GET', events)).body.error.code).toBe('not_found')
  expect((await viewer.call('GET', '/v1/companies/none/events')).status).toBe(404)
})
