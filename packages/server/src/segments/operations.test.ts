import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { DAY_MS } from '../platform/time.ts'

let service: TestService
let tenant: TestTenant
let member: Browser

/** The service's clock is at noon, so that no test crosses midnight. */
const toNoon = (Math.floor(Date.now() / DAY_MS) + 0.5) * DAY_MS - Date.now()
const now = () => new Date(Date.now() + toNoon)

const today = now().toISOString().slice(0, 10)
const inCity = (city: string) => ({ match: 'all', conditions: [{ property: 'city', operator: 'equals', value: city }] })

beforeAll(async () => {
  service = await startTestService({}, { clock: now })
  tenant = await createTestTenant(service)
  member = await signedIn(service, tenant.id, 'member')
  for (const [index, city] of ['Rome', 'Rome', 'Paris', 'Roma'].entries()) {
    await tenant.contact(`c${index}@example.com`, { city, tags: ['new', `t${index}`] }, { visitor_id: `v${index}` })
  }
  await tenant.track({ visitor_id: 'v0', events: [{ event: 'checkout', url: `https://${tenant.site}/pay` }] })
})
afterAll(() => service.close())

test('a preview returns the count and a sample, for properties and events, and writes nothing', async () => {
  const preview = (filter: unknown) => member.call('POST', '/v1/segments/preview', { filter })
  const rome = await preview(inCity('Rome'))
  expect(rome.body).toMatchObject({ count: 2, took_ms: expect.any(Number) })
  expect(rome.body.sample.map((each: { properties: { email: string } }) => each.properties.email).sort()).toEqual([
    'c0@example.com',
    'c1@example.com',
  ])
  const did = { match: 'all', conditions: [{ event: { type: 'checkout' }, operator: 'did' }] }
  expect((await preview(did)).body.count).toBe(1)
  const didNot = { match: 'all', conditions: [{ event: { type: 'checkout' }, operator: 'did_not' }] }
  expect((await preview(didNot)).body.count).toBe(3)
  expect((await preview({ match: 'all', conditions: [] })).body.count).toBe(4)
  expect((await tenant.call('GET', '/v1/segments')).body.segments).toEqual([])
})

test.each([
  [undefined, 'filter'],
  [7, 'filter'],
  [{ match: 'some', conditions: [] }, 'filter.match'],
  [{ match: 'all', conditions: [{ property: 'city', operator: 'like', value: 'x' }] }, 'filter.conditions[0].operator'],
])('a preview of %j is 400 and names %s', async (filter, path) => {
  const { status, body } = await member.call('POST', '/v1/segments/preview', { filter })
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'validation_error', path])
})

test('a preview whose statement is cancelled, as one that takes too long is, says so', async () => {
  const { database } = service.stores
  const preview = await database.transaction().execute(async (blocking) => {
    await sql`LOCK TABLE contacts`.execute(blocking)
    const response = member.call('POST', '/v1/segments/preview', { filter: inCity('Rome') })
    await until(async () => {
      const cancelled = await sql`SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%contacts%'`.execute(database)
      expect(cancelled.rows).toHaveLength(1)
    })
    return response
  })
  expect([preview.status, preview.body.error.code]).toEqual([400, 'preview_too_slow'])
})

test('a segment is created, changed and deleted, and the audit log records each actor', async () => {
  const made = await member.call('POST', '/v1/segments', { name: 'Romans', filter: inCity('Rome') })
  expect([made.status, made.body.segment.name, made.body.segment.description]).toEqual([201, 'Romans', null])
  const path = `/v1/segments/${made.body.segment.segment_id}`
  const members = () => tenant.call('GET', `/v1/segments/${made.body.segment.segment_id}`)
  await until(async () => expect((await members()).body.segment.contact_count).toBe(2))
  const changed = await member.call('PATCH', path, { description: 'All of them', filter: inCity('Paris') })
  expect(changed.body.segment).toMatchObject({ name: 'Romans', description: 'All of them', filter: inCity('Paris') })
  await until(async () => expect((await members()).body.segment.contact_count).toBe(1))
  const wrong = await member.call('PATCH', path, { filter: { match: 'all' } })
  expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'filter.conditions'])
  expect((await member.call('DELETE', path)).status).toBe(200)
  expect((await member.call('DELETE', path)).status).toBe(404)
  const owner = await signedIn(service, tenant.id, 'owner')
  const { body } = await owner.call('GET', '/v1/audit-log?subject_kind=segment')
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'segment.deleted',
    'segment.updated',
    'segment.created',
  ])
})

test('growth is computed backwards from the current count, using entries and exits', async () => {
  const { body } = await member.call('POST', '/v1/segments', { name: 'Growing', filter: inCity('Oslo') })
  const id = body.segment.segment_id
  await until(async () => {
    const row = await tenant.handle.db
      .selectFrom('segments')
      .select('evaluated_at')
      .where('segment_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.evaluated_at).not.toBeNull()
  })
  const first = await tenant.contact('oslo1@example.com', { city: 'Oslo' })
  await tenant.contact('oslo2@example.com', { city: 'Oslo' })
  await tenant.call('PUT', `/v1/contacts/${first}`, { properties: { city: 'Bergen' } })
  const growth = (await member.call('GET', `/v1/segments/${id}/growth`)).body
  expect(growth.by_day).toEqual([{ date: today, count: 1, entered: 2, exited: 1, redefined: 0 }])
  expect(growth.since).toBe(body.segment.created_at)
  const past = await member.call('GET', `/v1/segments/${id}/growth?from=2026-01-01&to=2026-01-02`)
  expect(past.body).toMatchObject({ counting: false, by_day: [] })
})

test('a segment of properties has a past: how many of its members were contacts already', async () => {
  const create = async (name: string, filter: object) =>
    (await member.call('POST', '/v1/segments', { name, filter })).body.segment.segment_id as string
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
  for (const days of [9, 3, 3]) {
    const contact = await tenant.contact(`past${days}-${Math.random()}@example.com`, { city: 'Vaasa' })
    await tenant.handle.db
      .updateTable('contacts')
      .set({ created_at: new Date(`${day(days)}T12:00:00Z`) })
      .where('contact_id', '=', contact)
      .execute()
  }
  const id = await create('From Vaasa', inCity('Vaasa'))
  const query = `from=${day(4)}&to=${day(0)}`
  await until(async () => {
    const { body } = await member.call('GET', `/v1/segments/${id}/growth?${query}`)
    expect(body.counting).toBe(false)
    expect(body.past).toEqual([
      { date: day(4), count: 1 },
      { date: day(3), count: 3 },
      { date: day(2), count: 3 },
      { date: day(1), count: 3 },
    ])
    expect(body.by_day).toMatchObject([{ date: day(0), count: 3 }])
  })
  const recent = { match: 'all', conditions: [{ property: 'created_at', operator: 'within_days', value: 30 }] }
  const other = await create('Recent', recent)
  await until(async () => {
    const { body } = await member.call('GET', `/v1/segments/${other}/growth?${query}`)
    expect([body.counting, body.past]).toEqual([false, []])
  })
})

test('growth includes the members that a changed definition added or removed', async () => {
  for (const [index, city] of ['Turku', 'Turku', 'Espoo'].entries()) {
    await tenant.contact(`finn${index}@example.com`, { city })
  }
  const { body } = await member.call('POST', '/v1/segments', { name: 'Defined', filter: inCity('Turku') })
  const id = body.segment.segment_id
  const path = `/v1/segments/${id}`
  const counts = async () => {
    const { by_day } = (await member.call('GET', `${path}/growth`)).body
    return by_day.slice(-3).map(({ count }: { count: number }) => count)
  }
  await until(async () => expect(await counts()).toEqual([2]))
  const created_at = sql<Date>`created_at - interval '2 days'`
  await tenant.handle.db.updateTable('segments').set({ created_at }).where('segment_id', '=', id).execute()
  const yesterday = sql<Date>`day - 1`
  await tenant.handle.db
    .updateTable('segment_silent_changes')
    .set({ day: yesterday })
    .where('segment_id', '=', id)
    .execute()
  expect(await counts()).toEqual([0, 2, 2])
  await member.call('PATCH', path, { filter: inCity('Espoo') })
  await until(async () => expect(await counts()).toEqual([0, 2, 1]))
  const growth = (await member.call('GET', `${path}/growth`)).body.by_day
  expect(growth).toMatchObject([
    { redefined: 0 },
    { redefined: 2 },
    { date: today, entered: 0, exited: 0, redefined: -1 },
  ])
})

test('suggestions match the typed text, most frequent first', async () => {
  const suggest = async (query: string) => (await member.call('GET', `/v1/segments/suggestions?${query}`)).body.values
  expect(await suggest('property=city&q=ro')).toEqual([
    { value: 'Rome', label: null, count: 2 },
    { value: 'Roma', label: null, count: 1 },
  ])
  expect((await suggest('property=tags'))[0]).toEqual({ value: 'new', label: null, count: 4 })
  expect(await suggest('property=event.type&q=check')).toEqual([{ value: 'checkout', label: null, count: 1 }])
  expect(await suggest('property=city&q=%25')).toEqual([])
  expect(await suggest('property=created_at')).toEqual([])
  const company = await tenant.call('POST', '/v1/companies', { name: 'Acme', domain: 'acme.com' })
  const { company_id } = company.body.company
  expect(await suggest('property=company_id&q=acm')).toEqual([{ value: company_id, label: 'Acme', count: 1 }])
  expect((await suggest('property=email&q=c1@')).map(({ value }: { value: string }) => value)).toEqual([
    'c1@example.com',
  ])
  for (const query of ['', 'property=', `property=${'x'.repeat(129)}`, 'property=a&limit=0', 'property=%00']) {
    expect((await member.call('GET', `/v1/segments/suggestions?${query}`)).status).toBe(400)
  }
})
