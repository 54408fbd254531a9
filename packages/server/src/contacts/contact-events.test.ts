import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant
let contactId: string

const DAY = (day: number) => `2026-03-0${day}T12:00:00.000Z`
const EVENTS = [
  { event: 'signup', timestamp: DAY(1), url: 'https://shop.example/a', data: { plan: { name: 'pro' } } },
  { event: 'page_view', timestamp: DAY(2) },
  { event: 'page_view', timestamp: DAY(3) },
]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('c@example.com', {}, { visitor_id: 'known' })
  await tenant.track({ visitor_id: 'known', events: EVENTS })
  await tenant.track({ visitor_id: 'visitor-1', events: [{ event: 'page_view' }] })
})

const read = (query = '', id = contactId) => tenant.call('GET', `/v1/contacts/events/${id}?${query}`)
const namesOf = (body: { events: { event: string }[] }) => body.events.map(({ event }) => event)

test('all events of a contact are listed newest first, as in the list of events', async () => {
  const { status, body } = await read()
  expect(status).toBe(200)
  expect(body).toMatchObject({ status: 'success', contact_id: contactId, total_items: 3, returned: 3 })
  const list = await tenant.call('GET', `/v1/events?contact_id=${contactId}`)
  const plain = list.body.events.map(({ contact: _, company: __, ...event }: Record<string, unknown>) => event)
  expect(body.events).toEqual(plain)
  expect(body.events[2]).toMatchObject({ event: 'signup', domain: 'shop.example', data: { plan: { name: 'pro' } } })
})

test('a contact id may be in upper case', async () => {
  await tenant.track({ visitor_id: 'before', events: [{ event: 'first' }] })
  const id = await tenant.contact('capital@example.com', {}, { visitor_id: 'before' })
  const merged = await tenant.contact('merged@example.com', {}, { visitor_id: 'other' })
  await tenant.track({ visitor_id: 'other', events: [{ event: 'second' }] })
  await tenant.call('POST', `/v1/contacts/${merged}/merge`, { into: id })
  const listed = async (of: string) =>
    namesOf((await tenant.call('GET', `/v1/events?contact_id=${of.toUpperCase()}`)).body)
  expect([await listed(id), await listed(merged)]).toEqual([['second', 'first'], []])
  const filters = { contact_ids: [id.toUpperCase()] }
  const counted = await tenant.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'event_type', filters })
  expect(counted.body.total).toBe(2)
})

test('fields=summary is compact', async () => {
  const { body } = await read('fields=summary&event_type=signup')
  const [event] = body.events
  expect(body.events).toEqual([
    {
      event_id: expect.any(String),
      _id: event.event_id,
      event: 'signup',
      timestamp: DAY(1),
      url: 'https://shop.example/a',
      contact_id: contactId,
    },
  ])
})

test.each([
  ['sort_dir=asc', ['signup', 'page_view', 'page_view']],
  ['event_type=signup', ['signup']],
  ['event_type=nothing', []],
  ['include=provenance&fields=full', ['page_view', 'page_view', 'signup']],
  ['event_type=contact_created', ['contact_created']],
])('%s returns %j', async (query, names) => {
  const { status, body } = await read(query)
  expect(status, JSON.stringify(body)).toBe(200)
  expect([namesOf(body), body.total_items, body.returned]).toEqual([names, names.length, names.length])
})

test('include=system adds system events', async () => {
  const names = namesOf((await read('include=provenance,system')).body)
  expect(names).toContain('contact_created')
  expect(names).toContain('signup')
})

test('at most 1,000 events are returned, with the total', async () => {
  const id = await tenant.contact('busy@example.com', {}, { visitor_id: 'busy' })
  const batch = (from: number) => Array.from({ length: 10 }, (_, n) => ({ event: `e${from + n}`, timestamp: DAY(1) }))
  for (let from = 0; from < 1_010; from += 10) await tenant.track({ visitor_id: 'busy', events: batch(from) })
  for (const direction of ['asc', 'desc']) {
    const { body } = await read(`fields=summary&sort_dir=${direction}`, id)
    expect([body.total_items, body.returned, body.events.length]).toEqual([1_010, 1_000, 1_000])
  }
})

test('the events of a deleted contact can be read', async () => {
  const id = await tenant.contact('gone@example.com', {}, { visitor_id: 'gone' })
  await tenant.track({ visitor_id: 'gone', events: [{ event: 'last' }] })
  await tenant.call('DELETE', `/v1/contacts/${id}`)
  const { status, body } = await read('', id)
  expect([status, namesOf(body)]).toEqual([200, ['last']])
  expect(body.events[0].internal_contact_id).toBe(id)
  const none = await read('event_type=nothing', id)
  expect([none.status, none.body.total_items]).toEqual([200, 0])
})

test('a contact without events has an empty list', async () => {
  const id = await tenant.contact('silent@example.com')
  expect((await read('', id)).body).toEqual({
    status: 'success',
    events: [],
    contact_id: id,
    total_items: 0,
    returned: 0,
  })
})

test.each(['', newId(), 'nope', 'notes', '%00', '00000000-0000-0000-0000-000000000000'])(
  'the contact %j is 404',
  async (id) => {
    const { status, body } = await read('', id)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  },
)

test("another tenant's contact is 404", async () => {
  const other = await createTestTenant(service)
  const { status } = await other.call('GET', `/v1/contacts/events/${contactId}`)
  expect(status).toBe(404)
})

test.each(['sort_dir=up', 'fields=all', 'include=raw', 'include=', 'event_type='])('%s is 400', async (query) => {
  const { status, body } = await read(query)
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
})

test('an unknown parameter is ignored with a warning', async () => {
  const { body } = await read('limit=5')
  expect(body.warnings).toEqual(["unknown query parameter 'limit' was ignored"])
})
