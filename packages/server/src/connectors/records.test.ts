import { describe, expect, test } from 'vitest'
import { connect, person, pulled, TOKEN, useScriptedSystem } from '../../test/scripted-connector.ts'
import { createTestTenant, startTestService } from '../../test/service.ts'
import { EMPTY_CALL } from '../sites/ingestion/call.ts'

const bench = useScriptedSystem()

const companies = async () => (await bench.tenant.call('GET', '/v1/companies')).body.companies
const contactOf = async (email: string) => {
  const { contacts } = (await bench.tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)).body
  return contacts.find((contact: { properties: { email?: string } }) => contact.properties.email === email)
}

/** Pulls pages one run after another. @returns a function that pulls the next pages, and returns the counts. */
async function source() {
  const path = await connect(bench.tenant)
  let { run_id } = await pulled(bench.tenant, path)
  return async (...pages: typeof bench.system.pages) => {
    bench.system.pages = pages
    expect((await bench.tenant.call('POST', `${path}/reread`, {})).status).toBe(202)
    const run = await pulled(bench.tenant, path, run_id)
    run_id = run.run_id
    return run.counts.people ?? {}
  }
}

const company = (id: string, more: object = {}) => ({
  externalId: id,
  domain: null,
  name: `Company ${id}`,
  properties: {},
  ...more,
})

describe('a company of a connected system', () => {
  test('is found by its id, else by its domain, else created', async () => {
    await bench.tenant.call('POST', '/v1/companies', { domain: 'known.example', name: 'Known' })
    const pull = await source()
    const sent = [
      company('1', { domain: 'https://www.known.example/about', name: 'Known Ltd' }),
      company('2', { domain: 'new.example' }),
      company('3', { domain: 'not a domain' }),
    ]
    expect(await pull({ companies: sent })).toEqual({ created: 2, updated: 1 })
    const byName = (all: { name: string; domain: string | null }[]) =>
      all.map(({ name, domain }) => [name, domain]).sort()
    const expected = [
      ['Company 2', 'new.example'],
      ['Company 3', null],
      ['Known Ltd', 'known.example'],
    ]
    expect(byName(await companies())).toEqual(expected)
    expect(await pull({ companies: sent })).toEqual({ unchanged: 3 })
    expect(byName(await companies())).toEqual(expected)
  })

  test('keeps what a person has set, until the system changes the value', async () => {
    const pull = await source()
    const sent = company('1', { properties: { industry: 'mills', size: 10 } })
    await pull({ companies: [sent] })
    const [{ company_id }] = await companies()
    const changed = await bench.tenant.call('PUT', `/v1/companies/${company_id}`, {
      name: 'Set by hand',
      properties: { industry: 'engines' },
    })
    expect(changed.status).toBe(200)
    expect(await pull({ companies: [{ ...sent, properties: { industry: 'mills', size: 11 } }] })).toEqual({
      updated: 1,
    })
    expect((await companies())[0]).toMatchObject({ name: 'Set by hand', properties: { industry: 'engines', size: 11 } })
    await pull({ companies: [{ ...sent, name: 'Renamed there', properties: { industry: 'looms' } }] })
    const [after] = await companies()
    expect(after).toMatchObject({ name: 'Renamed there', properties: { industry: 'looms' } })
    // Removed there, and not changed here.
    expect(after.properties).not.toHaveProperty('size')
  })

  test('does not take the domain of another company', async () => {
    const pull = await source()
    await pull({ companies: [company('1'), company('2', { domain: 'taken.example' })] })
    const counts = await pull({ companies: [company('1', { domain: 'taken.example' })] })
    expect(counts).toEqual({ unchanged: 1 })
    await pull({ companies: [company('1', { domain: 'free.example' })] })
    const domains = (await companies()).map(({ name, domain }: Record<string, string>) => [name, domain]).sort()
    expect(domains).toEqual([
      ['Company 1', 'free.example'],
      ['Company 2', 'taken.example'],
    ])
  })

  test('with values that cannot be stored fails alone', async () => {
    const pull = await source()
    const tooLong = company('2', { properties: { note: 'x'.repeat(70_000) } })
    expect(await pull({ companies: [company('1'), tooLong, company('')] })).toEqual({ created: 1, failed: 2 })
    expect((await companies()).map(({ name }: { name: string }) => name)).toEqual(['Company 1'])
  })

  test('has the contacts that name it, and loses them when they name another', async () => {
    const pull = await source()
    const named = (id: string) => ({
      companies: [company('1'), company('2')],
      contacts: [{ ...person(1), company_id: id }],
    })
    await pull(named('1'))
    const idOf = async (name: string) =>
      (await companies()).find((each: { name: string }) => each.name === name)?.company_id
    expect((await contactOf('person1@example.com')).company_id).toBe(await idOf('Company 1'))
    await pull(named('2'))
    expect((await contactOf('person1@example.com')).company_id).toBe(await idOf('Company 2'))
  })
})

describe('a contact of a connected system', () => {
  test('that is deleted there stays, without the values that only the system had', async () => {
    const pull = await source()
    await bench.tenant.contact('person1@example.com', { city: 'London' })
    await pull({ contacts: [person(1, { plan: 'pro' }), person(2)] })
    expect((await contactOf('person1@example.com')).properties).toMatchObject({ city: 'London', plan: 'pro' })
    expect(await pull({ contacts: [person(2)], deleted: ['1', 'unknown'] })).toEqual({ unchanged: 1, deleted: 1 })
    const { properties } = await contactOf('person1@example.com')
    expect(properties).toEqual({ email: 'person1@example.com', city: 'London' })
    // The deletion is found again in the overlap.
    expect(await pull({ deleted: ['1'] })).toEqual({})
  })

  test('that is merged there is merged here, once', async () => {
    const pull = await source()
    await pull({ contacts: [person(1, { plan: 'pro' }), person(2, { city: 'London' })] })
    const survivor = (await contactOf('person2@example.com')).contact_id
    const merged = { contacts: [person(2, { city: 'London' })], merged: [{ from: '1', into: '2' }] }
    expect(await pull(merged)).toEqual({ unchanged: 1, merged: 1 })
    expect((await bench.tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(1)
    const kept = (await bench.tenant.call('GET', `/v1/contacts/${survivor}`)).body.contact
    expect(kept.properties).toMatchObject({ city: 'London', plan: 'pro' })
    expect(await pull(merged)).toEqual({ unchanged: 1 })
    expect(await pull({ merged: [{ from: 'unknown', into: '2' }] })).toEqual({})
  })
})

/** An activity of a contact of the system. */
function activity(id: string, contact: string, timestamp = '2026-01-05T10:00:00Z') {
  const event = { event: 'task', timestamp, data: {}, sentId: null, sessionId: null, context: {}, clockCorrection: 0 }
  return { id, contact, call: { ...EMPTY_CALL, event } }
}

const tasks = async () => (await bench.tenant.call('GET', '/v1/events?event_type=task')).body.events.length

async function forgetIds(): Promise<void> {
  for (const table of ['event_ids_0', 'event_ids_1', 'event_ids_2'] as const) {
    await bench.tenant.handle.db.deleteFrom(table).execute()
  }
}

test('an activity of a contact that was merged is not recorded again for the survivor', async () => {
  const pull = await source()
  const visit = (contact: string) => activity('v', contact)
  await pull({ contacts: [person(1), person(2)], calls: [visit('1')] })
  await pull({ merged: [{ from: '1', into: '2' }] })
  await forgetIds()
  // The system moves a converted lead's activities to the contact that it became.
  expect(await pull({ calls: [visit('2'), visit('1')] })).toEqual({ unchanged: 2 })
  expect(await tasks()).toBe(1)
})

test('an activity that was moved to another day is not recorded again, even after its id was forgotten', async () => {
  const pull = await source()
  const visit = activity('v', '1', '2026-03-20T09:00:00Z')
  expect(await pull({ contacts: [person(1)], calls: [visit] })).toMatchObject({ accepted: 1 })
  await expect.poll(tasks).toBe(1)
  await forgetIds()
  const moved = activity('v', '1', '2026-01-02T09:00:00Z')
  expect(await pull({ calls: [moved, activity('w', '1')] })).toEqual({ unchanged: 1, accepted: 1 })
  await expect.poll(tasks).toBe(2)
})

describe('records of a connected system with the same email', () => {
  const lead = person(1, { plan: 'pro' })
  const contact = { ...person(2, { city: 'London' }), email: 'person1@example.com' }

  test('become one contact, which all their ids lead to', async () => {
    const pull = await source()
    expect(await pull({ contacts: [lead, contact], calls: [activity('a', '1'), activity('b', '2')] })).toEqual({
      created: 1,
      updated: 1,
      accepted: 2,
    })
    expect(await pull({ contacts: [contact], calls: [activity('c', '1')] })).toEqual({ unchanged: 1, accepted: 1 })
    expect(await tasks()).toBe(3)
    expect((await bench.tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(1)
    expect(await pull({ merged: [{ from: '1', into: '2' }], deleted: ['1'] })).toEqual({})
    const left = (await contactOf('person1@example.com')).properties
    expect(left).toMatchObject({ plan: 'pro', city: 'London' })
    expect(await pull({ calls: [activity('d', '2'), activity('e', '1')] })).toEqual({ accepted: 1, failed: 1 })
    // No record of the contact is left in the system.
    expect(await pull({ deleted: ['2'] })).toEqual({ deleted: 1 })
    expect((await contactOf('person1@example.com')).properties).toEqual({ email: 'person1@example.com' })
  })

  test('keep their ids in a merge, get them back when it is undone, and lose them in an erasure', async () => {
    const pull = await source()
    await pull({ contacts: [lead, contact, person(3)] })
    const { contact_id } = await contactOf('person1@example.com')
    const into = (await contactOf('person3@example.com')).contact_id
    expect((await bench.tenant.call('POST', `/v1/contacts/${contact_id}/merge`, { into })).status).toBe(200)
    expect(await pull({ contacts: [contact], calls: [activity('a', '2')] })).toMatchObject({ accepted: 1 })
    expect((await bench.tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(1)
    expect((await bench.tenant.call('POST', `/v1/contacts/${contact_id}/unmerge`)).status).toBe(200)
    expect(await pull({ deleted: ['3'], calls: [activity('b', '2')] })).toMatchObject({ accepted: 1, deleted: 1 })
    const ids = bench.tenant.handle.db.selectFrom('contact_source_ids').select(['external_id', 'contact_id'])
    expect(await ids.execute()).toEqual([{ external_id: '2', contact_id }])
    await bench.tenant.call('POST', '/v1/erasures', { contact_id })
    await expect.poll(() => ids.execute()).toEqual([])
    // An erasure does not block the person: if the record is read again, it creates the contact again.
    expect(await pull({ contacts: [contact] })).toEqual({ created: 1 })
  })
})

test('ids that name nobody join no people: a record counts by its email, or fails alone', async () => {
  const pull = await source()
  const named = (email: string | null) => ({
    external_id: 'undefined',
    properties: { plan: 'pro' },
    ...(email ? { email } : {}),
  })
  const profile = (id: string, more: object) => ({
    id,
    userId: 'null',
    email: null,
    visitorIds: [],
    properties: {},
    ...more,
  })
  const counts = await pull({
    companies: [company('undefined'), company('c-1')],
    contacts: [named('one@example.com'), named('two@example.com'), named(null)],
    profiles: [profile('p1', { email: 'three@example.com' }), profile('p2', { visitorIds: ['v'] }), profile('p3', {})],
  })
  expect(counts).toEqual({ created: 3, failed: 4, identified: 1 })
  expect(await companies()).toHaveLength(1)
  expect((await bench.tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(3)
  const { connections } = (await bench.tenant.call('GET', '/v1/connections')).body
  const { errors } = (await bench.tenant.call('GET', `/v1/connections/${connections[0].connection_id}/errors`)).body
  const idless = (code: string) => errors.filter((error: { code: string }) => error.code === code)
  expect(idless('validation_error')).toHaveLength(4)
  // What was written without its id is shown too, each such id once, however many records have it.
  expect(idless('ignored_id')).toMatchObject([
    { object: 'people', external_id: 'p1', message: expect.stringMatching(/^ignored_id: the user id "null" /) },
    {
      object: 'people',
      external_id: 'undefined',
      message: expect.stringMatching(/^ignored_id: external_id "undefined" /),
    },
  ])
  expect(errors).toHaveLength(6)
  expect(errors.every(({ message }: { message: string }) => message.includes('ignored_id'))).toBe(true)
})

test('an event whose user id names nobody is recorded by its other ids, and the connection shows the ignored id once', async () => {
  const pull = await source()
  const call = (id: string, more: object) => {
    const { call: task } = activity(id, '')
    return { id, call: { ...task, userId: 'undefined', ...more } }
  }
  const counts = await pull({
    calls: [call('e1', { email: 'ann@example.com' }), call('e2', { visitorId: 'v-1' }), call('e3', { userId: 'u-3' })],
  })
  expect(counts).toEqual({ accepted: 3 })
  const { connections } = (await bench.tenant.call('GET', '/v1/connections')).body
  const { errors } = (await bench.tenant.call('GET', `/v1/connections/${connections[0].connection_id}/errors`)).body
  expect(errors).toMatchObject([{ external_id: 'e1', code: 'ignored_id' }])
})

test('an address in the private network is refused, and nothing is sent to it', async () => {
  const { outbound, ...urls } = bench.system.options
  const guarded = await startTestService({}, { ...urls, outbound: { ca: outbound.ca } })
  try {
    const own = await createTestTenant(guarded)
    const body = { connector: 'scripted', credentials: { token: TOKEN } }
    const response = await own.call('POST', '/v1/connections', body)
    expect([response.status, response.body.error.code]).toEqual([400, 'url_not_allowed'])
    expect(bench.system.requests).toEqual([])
  } finally {
    await guarded.close()
  }
})
