import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { identificationOf } from '../writing/identify.ts'
import { createWriter } from '../writing/writer.ts'

const ADA = 'ada@example.com'
const MAX = 1_000
const MAX_FROM_PAGES = 500

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** Creates many visitors that claim an external id, or belong to a contact. */
async function manyVisitors(count: number, externalId: string | null, contactId: string | null): Promise<void> {
  await sql`INSERT INTO visitors (tenant_id, visitor_id, contact_id, external_contact_id, created_at)
    SELECT ${tenant.id}::uuid, 'many-' || n, ${contactId}::uuid, ${externalId}::text, now()
    FROM generate_series(1, ${count}::int) AS n`.execute(service.stores.database)
}
const visitorsOf = async (contactId: string) =>
  (await tenant.handle.db.selectFrom('visitors').select('visitor_id').where('contact_id', '=', contactId).execute())
    .length
const ownerOf = async (visitor_id: string) => {
  await tenant.track({ visitor_id, events: [{ event: 'page_view' }] })
  const { events } = (await tenant.call('GET', `/v1/events?visitor_id=${visitor_id}&event_type=page_view`)).body
  return events[0].internal_contact_id
}

test('the visitors of a contact are listed newest first with the page that each began with, and paged', async () => {
  for (const visitor_id of ['first', 'second']) {
    const url = `https://${tenant.site}/${visitor_id}`
    await tenant.track({ visitor_id, events: [{ event: 'page_view', url, referrer: 'https://search.example/' }] })
  }
  const ada = await tenant.contact(ADA, {}, { visitor_id: 'first' })
  const list = async (contactId = ada, query = '') =>
    (await tenant.call('GET', `/v1/contacts/${contactId}/visitors${query}`)).body
  expect((await list()).visitors).toEqual([
    {
      visitor_id: 'first',
      first_seen_at: expect.stringMatching(/Z$/),
      first_url: `https://${tenant.site}/first`,
      first_referrer: 'https://search.example/',
    },
  ])
  await tenant.call('POST', '/v1/identify', { email: ADA, visitor_id: 'second' })
  expect((await list()).visitors).toMatchObject([{ visitor_id: 'second' }, { visitor_id: 'first' }])
  const second = await list(ada, '?page=2&limit=1')
  expect(second.visitors).toMatchObject([{ visitor_id: 'first' }])
  expect(second.pagination).toMatchObject({ total_items: 2, total_pages: 2 })
  const bob = await tenant.contact('bob@example.com')
  expect(await list(bob)).toMatchObject({ visitors: [], pagination: { total_items: 0 } })
  await tenant.call('POST', `/v1/contacts/${ada}/merge`, { into: bob })
  expect((await list(ada)).error.code).toBe('contact_merged')
  expect((await list(bob)).pagination.total_items).toBe(2)
  expect((await list(tenant.id)).error.code).toBe('not_found')
})

test('events of a visitor are recorded while it is being identified, and do not delay other tenants', async () => {
  const { writing } = service
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const follow: typeof writing.segments.follow = async (...given) => {
    reached.resolve()
    await released.promise
    return writing.segments.follow(...given)
  }
  const writer = createWriter({ ...writing, segments: { ...writing.segments, follow } })
  const claim = { email: ADA, userId: null, trust: 'verified' } as const
  const identification = { ...claim, visitorIds: ['new'], properties: {} }
  const identifying = writer.write(tenant.handle, identificationOf(identification))
  await reached.promise
  const other = await createTestTenant(service)
  const tracked = [tenant, other].map((of) => of.track({ visitor_id: 'new', events: [{ event: 'meanwhile' }] }))
  const ended = Promise.all(tracked).then((responses) => responses.map(({ status }) => status))
  const inTime = await Promise.race([ended, sleep(60_000, 'they wait', { ref: false })])
  released.resolve()
  const { contactId } = await identifying
  expect(inTime).toEqual([200, 200])
  const { events } = (await tenant.call('GET', '/v1/events?event_type=meanwhile')).body
  expect(events).toMatchObject([{ internal_contact_id: contactId }])
})

describe('a contact has at most 1,000 visitors', () => {
  test('POST /v1/identify and contacts reject another one, and write nothing', async () => {
    const id = await tenant.contact(ADA)
    await manyVisitors(MAX, null, id)
    const identified = await tenant.call('POST', '/v1/identify', { email: ADA, visitor_id: 'v', properties: { a: 1 } })
    expect([identified.status, identified.body.error.code]).toEqual([409, 'too_many_visitors'])
    const changed = await tenant.call('PUT', `/v1/contacts/${id}`, { visitor_id: 'v', properties: { a: 1 } })
    expect([changed.status, changed.body.error.code]).toEqual([409, 'too_many_visitors'])
    expect((await tenant.call('GET', `/v1/contacts/${id}`)).body.contact.properties).toEqual({ email: ADA })
    const known = await tenant.call('POST', '/v1/identify', { email: ADA, visitor_id: 'many-1' })
    expect(known.status).toBe(200)
    expect(await visitorsOf(id)).toBe(MAX)
  })

  test('pages can link 500: the tracker gets a warning, and its events are recorded; external ids and forms are still accepted', async () => {
    const id = await tenant.contact(ADA)
    await tenant.call('POST', '/v1/identify', { email: ADA, user_id: 'user-42' })
    await manyVisitors(MAX_FROM_PAGES, null, id)
    const tracked = await tenant.track({
      visitor_id: 'v',
      identify: { traits: { email: ADA } },
      events: [{ event: 'e' }],
    })
    expect([tracked.status, tracked.body.warnings]).toEqual([
      200,
      [expect.stringMatching(/^identify was ignored: .*500/)],
    ])
    const claimed = await tenant.track({ visitor_id: 'w', external_contact_id: 'user-42', events: [{ event: 'e' }] })
    expect([claimed.status, claimed.body.accepted]).toEqual([200, 1])
    const form = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
      headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
      body: JSON.stringify({ visitor_id: 'x', contact_data: { email: ADA, city: 'London' } }),
    })
    expect([form.status, form.body.contact_id]).toEqual([200, id])
    expect([await ownerOf('v'), await ownerOf('w'), await ownerOf('x')]).toEqual([null, null, null])
    expect((await tenant.call('GET', `/v1/contacts/${id}`)).body.contact.properties.city).toBe('London')
    const verified = await tenant.call('POST', '/v1/identify', { email: ADA, visitor_id: 'y' })
    expect(verified.status).toBe(200)
    expect(await ownerOf('y')).toBe(id)
  })

  test('visitors that now belong to other contacts count as well, against ten times the limit', async () => {
    const id = await tenant.contact(ADA)
    await sql`INSERT INTO owner_links (tenant_id, owner_id, contact_id)
      SELECT ${tenant.id}::uuid, gen_random_uuid(), ${id}::uuid
      FROM generate_series(1, ${10 * MAX_FROM_PAGES}::int)`.execute(service.stores.database)
    const tracked = await tenant.track({
      visitor_id: 'v',
      identify: { traits: { email: ADA } },
      events: [{ event: 'e' }],
    })
    expect([tracked.status, tracked.body.warnings]).toEqual([
      200,
      [expect.stringMatching(/^identify was ignored: .*5000/)],
    ])
    const verified = await tenant.call('POST', '/v1/identify', { email: ADA, visitor_id: 'w' })
    expect(verified.status).toBe(200)
    expect([await ownerOf('v'), await ownerOf('w')]).toEqual([null, id])
  })

  test('an external id that more visitors claim is resolved for as many as fit', async () => {
    await manyVisitors(12_000, 'user-42', null)
    const { status, body } = await tenant.call('POST', '/v1/identify', { user_id: 'user-42', visitor_id: 'v' })
    expect(status).toBe(200)
    expect(await ownerOf('v')).toBe(body.contact_id)
    expect(await visitorsOf(body.contact_id)).toBe(MAX_FROM_PAGES + 1)
    expect((await tenant.call('DELETE', `/v1/contacts/${body.contact_id}`)).status).toBe(200)
  })
})
