import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { storeUnavailable } from '../platform/errors.ts'

let service: TestService
let tenant: TestTenant
let back: () => void

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
  const { clickhouse } = service.stores
  const { query, insert } = clickhouse
  const away = () => Promise.reject(storeUnavailable('ClickHouse', new Error('away')))
  Object.assign(clickhouse, { query: away, insert: away })
  back = () => Object.assign(clickhouse, { query, insert })
})
afterAll(() => service.close())

const page = (path: string) => ({ event: 'page_view', url: `https://${tenant.site}${path}` })

test("who a visitor is can be said while ClickHouse is away: its events and its first touch are the contact's", async () => {
  await tenant.track({ visitor_id: 'v', events: [page('/landing?utm_source=ads'), page('/pricing')] })
  const identified = await tenant.call('POST', '/v1/identify', { visitor_id: 'v', email: 'ada@example.com' })
  expect([identified.status, identified.body.created]).toEqual([200, true])
  const { contact_id } = identified.body
  await tenant.track({ visitor_id: 'w', events: [page('/other')] })
  const submitted = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
    headers: { origin: `https://${tenant.site}` },
    body: JSON.stringify({ visitor_id: 'w', contact_data: { email: 'bob@example.com' } }),
  })
  expect(submitted.status).toBe(200)
  expect((await tenant.call('GET', `/v1/contacts/events/${contact_id}`)).status).toBe(503)

  back()
  const read = () => tenant.call('GET', `/v1/contacts/events/${contact_id}?sort_dir=asc`)
  await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe(200)
  const { body } = await read()
  expect(body.events).toMatchObject([
    { url: `https://${tenant.site}/landing?utm_source=ads`, internal_contact_id: contact_id },
    { url: `https://${tenant.site}/pricing`, internal_contact_id: contact_id },
  ])
  const ada = (await tenant.call('GET', `/v1/contacts/${contact_id}`)).body.contact
  expect(ada.properties).toMatchObject({
    first_landing_page: `https://${tenant.site}/landing?utm_source=ads`,
    first_utm_source: 'ads',
  })
  const bob = (await tenant.call('GET', `/v1/contacts/${submitted.body.contact_id}`)).body.contact
  expect(bob.properties.first_landing_page).toBe(`https://${tenant.site}/other`)
  const all = await tenant.call('GET', `/v1/events?contact_id=${bob.contact_id}&count_only=true`)
  expect(all.body.count).toBe(2)
})
