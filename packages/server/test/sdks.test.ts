import { beforeAll, describe, expect, test } from 'vitest'
import { type Fault, startFaultyProxy } from './faulty-proxy.ts'
import { COUNTED, count, counted, PER_REQUEST, SDKS } from './sdks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'
import { createSource } from './sources.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

/** Five requests' worth: with those that are sent again, two meet a fault. */
const NUMBERS = COUNTED.slice(0, 5 * PER_REQUEST)
const countedIn = (tenant: TestTenant) => counted(async (path) => (await tenant.call('GET', path)).body)

// At the same time, because the SDKs mostly wait before they try again.
describe.concurrent.each(SDKS)("%s's SDK for Node", (_name, sdk) => {
  test('identifies people, and their events are theirs', async () => {
    const tenant = await createTestTenant(service)
    const analytics = sdk(await createSource(tenant, 'server'), service.url)
    const traits = { email: 'ada@example.com', firstName: 'Ada', plan: 'pro', address: { city: 'Rome' } }
    analytics.identify({ userId: 'user-42', traits })
    analytics.track({ userId: 'user-42', event: 'Order Completed', properties: { total: 49.9 } })
    expect(await analytics.end()).toEqual([])
    const contact = await tenant.contactOf('ada@example.com')
    expect(contact.properties).toMatchObject({ firstname: 'Ada', plan: 'pro', 'address.city': 'Rome' })
    const { events } = (await tenant.call('GET', `/v1/contacts/events/${contact.contact_id}`)).body
    expect(events).toMatchObject([{ event: 'Order Completed', data: { total: 49.9 } }])
    expect(Math.abs(Date.parse(events[0].timestamp) - Date.now())).toBeLessThan(60_000)
  })

  test('keeps the time of what happened years ago', async () => {
    const tenant = await createTestTenant(service)
    const analytics = sdk(await createSource(tenant, 'server'), service.url)
    const timestamp = new Date('2019-05-05T10:00:00.000Z')
    analytics.track({ userId: 'user-42', event: 'Order Completed', properties: { total: 49.9 }, timestamp })
    expect(await analytics.end()).toEqual([])
    const { events } = (await tenant.call('GET', '/v1/events')).body
    expect(events).toMatchObject([{ event: 'Order Completed', timestamp: timestamp.toISOString() }])
  })

  test('makes no contact of the user id "undefined"', async () => {
    const tenant = await createTestTenant(service)
    const analytics = sdk(await createSource(tenant, 'server'), service.url)
    for (const city of ['Rome', 'Oslo']) {
      const nobody = { userId: String(undefined), anonymousId: city }
      analytics.identify({ ...nobody, traits: { city } })
      analytics.track({ ...nobody, event: 'Order Completed', properties: { city } })
    }
    expect(await analytics.end()).toEqual([])
    for (const city of ['Rome', 'Oslo']) {
      const { events } = (await tenant.call('GET', `/v1/events?visitor_id=${city}`)).body
      expect(events).toMatchObject([{ internal_contact_id: null, data: { city } }])
    }
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(0)
  })

  test.each<[string, Fault]>([
    ['500', { at: 'before', status: 500 }],
    ['503 after the calls were recorded', { at: 'after', status: 503 }],
    ['a connection that is cut before the service has the request', { at: 'before', status: 'cut' }],
    ['a connection that is cut before the response', { at: 'after', status: 'cut' }],
    ['429', { at: 'before', status: 429, headers: { 'retry-after': '1' } }],
  ])('loses and doubles none of the calls by %s', async (_what, fault) => {
    const tenant = await createTestTenant(service)
    const proxy = await startFaultyProxy(service.url)
    proxy.plan = (nth) => (nth % 4 === 1 ? fault : null)
    try {
      expect(await count(sdk(await createSource(tenant, 'server'), proxy.url), NUMBERS)).toEqual([])
    } finally {
      await proxy.close()
    }
    expect(proxy.faults).toBeGreaterThan(1)
    expect(await countedIn(tenant)).toEqual(NUMBERS)
  })

  test.each<[string, number]>([
    ['400', 400],
    ['401', 401],
    ['413', 413],
  ])('reports and drops what is rejected with %s, and does not send it again', async (_what, status) => {
    const tenant = await createTestTenant(service)
    const proxy = await startFaultyProxy(service.url)
    proxy.plan = (nth) => (nth === 2 ? { at: 'before', status } : null)
    try {
      const errors = await count(sdk(await createSource(tenant, 'server'), proxy.url), NUMBERS)
      expect(new Set(errors.map((error) => /\d{3}/.exec(error)?.[0]))).toEqual(new Set([String(status)]))
    } finally {
      await proxy.close()
    }
    const arrived = await countedIn(tenant)
    expect(new Set(arrived).size).toBe(arrived.length)
    expect(NUMBERS.length - arrived.length).toBe(PER_REQUEST)
  })

  test('with an unknown key reports it, and sends nothing twice', async () => {
    const tenant = await createTestTenant(service)
    const proxy = await startFaultyProxy(service.url)
    try {
      const errors = await count(sdk('wk_unknown', proxy.url), NUMBERS)
      expect(errors.join()).toContain('401')
      expect(proxy.requests).toBeLessThanOrEqual(6)
    } finally {
      await proxy.close()
    }
    expect(await countedIn(tenant)).toEqual([])
  })
})
