import { beforeAll, describe, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

describe('creating', () => {
  test('returns the whole contact, with its email trimmed and in lower case', async () => {
    const sent = { email: '  Ada@Example.COM ', properties: { firstname: 'Ada', tags: ['a', 1, true], age: 36 } }
    const { status, body } = await tenant.call('POST', '/v1/contacts', sent)
    expect(status).toBe(201)
    expect(body.contact).toMatchObject({
      properties: { email: 'ada@example.com', firstname: 'Ada', tags: ['a', 1, true], age: 36 },
      associations: { companies: [] },
      company_id: null,
      segment_ids: [],
      creation_source: 'manual',
      notes: [],
    })
    expect(body.contact._id).toBe(body.contact.contact_id)
    expect(body.contact.contact_id).toMatch(/^[0-9a-f-]{14}7/)
    expect(body.contact.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(body).not.toHaveProperty('warnings')
  })

  test('an email is unique per tenant, and the conflict names its contact', async () => {
    const id = await tenant.contact('taken@example.com')
    const { status, body } = await tenant.call('POST', '/v1/contacts', { email: 'TAKEN@example.com' })
    expect(status).toBe(409)
    expect(body.error.code).toBe('contact_email_taken')
    expect(body.error.details).toEqual([{ path: 'contact_id', message: id }])
    const other = await createTestTenant(service)
    await other.contact('taken@example.com')
  })

  test('repeated with the same Idempotency-Key, returns the same contact instead of a conflict', async () => {
    const create = () =>
      call(service, 'POST', '/v1/contacts', {
        headers: { authorization: `Bearer ${tenant.key}`, 'idempotency-key': 'create-once' },
        body: JSON.stringify({ email: 'once@example.com' }),
      })
    const [first, second] = [await create(), await create()]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
  })

  test('of concurrent requests with the same email, one creates it and the others get a conflict that names it', async () => {
    const responses = await Promise.all(
      Array.from({ length: 12 }, () => tenant.call('POST', '/v1/contacts', { email: 'race@example.com' })),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(11).fill(409)])
    const winner = responses.find(({ status }) => status === 201)?.body.contact.contact_id
    const losers = responses.filter(({ status }) => status === 409)
    for (const { body } of losers) expect(body.error.details[0].message).toBe(winner)
  })

  test.each([
    ['no email', {}, 'email'],
    ['a malformed email', { email: 'a@' }, 'email'],
    ['an email of another type', { email: 7 }, 'email'],
    ['an unknown field', { email: 'x@example.com', nmae: 'x' }, 'nmae'],
    [
      'another email in the properties',
      { email: 'x@example.com', properties: { email: 'y@example.com' } },
      'properties.email',
    ],
    ['a nested property', { email: 'x@example.com', properties: { a: { b: 1 } } }, 'properties.a'],
    ['a list of lists', { email: 'x@example.com', properties: { a: [[1]] } }, 'properties.a'],
    [
      'an unknown stage',
      { email: 'x@example.com', properties: { lifecyclestage: 'Lead' } },
      'properties.lifecyclestage',
    ],
    [
      'a key of 129 characters',
      { email: 'x@example.com', properties: { ['k'.repeat(129)]: 1 } },
      `properties.${'k'.repeat(128)}`,
    ],
    ['an empty key', { email: 'x@example.com', properties: { '': 1 } }, 'properties.'],
    [
      '501 keys',
      { email: 'x@example.com', properties: Object.fromEntries([...Array(501).keys()].map((k) => [k, k])) },
      'properties',
    ],
    ['an ill-formed company', { email: 'x@example.com', company_id: 'nope' }, 'company_id'],
    ['a visitor id of 201 characters', { email: 'x@example.com', visitor_id: 'v'.repeat(201) }, 'visitor_id'],
    ['properties that are a list', { email: 'x@example.com', properties: [] }, 'properties'],
  ])('%s is 400 and names the place', async (_name, body, path) => {
    const response = await tenant.call('POST', '/v1/contacts', body)
    expect(response.status).toBe(400)
    expect(response.body.error.code).toBe('validation_error')
    expect(response.body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
    const { body: after } = await tenant.call('GET', '/v1/contacts?search=x@example.com&count_only=true')
    expect(after.count).toBe(0)
  })

  test('the company must belong to the tenant', async () => {
    const other = await createTestTenant(service)
    const companyId = newId()
    const row = {
      company_id: companyId,
      domain: 'acme.example',
      name: 'Acme',
      created_at: new Date(),
      updated_at: new Date(),
    }
    await other.handle.db.insertInto('companies').values(row).execute()
    const { status, body } = await tenant.call('POST', '/v1/contacts', {
      email: 'c@example.com',
      company_id: companyId,
    })
    expect([status, body.error.code]).toEqual([400, 'unknown_company'])
    const own = await other.call('POST', '/v1/contacts', { email: 'c@example.com', company_id: companyId })
    expect(own.body.contact.associations).toEqual({ companies: [companyId] })
  })
})

describe('reading', () => {
  test('returns a contact with summary, unified profile, and on request provenance and raw data', async () => {
    const id = await tenant.contact('grace@example.com', {
      firstname: 'Grace',
      lastname: 'Hopper',
      jobtitle: 'Admiral',
      company: 'Navy',
      industry: 'Defence',
      city: 'Arlington',
      country: 'US',
      lifecyclestage: 'customer',
    })
    const { body } = await tenant.call('GET', `/v1/contacts/${id}?include=provenance,raw`)
    expect(body.contact._summary).toBe('Grace Hopper | Admiral | at Navy | Defence | Arlington, US | Stage: customer')
    expect(body.contact.properties_provenance.firstname.source).toBe('manual')
    expect(body.unified_profile).toMatchObject({
      _id: id,
      source_count: 1,
      raw_data: { manual: { lastname: 'Hopper' } },
    })
    expect(body.unified_profile.profile.firstname).toMatchObject({
      unique_values: [{ value: 'Grace', sources: [{ source: 'manual' }] }],
      all_sources: ['manual'],
      has_conflict: false,
    })
    expect(body).toMatchObject({ events: [], total_events: 0 })
    const plain = await tenant.call('GET', `/v1/contacts/${id}?include_events=false&events_limit=nonsense`)
    expect(plain.status).toBe(200)
    expect(plain.body).not.toHaveProperty('events')
    expect(plain.body).not.toHaveProperty('total_events')
    expect(plain.body.contact).not.toHaveProperty('properties_provenance')
    expect(plain.body.unified_profile).not.toHaveProperty('raw_data')
  })

  test.each([
    ['events_limit=0'],
    ['events_limit=51'],
    ['events_limit=x'],
    ['include=everything'],
    ['include_events=yes'],
  ])('%s is 400', async (query) => {
    const id = await tenant.contact(`${newId()}@example.com`)
    const { status, body } = await tenant.call('GET', `/v1/contacts/${id}?${query}`)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
  })

  test.each([[newId()], ['nope'], ['%00'], ["'; DROP TABLE contacts; --"], ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f60711']])(
    'the id %s is 404',
    async (id) => {
      const { status, body } = await tenant.call('GET', `/v1/contacts/${encodeURIComponent(id)}`)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    },
  )
})

describe('changing', () => {
  test('properties are merged, null removes a key, and provenance follows', async () => {
    const id = await tenant.contact('merge@example.com', { a: 1, b: 2 })
    const { body } = await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { b: null, c: 3 } })
    expect(body.contact.properties).toEqual({ email: 'merge@example.com', a: 1, c: 3 })
    const read = await tenant.call('GET', `/v1/contacts/${id}?include=provenance&include_events=false`)
    expect(Object.keys(read.body.contact.properties_provenance).sort()).toEqual(['a', 'c', 'email'])
    expect(Object.keys(read.body.unified_profile.profile).sort()).toEqual(['a', 'c', 'email'])
  })

  test('a change without effect does not change updated_at', async () => {
    const id = await tenant.contact('same@example.com', { a: 1 })
    const before = await tenant.call('GET', `/v1/contacts/${id}`)
    const { body } = await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { a: 1 } })
    expect(body.contact.updated_at).toBe(before.body.contact.updated_at)
  })

  test("the email can change to a free one; it cannot be another contact's or be removed", async () => {
    const first = await tenant.contact('one@example.com')
    const second = await tenant.contact('two@example.com')
    const taken = await tenant.call('PUT', `/v1/contacts/${second}`, { properties: { email: 'ONE@example.com' } })
    expect([taken.status, taken.body.error.code]).toEqual([409, 'contact_email_taken'])
    expect(taken.body.error.details).toEqual([{ path: 'contact_id', message: first }])
    const removed = await tenant.call('PUT', `/v1/contacts/${second}`, { properties: { email: null } })
    expect(removed.status).toBe(400)
    const changed = await tenant.call('PUT', `/v1/contacts/${second}`, { properties: { email: 'three@example.com' } })
    expect(changed.body.contact.properties.email).toBe('three@example.com')
  })

  test('a change of lifecycle stage is recorded as a system event, which lists exclude by default', async () => {
    const id = await tenant.contact('stage@example.com', { lifecyclestage: 'lead' })
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { lifecyclestage: 'customer' } })
    const named = await tenant.call('GET', `/v1/events?contact_id=${id}&event_type=lifecycle_stage_changed`)
    expect(named.body.events[0].data).toMatchObject({ from: 'lead', to: 'customer' })
    const all = await tenant.call('GET', `/v1/events?contact_id=${id}&include=system&sort_dir=asc`)
    expect(all.body.events.map(({ event }: { event: string }) => event)).toEqual([
      'contact_created',
      'contact_updated',
      'lifecycle_stage_changed',
    ])
    const plain = await tenant.call('GET', `/v1/events?contact_id=${id}`)
    expect(plain.body.pagination.total_items).toBe(0)
  })

  test('no concurrent change is lost', async () => {
    const id = await tenant.contact('busy@example.com')
    const keys = Array.from({ length: 15 }, (_, n) => `key${n}`)
    await Promise.all(keys.map((key) => tenant.call('PUT', `/v1/contacts/${id}`, { properties: { [key]: 1 } })))
    const { body } = await tenant.call('GET', `/v1/contacts/${id}?include_events=false`)
    expect(Object.keys(body.contact.properties).sort()).toEqual(['email', ...keys].sort())
    expect(Object.keys(body.unified_profile.profile).sort()).toEqual(['email', ...keys].sort())
  })
})

test('deleting removes the contact and its notes, keeps its events, and makes its visitors anonymous', async () => {
  const id = await tenant.contact('gone@example.com', {}, { visitor_id: 'gone-visitor' })
  await tenant.call('POST', `/v1/contacts/${id}/notes`, { content: 'x' })
  await tenant.track({ visitor_id: 'gone-visitor', events: [{ event: 'before', url: `https://${tenant.site}/` }] })
  const removed = await tenant.call('DELETE', `/v1/contacts/${id}`)
  expect(removed.body).toEqual({ status: 'success', deleted: true, contact_id: id })
  expect((await tenant.call('GET', `/v1/contacts/${id}`)).status).toBe(404)
  expect((await tenant.call('DELETE', `/v1/contacts/${id}`)).status).toBe(404)
  expect((await tenant.call('GET', `/v1/contacts/${id}/notes`)).status).toBe(404)
  await tenant.track({ visitor_id: 'gone-visitor', events: [{ event: 'after' }] })
  const before = await tenant.call('GET', '/v1/events?event_type=before')
  expect(before.body.events[0]).toMatchObject({ internal_contact_id: id, contact: null, company: null })
  const after = await tenant.call('GET', '/v1/events?event_type=after')
  expect(after.body.events[0].internal_contact_id).toBeNull()
})
