import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let segmentId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  const filter = {
    match: 'any',
    conditions: [
      { property: 'plan', operator: 'equals', value: 'pro' },
      { event: { type: 'pricing_asked' }, operator: 'did' },
    ],
  }
  const { body } = await tenant.call('POST', '/v1/segments', { name: 'Hot', filter })
  segmentId = body.segment.segment_id
})

const read = (query = '', key?: string) =>
  tenant.call('GET', `/v1/segments/${segmentId}/changes?${query}`, undefined, key)

test('says who entered and left, the latest first, and what changed just before', async () => {
  const ada = await tenant.contact('ada@example.com', { plan: 'free', firstname: 'Ada' }, { visitor_id: 'v' })
  await expect
    .poll(async () => (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment.counting)
    .toBe(false)
  await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { plan: 'pro' } })
  await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { plan: 'free', city: 'Bonn' } })
  const bob = await tenant.contact('bob@example.com', {}, { visitor_id: 'w' })
  await tenant.track({ visitor_id: 'w', events: [{ event: 'pricing_asked', url: `https://${tenant.site}/pricing` }] })
  await expect.poll(async () => (await read()).body.pagination.total_items, { timeout: 20_000 }).toBe(3)
  const { status, body } = await read()
  expect(status).toBe(200)
  expect(body.changes).toMatchObject([
    { change: 'entered', contact_id: bob, after: { event: 'pricing_asked', url: `https://${tenant.site}/pricing` } },
    { change: 'left', contact_id: ada, after: { event: 'contact_updated' } },
    { change: 'entered', contact_id: ada, contact: { firstname: 'Ada' }, after: { event: 'contact_updated' } },
  ])
  expect(body.changes[1].after.properties.toSorted()).toEqual(['city', 'plan'])
  expect(body.changes[1].after.values).toEqual({ plan: 'free', city: 'Bonn' })
  expect(body.changes[2].after).toMatchObject({ properties: ['plan'], values: { plan: 'pro' } })
  expect(body.changes[0].after.values).toEqual({})
  const second = await read('limit=1&page=2')
  expect(second.body.changes).toEqual([body.changes[1]])
  const beyond = await read('limit=1&page=9')
  expect([beyond.body.changes, beyond.body.pagination.total_items]).toEqual([[], 3])
})

test('a contact that was deleted is not named', async () => {
  const ada = await tenant.contact('ada@example.com', { plan: 'pro' })
  await expect.poll(async () => (await read()).body.pagination.total_items, { timeout: 20_000 }).toBe(1)
  await tenant.call('DELETE', `/v1/contacts/${ada}`)
  const { body } = await read()
  expect(body.changes.at(-1)).toMatchObject({ change: 'entered', contact_id: null, contact: null })
})

test('a stranger finds nothing, and reading needs contacts:read and events:read too', async () => {
  const other = await createTestTenant(service)
  expect((await other.call('GET', `/v1/segments/${segmentId}/changes`)).status).toBe(404)
  const { status, body } = await read('', await tenant.keyWith('segments:read'))
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
})
