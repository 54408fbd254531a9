import { beforeAll, describe, expect, test } from 'vitest'
import { signedIn } from './people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

describe('null for an optional field counts as absent', () => {
  test.each<[string, string, object]>([
    ['POST', '/v1/contacts', { email: 'null@example.com', properties: null, visitor_id: null, company_id: null }],
    ['POST', '/v1/companies', { domain: 'null.example', name: null, properties: null }],
    ['POST', '/v1/identify', { user_id: 'u', visitor_id: null, email: null, properties: null }],
    ['POST', '/v1/agents', { name: 'n', description: null, capabilities: null, monitoring: null, enabled: null }],
    ['POST', '/v1/aggregate', { entity: 'contacts', group_by: 'city', filters: { country: null }, metric: null }],
    ['POST', '/v1/aggregate', { entity: 'events', group_by: 'day', filters: null, limit: null, include: null }],
    ['POST', '/v1/sources/crm/contacts', { kind: null, records: [{ external_id: '1', email: null, raw: null }] }],
  ])('%s %s %j', async (method, path, body) => {
    const response = await tenant.call(method, path, body)
    expect(response.body.status, JSON.stringify(response.body)).toBe('success')
    expect(response.body.failed ?? 0).toBe(0)
  })

  test('in requests of the tracker', async () => {
    const event = { event: 'x', event_id: null, timestamp: null, url: null, title: null, referrer: null, data: null }
    const response = await tenant.track({
      visitor_id: null,
      session_id: null,
      external_contact_id: null,
      identify: null,
      user_hash: null,
      context: null,
      sent_at: null,
      events: [event],
    })
    expect([response.status, response.body.accepted]).toEqual([200, 1])
    expect(response.body).not.toHaveProperty('warnings')
    const claim = { external_user_id: null, traits: { email: 'claimed@example.com' } }
    const named = await tenant.track({ visitor_id: 'v', user_hash: null, identify: claim })
    expect(named.body).not.toHaveProperty('warnings')
    const recovered = await tenant.track({ events: null, identify: { external_user_id: 'u2', traits: null } })
    expect([recovered.status, recovered.body.warnings]).toEqual([200, undefined])
  })

  test("in the dashboard's own calls, and in a filter", async () => {
    const person = await signedIn(service, tenant.id, 'owner')
    const condition = { event: { type: 'x', text: null, within_days: null, min_count: null }, operator: 'did' }
    const filter = { match: 'all', conditions: [condition] }
    const made = await person.call('POST', '/v1/segments', { name: 'n', description: null, filter })
    expect(made.status).toBe(201)
    const path = `/v1/segments/${made.body.segment._id}`
    const changed = await person.call('PATCH', path, { name: 'other', filter: null, description: null })
    expect(changed.body.segment).toMatchObject({ name: 'other', filter: made.body.segment.filter })
  })
})

describe('null has its own meaning', () => {
  test('if it clears something: a property, the company', async () => {
    const company = (await tenant.call('POST', '/v1/companies', { domain: 'kept.example' })).body.company.company_id
    const id = await tenant.contact('cleared@example.com', { city: 'Köln', plan: 'pro' }, { company_id: company })
    const path = `/v1/contacts/${id}`
    const absent = await tenant.call('PUT', path, { properties: { city: null }, visitor_id: null })
    expect(absent.body.contact).toMatchObject({ properties: { plan: 'pro' }, company_id: company })
    expect(absent.body.contact.properties).not.toHaveProperty('city')
    const without = await tenant.call('PUT', path, { company_id: null, properties: null })
    expect(without.body.contact).toMatchObject({ properties: { plan: 'pro' }, company_id: null })
    const unnamed = await tenant.call('PUT', `/v1/companies/${company}`, { name: 'Kept' })
    expect(unnamed.body.company.name).toBe('Kept')
    expect((await tenant.call('PUT', `/v1/companies/${company}`, { name: null })).body.company.name).toBeNull()
  })

  test('for a required field, and instead of the whole body', async () => {
    expect((await tenant.call('POST', '/v1/contacts', { email: null })).status).toBe(400)
    expect((await tenant.call('PUT', `/v1/contacts/${tenant.id}`, { properties: { email: null } })).status).toBe(400)
    expect((await tenant.call('POST', '/v1/contacts', null)).status).toBe(400)
  })

  test('in the data of an event', async () => {
    const { body } = await tenant.track({ events: [{ event: 'with_null', data: { a: null } }] })
    expect(body.accepted).toBe(1)
    const { body: events } = await tenant.call('GET', '/v1/events?event_type=with_null')
    expect(events.events[0].data).toEqual({ a: null })
  })
})
