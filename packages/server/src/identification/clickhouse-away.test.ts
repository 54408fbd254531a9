import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { act, importWithCommand, uploaded } from '../../test/imports.ts'
import { createClaimedSegment, evaluateNow } from '../../test/segments.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { storeUnavailable } from '../platform/errors.ts'

/** A write that waits for ClickHouse would wait forever. */
const WRITES_END_WITHIN_MS = 240_000

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

/**
 * ClickHouse does not respond, so that whatever asks it waits, even if it ignores errors. `refuse` fails what waits and
 * everything that follows; `end` brings ClickHouse back.
 */
function silenceClickHouse() {
  const { clickhouse } = service.stores
  const present = { ...clickhouse }
  const { promise: pending, reject } = Promise.withResolvers<never>()
  pending.catch(() => {})
  const wait = () => pending
  const stream = async function* () {
    yield await pending
  }
  Object.assign(clickhouse, { query: wait, stream, parquet: wait, insert: wait, command: wait })
  const refuse = () => reject(storeUnavailable('ClickHouse', new Error('away')))
  const end = () => {
    Object.assign(clickhouse, present)
    refuse()
  }
  onTestFinished(end)
  return { refuse, end }
}

const page = (path: string) => ({ event: 'page_view', url: `https://${tenant.site}${path}` })

test(
  'a visitor can be identified while ClickHouse is down: the contact gets its events and its first touch',
  async () => {
    const { refuse, end } = silenceClickHouse()
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
    refuse()
    expect((await tenant.call('GET', `/v1/contacts/events/${contact_id}`)).status).toBe(503)

    end()
    const read = () => tenant.call('GET', `/v1/contacts/events/${contact_id}?sort_dir=asc`)
    await expect.poll(async () => (await read()).status).toBe(200)
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
  },
  WRITES_END_WITHIN_MS,
)

/** A segment of the contacts in London that bought something. */
async function defineBuyersInLondon(): Promise<string> {
  const filter = {
    match: 'all',
    conditions: [
      { event: { type: 'purchase' }, operator: 'did' },
      { property: 'city', operator: 'equals', value: 'London' },
    ],
  }
  const { segmentId } = await createClaimedSegment(tenant.handle, { name: 'Buyers', description: null, filter })
  await evaluateNow(tenant.handle, segmentId)
  return segmentId
}

/** The queued checks of contacts, and how many of them are under way. */
async function checks(): Promise<{ queued: number; underWay: number }> {
  const rows = tenant.handle.db.selectFrom('segment_checks').select('contact_id')
  const queued = await rows.execute()
  const idle = await rows.forUpdate().skipLocked().execute()
  return { queued: queued.length, underWay: queued.length - idle.length }
}

/** A contact that bought something, and of which a check waits for ClickHouse. */
async function buyerUnderCheck() {
  const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'ada' })
  await tenant.track({ visitor_id: 'ada', events: [{ event: 'purchase' }] })
  const met = tenant.handle.db.selectFrom('segment_met_conditions').select('contact_id')
  await expect.poll(() => met.execute()).toEqual([{ contact_id: contactId }])
  await expect.poll(checks).toEqual({ queued: 0, underWay: 0 })
  const outage = silenceClickHouse()
  await tenant.track({ visitor_id: 'ada', events: [{ event: 'purchase' }] })
  await expect.poll(checks).toEqual({ queued: 1, underWay: 1 })
  return { contactId, ...outage }
}

test(
  'contacts, notes, sources and imports can be written, and segments followed, while ClickHouse does not respond',
  async () => {
    const written = async (status: number, method: string, path: string, body?: object) => {
      const response = await tenant.call(method, path, body)
      expect(response.status, `${method} ${path}: ${JSON.stringify(response.body)}`).toBe(status)
      return response.body
    }
    const read = (query: string) => tenant.call('GET', `/v1/events?${query}`)
    const segmentId = await defineBuyersInLondon()
    const { contactId: ada, refuse, end } = await buyerUnderCheck()
    const waiting = read('count_only=true')

    const contact = `/v1/contacts/${ada}`
    const moved = await written(200, 'PUT', contact, { properties: { city: 'London' } })
    expect(moved.contact.segment_ids).toEqual([segmentId])
    await written(201, 'POST', '/v1/contacts', { email: 'eve@example.com', properties: { city: 'London' } })

    const { note } = await written(201, 'POST', `${contact}/notes`, { content: 'Called' })
    await written(200, 'PATCH', `${contact}/notes/${note.note_id}`, { content: 'Called back' })
    const other = await written(201, 'POST', `${contact}/notes`, { content: 'A mistake' })
    await written(200, 'DELETE', `${contact}/notes/${other.note.note_id}`)

    const records = [
      { external_id: '1', email: 'ada@example.com', properties: { firstname: 'Ada' } },
      { external_id: '2', email: 'bob@example.com' },
    ]
    const { results } = await written(200, 'POST', '/v1/sources/hubspot/contacts', { records })
    expect(results).toMatchObject([{ status: 'updated', contact_id: ada }, { status: 'created' }])

    const imported = { created: 1, updated: 1, failed: 0 }
    const byCommand = 'email,country\nada@example.com,UK\ncyd@example.com,FR\n'
    expect(await importWithCommand(service, tenant, byCommand)).toMatchObject(imported)
    const file = await uploaded(tenant, 'email,lastname\nada@example.com,Lovelace\ndee@example.com,Dee\n')
    expect(await act(tenant, file, 'start', 'completed')).toMatchObject({ counts: imported })

    refuse()
    expect((await waiting).status).toBe(503)
    const { notes } = await written(200, 'GET', `${contact}/notes`)
    expect(notes.map(({ content }: { content: string }) => content)).toEqual(['Called back'])
    const stored = await written(200, 'GET', `${contact}?include_events=false`)
    expect(stored.contact).toMatchObject({
      properties: { city: 'London', firstname: 'Ada', country: 'UK', lastname: 'Lovelace' },
      segment_ids: [segmentId],
    })

    end()
    await expect.poll(async () => (await read('count_only=true')).status).toBe(200)
    const countOf = async (query: string) => (await read(`count_only=true&${query}`)).body.count
    expect(await countOf('event_type=contact_created')).toBe(5)
    expect(await countOf(`event_type=contact_updated&contact_id=${ada}`)).toBe(4)
    expect(await countOf(`event_type=segment_entered&contact_id=${ada}`)).toBe(1)
  },
  WRITES_END_WITHIN_MS,
)
