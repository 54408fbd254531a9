import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const DAY = (day: number) => `2026-03-0${day}T12:00:00.000Z`

describe('details', () => {
  const details = (body: object) => tenant.call('POST', '/v1/batch/details', body)

  test('return whole contacts once each, in the order of the ids, without unknown ones', async () => {
    const other = await createTestTenant(service)
    const [a, b] = [await tenant.contact('a@example.com', { city: 'Bonn' }), await tenant.contact('b@example.com')]
    const foreign = await other.contact('c@example.com')
    const ids = [b, 'nope', '', a.toUpperCase(), foreign, newId(), b]
    const { status, body } = await details({ entity_type: 'contacts', ids })
    expect(status).toBe(200)
    const list = await tenant.call('GET', '/v1/contacts')
    expect(body).toEqual({ status: 'success', contacts: list.body.contacts })
    expect(body.contacts.map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([b, a])
  })

  test('include the ten newest notes', async () => {
    const id = await tenant.contact('a@example.com')
    for (let n = 0; n < 12; n++) await tenant.call('POST', `/v1/contacts/${id}/notes`, { content: `note ${n}` })
    const { body } = await details({ entity_type: 'contacts', ids: [id] })
    const contents = body.contacts[0].notes.map(({ content }: { content: string }) => content)
    expect(contents).toEqual(Array.from({ length: 10 }, (_, n) => `note ${11 - n}`))
  })

  test('return companies in the field companies', async () => {
    const create = async (name: string) =>
      (await tenant.call('POST', '/v1/companies', { name, properties: { industry: 'Steel' } })).body.company
    const [a, b] = [await create('A'), await create('B')]
    const { body } = await details({ entity_type: 'companies', ids: [b._id, newId(), a._id, b._id] })
    expect(body).toEqual({ status: 'success', companies: [b, a] })
    const none = await details({ entity_type: 'companies', ids: [newId()] })
    expect(none.body).toEqual({ status: 'success', companies: [] })
  })

  test.each([
    [{ ids: ['x'] }, 'entity_type'],
    [{ entity_type: 'events', ids: ['x'] }, 'entity_type'],
    [{ entity_type: 'contacts' }, 'ids'],
    [{ entity_type: 'contacts', ids: [] }, 'ids'],
    [{ entity_type: 'contacts', ids: Array(26).fill('x') }, 'ids'],
    [{ entity_type: 'contacts', ids: 'x' }, 'ids'],
    [{ entity_type: 'contacts', ids: [7] }, 'ids[0]'],
    [{ entity_type: 'contacts', ids: ['x'], fields: 'summary' }, 'fields'],
  ])('%j is 400 and names %s', async (sent, path) => {
    const { status, body } = await details(sent)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })
})

describe('activity', () => {
  const activity = (body: object) => tenant.call('POST', '/v1/batch/activity', body)

  async function withEvents(email: string, events: object[]): Promise<string> {
    const visitor_id = `visitor of ${email}`
    const contactId = await tenant.contact(email, {}, { visitor_id })
    const sent = events.map((event) => ({ url: `https://${tenant.site}/`, title: 'T', ...event }))
    for (let from = 0; from < sent.length; from += 10) {
      await tenant.track({ visitor_id, events: sent.slice(from, from + 10) })
    }
    return contactId
  }

  test("has each contact's latest events and their total", async () => {
    const busy = await withEvents(
      'busy@example.com',
      Array.from({ length: 30 }, (_, n) => ({ event: `e${n}`, timestamp: DAY((n % 9) + 1) })),
    )
    const calm = await withEvents('calm@example.com', [{ event: 'signup', timestamp: DAY(3) }])
    const silent = await tenant.contact('silent@example.com')
    const ids = [silent, calm, busy, newId(), 'nope', busy]
    const { status, body } = await activity({ contact_ids: ids })
    expect([status, body.contact_count]).toEqual([200, 3])
    expect(Object.keys(body.activity)).toEqual([silent, calm, busy])
    expect(body.activity[silent]).toEqual({ events: [], total_events: 0 })
    expect(body.activity[calm]).toEqual({
      total_events: 1,
      events: [
        { id: expect.any(String), event: 'signup', url: `https://${tenant.site}/`, timestamp: DAY(3), title: 'T' },
      ],
    })
    expect(body.activity[busy].total_events).toBe(30)
    // The same five as in the contact's list of events, newest first.
    const own = await tenant.call('GET', `/v1/contacts/${busy}?events_limit=5`)
    const idsOf = (events: { id?: string; event_id?: string }[]) => events.map(({ id, event_id }) => id ?? event_id)
    expect(idsOf(body.activity[busy].events)).toEqual(idsOf(own.body.events))
    const more = await activity({ contact_ids: [busy, calm], events_limit: 20 })
    expect(more.body.activity[busy].events).toHaveLength(20)
    expect(more.body.activity[calm].events).toHaveLength(1)
  })

  test('is limited to a time range with inclusive bounds', async () => {
    const id = await withEvents(
      'a@example.com',
      [1, 2, 3, 4].map((day) => ({ event: `d${day}`, timestamp: DAY(day) })),
    )
    const within = async (window: object) => {
      const { body } = await activity({ contact_ids: [id], ...window })
      const events = body.activity[id].events.map(({ event }: { event: string }) => event)
      return [events, body.activity[id].total_events]
    }
    expect(await within({ date_after: DAY(2), date_before: DAY(3) })).toEqual([['d3', 'd2'], 2])
    expect(await within({ date_before: '2026-03-02' })).toEqual([['d2', 'd1'], 2])
    expect(await within({ date_after: '2026-03-05' })).toEqual([[], 0])
    expect(await within({ date_after: DAY(2), events_limit: 1 })).toEqual([['d4'], 3])
  })

  test('include=system adds system events to the list and the total', async () => {
    const id = await withEvents('a@example.com', [{ event: 'x', timestamp: DAY(1) }])
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { lifecyclestage: 'customer' } })
    const { body } = await activity({ contact_ids: [id], include: 'system', events_limit: 20 })
    const own = await tenant.call('GET', `/v1/contacts/events/${id}?include=system`)
    expect(body.activity[id].total_events).toBe(own.body.total_items)
    expect(own.body.events.map(({ event }: { event: string }) => event)).toContain('contact_created')
    expect(body.activity[id].events.map(({ id }: { id: string }) => id)).toEqual(
      own.body.events.map(({ event_id }: { event_id: string }) => event_id),
    )
    const window = { contact_ids: [id], include: 'system', events_limit: 1, date_before: DAY(2) }
    expect((await activity(window)).body.activity[id]).toMatchObject({ total_events: 1, events: [{ event: 'x' }] })
  })

  test('includes events from before the identification, and those of merged contacts', async () => {
    await tenant.track({ visitor_id: 'early', events: [{ event: 'before', timestamp: DAY(1) }] })
    await tenant.track({ visitor_id: 'other', events: [{ event: 'elsewhere', timestamp: DAY(2) }] })
    const id = await tenant.contact('early@example.com', {}, { visitor_id: 'early' })
    const merged = await tenant.contact('other@example.com', {}, { visitor_id: 'other' })
    await tenant.call('POST', `/v1/contacts/${merged}/merge`, { into: id })
    const { body } = await activity({ contact_ids: [id] })
    expect(body.activity[id].total_events).toBe(2)
    expect(body.activity[id].events.map(({ event }: { event: string }) => event)).toEqual(['elsewhere', 'before'])
  })

  test('works for contacts that together have more visitors than one query can name', async () => {
    const ids = [
      await withEvents('a@example.com', [{ event: 'x' }]),
      await withEvents('b@example.com', [{ event: 'y' }]),
    ]
    await sql`INSERT INTO owner_links (tenant_id, owner_id, contact_id)
      SELECT ${tenant.id}::uuid, gen_random_uuid(), contact_id
      FROM unnest(${ids}::uuid[]) AS contact_id, generate_series(1, 11000)`.execute(service.stores.database)
    const { status, body } = await activity({ contact_ids: ids })
    expect(status, JSON.stringify(body)).toBe(200)
    const found = ids.map((id) => [body.activity[id].total_events, body.activity[id].events[0].event])
    expect(found).toEqual([
      [1, 'x'],
      [1, 'y'],
    ])
  })

  test('excludes system events, other tenants and deleted contacts', async () => {
    const id = await withEvents('a@example.com', [{ event: 'x', timestamp: DAY(1) }])
    const other = await createTestTenant(service)
    const foreign = await other.call('POST', '/v1/batch/activity', { contact_ids: [id] })
    expect(foreign.body).toEqual({ status: 'success', contact_count: 0, activity: {} })
    await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { city: 'Bonn' } })
    expect((await activity({ contact_ids: [id] })).body.activity[id].total_events).toBe(1)
    await tenant.call('DELETE', `/v1/contacts/${id}`)
    expect((await activity({ contact_ids: [id] })).body).toEqual({
      status: 'success',
      contact_count: 0,
      activity: {},
    })
  })

  test.each([
    [{}, 'contact_ids'],
    [{ contact_ids: [] }, 'contact_ids'],
    [{ contact_ids: Array(26).fill('x') }, 'contact_ids'],
    [{ contact_ids: ['x'], events_limit: 0 }, 'events_limit'],
    [{ contact_ids: ['x'], events_limit: 21 }, 'events_limit'],
    [{ contact_ids: ['x'], events_limit: '5' }, 'events_limit'],
    [{ contact_ids: ['x'], date_after: 'yesterday' }, 'date_after'],
    [{ contact_ids: ['x'], date_before: '2026-02-30' }, 'date_before'],
    [{ contact_ids: ['x'], event_type: 'x' }, 'event_type'],
    [{ contact_ids: ['x'], include: 'everything' }, 'include'],
    [{ contact_ids: ['x'], include: true }, 'include'],
  ])('%j is 400 and names %s', async (sent, path) => {
    const { status, body } = await activity(sent)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
  })
})
