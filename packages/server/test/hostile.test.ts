import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

/** Regression tests for bugs found by a hostile review of the service. */
let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const page = () => ({ origin: `https://${tenant.site}` })
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(service, 'POST', path, {
    headers: { authorization: `Bearer ${tenant.key}`, ...headers },
    body: JSON.stringify(body),
  })

describe('many invalid values are all reported', () => {
  const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`u${n}`, n]))

  test.each([
    ['/v1/contacts', { email: 'a@example.com' }],
    ['/v1/contacts', { email: 5 }],
    ['/v1/companies', { name: { a: 1 } }],
    ['/v1/identify', { user_id: { a: 1 } }],
    ['/v1/batch/details', { entity_type: 5, ids: 5 }],
    ['/v1/aggregate', { entity: 'contacts', group_by: 'country', limit: -1 }],
    ['/v1/aggregate', { entity: 'contacts', group_by: 'country', metric: '(select 1)+count', metric_field: 'x' }],
    ['/v1/aggregate', { entity: 'events', group_by: 'event_type', metric: '(select 1)+count', metric_field: 'x' }],
    ['/track', { events: 5 }],
    ['/track', { visitor_id: 5, events: [{ event: 'x' }] }],
    ['/track', { events: Array.from({ length: 11 }, () => ({ event: 'x' })) }],
    ['/recover-visitor', { fingerprint: 5 }],
  ])('%s with %j', async (path, body) => {
    for (const count of [0, 7, 8, 9, 200]) {
      if (count === 0 && JSON.stringify(body) === '{"email":"a@example.com"}') continue
      const response = await post(path, { ...unknown(count), ...body }, page())
      expect([response.status, response.body.error.code], `${count} unknown fields`).toEqual([400, 'validation_error'])
      if (count > 0) expect(response.body.error.details[0]).toMatchObject({ path: expect.any(String) })
    }
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
    expect((await tenant.call('GET', '/v1/events?count_only=1')).body.count).toBe(0)
  })
})

describe('a metric is one of five words', () => {
  test.each(['contacts', 'companies', 'events'])('for %s', async (entity) => {
    for (const metric of ['(select 1)', 'count(*)', 'toString', 'constructor', 'avg ']) {
      const group_by = entity === 'events' ? 'event_type' : 'country'
      const response = await post('/v1/aggregate', { entity, group_by, metric, metric_field: 'x' })
      expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    }
  })
})

describe('a failing side effect never makes a change look failed', () => {
  const full = Object.fromEntries(Array.from({ length: 499 }, (_, n) => [`p${n}`, n]))

  test('a landing page that cannot be stored', async () => {
    const url = `https://${tenant.site}/?utm_source=%00&utm_medium=email`
    await tenant.track({ visitor_id: 'nul', events: [{ event: 'page_view', url }] })
    const response = await post('/v1/contacts', { email: 'nul@example.com', visitor_id: 'nul' })
    expect(response.status).toBe(201)
    expect(response.body.contact.properties).toMatchObject({ first_utm_medium: 'email', first_landing_page: url })
    expect(response.body.contact.properties).not.toHaveProperty('first_utm_source')
  })

  test('a contact whose properties are full has no first touch', async () => {
    await tenant.track({ visitor_id: 'full', events: [{ event: 'x', url: `https://${tenant.site}/` }] })
    const response = await post('/v1/contacts', { email: 'full@example.com', properties: full, visitor_id: 'full' })
    expect(response.status).toBe(201)
    const { body } = await tenant.call('GET', `/v1/contacts/${response.body.contact.contact_id}`)
    expect(body.total_events).toBe(1)
    expect(Object.keys(body.contact.properties)).toHaveLength(500)
    expect(body.contact.properties).not.toHaveProperty('first_landing_page')
  })

  test('an identification of a contact whose properties are full: the events are stored, with a warning', async () => {
    const identify = { traits: { email: 'full@example.com', one_more: 1 } }
    const response = await tenant.track({ visitor_id: 'w', identify, events: [{ event: 'kept' }] })
    expect([response.status, response.body.warnings?.length]).toEqual([200, 1])
    const { body } = await tenant.call('GET', '/v1/events?event_type=kept&count_only=1')
    expect(body.count).toBe(1)
  })

  test('at most 500 keys besides the email are allowed', async () => {
    const response = await post('/v1/contacts', { email: 'more@example.com', properties: { ...full, one_more: 1 } })
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  })
})

describe('concurrency', () => {
  test('one domain for twenty companies: one gets it, the others get a conflict', async () => {
    const ids = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, n) => (await post('/v1/companies', { name: `C${n}` })).body.company.company_id,
      ),
    )
    const responses = await Promise.all(
      ids.map((id) => tenant.call('PUT', `/v1/companies/${id}`, { domain: 'race.example' })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
  })

  test('a tenant whose transactions wait for each other leaves connections for the others', async () => {
    const stranger = await createTestTenant(service)
    const visitors = Array.from({ length: 30 }, (_, n) => `same${n}`)
    const busy = Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        post('/v1/identify', { visitor_id: visitors, email: `busy${n % 5}@example.com` }),
      ),
    )
    const reads = await Promise.all(Array.from({ length: 40 }, () => stranger.call('GET', '/v1/contacts?limit=1')))
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set((await busy).map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('odd requests', () => {
  test.each(['TRACE', 'PROPFIND'])('%s is 405 with Allow', async (method) => {
    const response = await raw(`${method} /v1/contacts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(response).toMatch(/^HTTP\/1.1 405 /)
    expect(response).toMatch(/\r\nallow: GET, HEAD, POST/i)
    expect(response).toContain('method_not_allowed')
  })

  test('a request without a Host gets the same response as others', async () => {
    const response = await raw('GET /v1/contacts HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(response).toMatch(/^HTTP\/1.1 401 /)
    expect(response).toMatch(/x-request-id/i)
  })

  test('an unknown Expect header is ignored', async () => {
    const response = await raw('GET /v1/contacts HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n')
    expect(response).toMatch(/^HTTP\/1.1 401 /)
  })

  test('a very long id needs a key like any other', async () => {
    const path = `/v1/contacts/${'x'.repeat(2_000)}`
    expect((await call(service, 'GET', path)).status).toBe(401)
    expect((await tenant.call('GET', path)).body.error.code).toBe('not_found')
  })

  test('a repeated parameter is 400, known or not; one that only looks like a filter is ignored', async () => {
    for (const query of ['limit=1&limit=1', 'foo=1&foo=2']) {
      const { status, body } = await tenant.call('GET', `/v1/contacts?${query}`)
      expect([status, body.error.code]).toEqual([400, 'validation_error'])
    }
    const key = await tenant.keyWith('contacts:read')
    const response = await tenant.call('GET', '/v1/contacts?has_event_foo=1', undefined, key)
    expect([response.status, response.body.warnings.length]).toEqual([200, 1])
  })

  test('a cookie whose name starts like that of a session is ignored', async () => {
    const { body } = await tenant.track({ events: [{ event: 'x' }] }, { cookie: 'service_session_id=a=b' })
    expect(body.session_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('a host with a trailing dot is the same host', async () => {
    expect((await tenant.track({ events: [{ event: 'x' }] }, { origin: `https://${tenant.site}.` })).status).toBe(200)
  })

  test('a form id with a NUL, and an empty one, are 400', async () => {
    for (const form of ['f%00x', '']) {
      const body = { contact_data: { email: 'form@example.com' } }
      const response = await post(`/v1/public/form-submission/${tenant.id}/${form}`, body, page())
      expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    }
  })

  async function raw(request: string): Promise<string> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    socket.write(request)
    let text = ''
    for await (const chunk of socket) text += chunk
    return text
  }
})

describe('identities are compared exactly', () => {
  test('an external user id is opaque, wherever it is sent', async () => {
    const { body } = await post('/v1/identify', { user_id: ' u9' })
    await tenant.track({ visitor_id: 'o1', identify: { external_user_id: ' u9' }, events: [{ event: 'opaque' }] })
    await tenant.track({ visitor_id: 'o2', external_contact_id: ' u9', events: [{ event: 'opaque' }] })
    const events = await tenant.call('GET', '/v1/events?event_type=opaque')
    expect(events.body.events.map((event: { internal_contact_id: string }) => event.internal_contact_id)).toEqual([
      body.contact_id,
      body.contact_id,
    ])
  })

  test.each(['ΑΣ@example.com', 'İz@example.com', 'straße@example.com'])('%s is found as it was sent', async (email) => {
    await tenant.contact(email)
    const { body } = await tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
    expect(body.contacts).toHaveLength(1)
  })

  test('a key of every JavaScript object is not a property', async () => {
    const id = await tenant.contact('proto@example.com')
    const before = await tenant.call('GET', `/v1/contacts/${id}`)
    const after = await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { constructor: null, toString: null } })
    expect(after.body.contact.updated_at).toBe(before.body.contact.updated_at)
  })

  test('an empty list is not a social profile', async () => {
    await tenant.contact('list@example.com', { linkedin_url: [] })
    const { body } = await tenant.call('GET', '/v1/contacts?search=list@example.com&has_linkedin=true')
    expect(body.contacts).toEqual([])
  })
})

test('paths are not logged, because people type addresses into forms and ids', async () => {
  await call(service, 'GET', '/v1/contacts/mail%40secret.example')
  expect(service.logged.join('')).not.toContain('secret.example')
})
