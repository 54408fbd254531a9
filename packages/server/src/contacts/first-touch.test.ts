import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { untilOneIsBlocked } from '../../test/blocked.ts'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const ADA = 'ada@example.com'

const page = (path: string, more: object = {}) => ({
  event: 'page_view',
  url: `https://${tenant.site}${path}`,
  ...more,
})
const track = (visitor_id: string, ...events: object[]) => tenant.track({ visitor_id, events })
const identify = async (body: object) => {
  const response = await tenant.call('POST', '/v1/identify', body)
  expect(response.status).toBe(200)
  return response.body.contact_id as string
}
const submit = (visitor_id: string | undefined, fields: object = {}) =>
  call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
    headers: {
      origin: `https://${tenant.site}`,
      referer: `https://${tenant.site}/form?utm_source=form`,
      'user-agent': CHROME,
    },
    body: JSON.stringify({ visitor_id, contact_data: { email: ADA, ...fields } }),
  })
const push = (properties: object) =>
  tenant.call('POST', '/v1/sources/crm/contacts', { records: [{ external_id: '1', email: ADA, properties }] })

/** The contact's first-touch properties, its pages without their host. */
async function touchOf(contactId: string): Promise<Record<string, unknown>> {
  const { body } = await tenant.call('GET', `/v1/contacts/${contactId}`)
  const touch = Object.entries(body.contact.properties as Record<string, string>)
    .filter(([key]) => key.startsWith('first_'))
    .map(([key, value]) => [key, value.replace(`https://${tenant.site}`, '')])
  return Object.fromEntries(touch)
}

test.each([
  ['exists', true],
  ['is new', false],
])('a contact that %s gets the first touch of visitors that claimed its user id', async (_, exists) => {
  if (exists) await tenant.contact(ADA)
  await tenant.track({ visitor_id: 'v', events: [page('/first?utm_source=ads')], external_contact_id: 'u1' })
  await track('w', page('/later'))
  const id = await identify({ email: ADA, user_id: 'u1', visitor_id: 'w', properties: { plan: 'pro' } })
  const { contact } = (await tenant.call('GET', `/v1/contacts/${id}`)).body
  expect(contact.properties).toMatchObject({ plan: 'pro', first_utm_source: 'ads' })
  expect(await touchOf(id)).toMatchObject({ first_landing_page: '/first?utm_source=ads' })
})

describe('gaps in the first touch are not filled by', () => {
  test('another page of the same visitor', async () => {
    await track('v', page('/plain'))
    const id = await identify({ visitor_id: 'v', email: ADA })
    await track('v', page('/?utm_source=late', { referrer: 'https://google.com/' }))
    expect(await touchOf(id)).toEqual({ first_landing_page: '/plain' })
  })

  test.each([
    ['POST /v1/identify', () => identify({ email: ADA, properties: { first_utm_source: 'late' } })],
    ['a source', () => push({ first_utm_source: 'late', first_referrer: 'https://late.example/' })],
    ['a form', () => submit(undefined, { first_utm_source: 'late' })],
    [
      'the tracker',
      () =>
        tenant.track({ visitor_id: 'w', identify: { traits: { email: ADA, first_utm_source: 'late' } }, events: [] }),
    ],
  ])('%s', async (_, say) => {
    await track('v', page('/plain'))
    const id = await identify({ visitor_id: 'v', email: ADA })
    await say()
    expect(await touchOf(id)).toEqual({ first_landing_page: '/plain' })
  })

  test('a page, after a source, a form or a person has written the first values', async () => {
    const ways = [
      () => push({ first_utm_source: 'crm' }),
      () => submit(undefined, { first_utm_source: 'crm' }),
      () => tenant.call('POST', '/v1/contacts', { email: ADA, properties: { first_utm_source: 'crm' } }),
    ]
    for (const write of ways) {
      tenant = await createTestTenant(service)
      await track('v', page('/?utm_medium=email'))
      await write()
      const id = await identify({ visitor_id: 'v', email: ADA })
      await track('v', page('/?utm_medium=email'))
      expect(await touchOf(id)).toEqual({ first_utm_source: 'crm' })
    }
  })

  test('a second value of the same source', async () => {
    await push({ first_utm_source: 'crm' })
    await push({ first_utm_source: 'other', first_utm_medium: 'email' })
    const id = await identify({ email: ADA })
    expect(await touchOf(id)).toEqual({ first_utm_source: 'crm' })
  })

  test('they can be filled by a person', async () => {
    await track('v', page('/plain'))
    const id = await identify({ visitor_id: 'v', email: ADA })
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { first_utm_source: 'fair' } })
    expect(await touchOf(id)).toEqual({ first_landing_page: '/plain', first_utm_source: 'fair' })
  })
})

describe('the first touch is', () => {
  test('the earliest page of the visitor, in any order of arrival', async () => {
    await track('v', page('/second?utm_source=second', { timestamp: '2026-01-02T00:00:00Z' }))
    await track('v', page('/first', { timestamp: '2026-01-01T00:00:00Z', referrer: 'https://google.com/' }))
    const id = await identify({ visitor_id: 'v', email: ADA })
    const touch = { first_landing_page: '/first', first_referrer: 'https://google.com/' }
    expect(await touchOf(id)).toEqual(touch)
    // It is stored, so an earlier page that arrives now is ignored.
    await track('v', page('/zeroth?utm_source=zeroth', { timestamp: '2025-01-01T00:00:00Z' }))
    expect(await touchOf(id)).toEqual(touch)
  })

  test('the earliest page, even if another process concurrently inserts the visitor with a later one', async () => {
    const { postgres } = service
    const other = await postgres.pool.connect()
    await other.query('BEGIN')
    await other.query(
      `INSERT INTO visitors (tenant_id, visitor_id, created_at, first_seen_at, first_page_at, first_url, first_referrer)
      VALUES ($1, 'v', now(), '2026-01-02', '2026-01-02', $2, '')`,
      [tenant.id, `https://${tenant.site}/second`],
    )
    const { rows } = await other.query('SELECT pg_backend_pid() AS pid')
    const tracked = track('v', page('/first', { timestamp: '2026-01-01T00:00:00Z' }))
    await untilOneIsBlocked(postgres.pool, rows[0].pid)
    await other.query('COMMIT')
    other.release()
    await tracked
    expect(await touchOf(await identify({ visitor_id: 'v', email: ADA }))).toEqual({ first_landing_page: '/first' })
  })

  test('the first page of a batch without timestamps, with its own referrer', async () => {
    const later = [1, 2, 3, 4].map((n) => page(`/later${n}`, { referrer: `https://${n}.example/` }))
    await track('v', page('/first?utm_source=a'), ...later)
    const id = await identify({ visitor_id: 'v', email: ADA })
    expect(await touchOf(id)).toEqual({ first_landing_page: '/first?utm_source=a', first_utm_source: 'a' })
  })

  test('the earliest page of all visitors that are linked at once', async () => {
    await track('v', page('/v?utm_source=v', { timestamp: '2026-01-02T00:00:00Z' }))
    await track('w', page('/w?utm_medium=w', { timestamp: '2026-01-01T00:00:00Z' }))
    const id = await identify({ visitor_id: ['v', 'w'], email: ADA })
    expect(await touchOf(id)).toEqual({ first_landing_page: '/w?utm_medium=w', first_utm_medium: 'w' })
  })

  test('that of the visitor that is linked first, even if another one visited earlier', async () => {
    await track('v', page('/v', { timestamp: '2026-01-02T00:00:00Z' }))
    await track('w', page('/w?utm_source=w', { timestamp: '2026-01-01T00:00:00Z' }))
    const id = await identify({ visitor_id: 'v', email: ADA })
    await identify({ visitor_id: 'w', email: ADA })
    expect(await touchOf(id)).toEqual({ first_landing_page: '/v' })
  })

  test('the earliest page of the visitor that sends a form, not the page of the form', async () => {
    await track('v', page('/landing?utm_source=ads'))
    const { contact_id } = (await submit('v')).body
    expect(await touchOf(contact_id)).toEqual({
      first_landing_page: '/landing?utm_source=ads',
      first_utm_source: 'ads',
    })
  })

  test('the page of the form for a visitor without events', async () => {
    const { contact_id } = (await submit('new')).body
    expect(await touchOf(contact_id)).toEqual({ first_landing_page: '/form?utm_source=form', first_utm_source: 'form' })
    await track('new', page('/?utm_medium=email'))
    expect(await touchOf(contact_id)).toEqual({ first_landing_page: '/form?utm_source=form', first_utm_source: 'form' })
  })
})
