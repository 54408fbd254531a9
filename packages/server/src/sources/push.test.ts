import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'
import { newId } from '../platform/ids.ts'
import { openTenant } from '../platform/tenant.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

interface Result {
  index: number
  external_id: string
  status: string
  contact_id?: string
  error?: { code: string; message: string }
}

/** @returns the results of the records. */
async function push(source: string, records: object[], more: object = {}): Promise<Result[]> {
  const { status, body } = await tenant.call('POST', `/v1/sources/${source}/contacts`, { records, ...more })
  if (status !== 200) throw new Error(JSON.stringify(body))
  expect(body.failed).toBe(body.results.filter((result: Result) => result.status === 'failed').length)
  return body.results
}

const statuses = (results: Result[]) => results.map(({ status }) => status)

async function read(contactId: string | undefined, include = 'provenance') {
  return (await tenant.call('GET', `/v1/contacts/${contactId}?include=${include}&include_events=false`)).body
}

async function count(): Promise<number> {
  return (await tenant.call('GET', '/v1/contacts?count_only=true')).body.count
}

/** The system events of a contact, sorted by name: those of one request share a timestamp. */
async function systemEvents(contactId: string | undefined): Promise<{ event: string; data: object }[]> {
  const path = `/v1/events?contact_id=${contactId}&include=system&sort_by=event&sort_dir=asc&limit=100`
  return (await tenant.call('GET', path)).body.events
}

describe('a record', () => {
  test('an opt-out in one of two records of a person is not undone by the other, only by its own', async () => {
    const push = async (...records: [id: string, optedOut: unknown][]) => {
      const sent = records.map(([external_id, has_opted_out_of_email]) => ({
        external_id,
        email: 'ada@example.com',
        properties: { has_opted_out_of_email },
      }))
      const { body } = await tenant.call('POST', '/v1/sources/crm/contacts', { records: sent })
      const { contact } = (await tenant.call('GET', `/v1/contacts/${body.results[0].contact_id}`)).body
      return contact.properties.has_opted_out_of_email
    }
    expect(await push(['contact', true], ['lead', false])).toBe(true)
    expect(await push(['contact', 'true'])).toBe('true')
    expect(await push(['lead', null])).toBe('true')
    expect(await push(['contact', true])).toBe(true)
    expect(await push(['contact', false], ['lead', false])).toBe(false)
  })

  test('creates and updates a contact, and is `unchanged` when it is repeated', async () => {
    const record = {
      external_id: '1',
      email: ' Ada@Example.com ',
      properties: { firstname: 'Ada', lifecyclestage: 'lead' },
    }
    const [created] = await push('hubspot', [record])
    expect(created).toEqual({ index: 0, external_id: '1', status: 'created', contact_id: expect.any(String) })
    const first = await read(created?.contact_id)
    expect(first.contact).toMatchObject({
      properties: { email: 'ada@example.com', firstname: 'Ada', lifecyclestage: 'lead' },
      creation_source: 'hubspot',
      properties_provenance: { email: { source: 'hubspot' }, firstname: { source: 'hubspot' } },
    })
    expect(first.unified_profile.sources.hubspot).toMatchObject({
      external_id: '1',
      synced_at: expect.any(String),
      first_seen_at: expect.any(String),
    })

    const [same] = await push('hubspot', [record])
    expect(same).toMatchObject({ status: 'unchanged', contact_id: created?.contact_id })
    const second = await read(created?.contact_id)
    expect(second.contact.updated_at).toBe(first.contact.updated_at)
    expect(Date.parse(second.unified_profile.sources.hubspot.synced_at)).toBeGreaterThanOrEqual(
      Date.parse(first.unified_profile.sources.hubspot.synced_at),
    )

    const [changed] = await push('hubspot', [{ external_id: '1', properties: { lifecyclestage: 'customer' } }])
    expect(changed).toMatchObject({ status: 'updated', contact_id: created?.contact_id })
    const events = await systemEvents(created?.contact_id)
    expect(events.map(({ event }) => event)).toEqual(['contact_created', 'contact_updated', 'lifecycle_stage_changed'])
    expect(events.map(({ data }) => data)).toMatchObject([
      { source: 'hubspot', properties: { email: 'ada@example.com' } },
      { source: 'hubspot', changed: ['lifecyclestage'] },
      { source: 'hubspot', from: 'lead', to: 'customer' },
    ])
  })

  test('finds its contact by the id in the source, else by email, and else creates one', async () => {
    const manual = await tenant.contact('grace@example.com')
    const [byEmail] = await push('crm', [{ external_id: 'g', email: 'GRACE@example.com' }])
    expect(byEmail).toMatchObject({ status: 'updated', contact_id: manual })
    const [byId] = await push('crm', [{ external_id: 'g', properties: { city: 'Arlington' } }])
    expect(byId?.contact_id).toBe(manual)
    // The same id in another source identifies another record.
    const [other] = await push('billing', [{ external_id: 'g' }])
    expect(other?.status).toBe('created')
    expect(other?.contact_id).not.toBe(manual)
    expect((await read(other?.contact_id)).contact.properties).toEqual({})
  })

  test('never changes an email, sets a free one on a contact without one, and is stored as sent', async () => {
    const [first] = await push('crm', [{ external_id: '1', email: 'one@example.com' }])
    await push('crm', [{ external_id: '2', email: 'two@example.com' }])
    const [moved] = await push('crm', [{ external_id: '1', email: 'new@example.com' }])
    expect(moved).toMatchObject({ status: 'updated', contact_id: first?.contact_id })
    const { contact, unified_profile } = await read(first?.contact_id)
    expect(contact.properties.email).toBe('one@example.com')
    expect(unified_profile.profile.email).toEqual({
      unique_values: [
        { value: 'new@example.com', sources: [{ source: 'crm', updated_at: expect.any(String) }] },
        { value: 'one@example.com', sources: [contact.properties_provenance.email] },
      ],
      all_sources: ['crm'],
      has_conflict: true,
    })
    const [blank] = await push('crm', [{ external_id: '3' }])
    const [taken] = await push('crm', [{ external_id: '3', email: 'two@example.com' }])
    expect(taken?.contact_id).toBe(blank?.contact_id)
    expect((await read(blank?.contact_id)).contact.properties).not.toHaveProperty('email')
    await push('crm', [{ external_id: '3', email: 'three@example.com' }])
    const given = await read(blank?.contact_id)
    expect(given.contact.properties.email).toBe('three@example.com')
    expect(given.contact.properties_provenance.email.source).toBe('crm')
    expect(await count()).toBe(3)
  })

  test('may have its email in properties, where it must not differ', async () => {
    const results = await push('crm', [
      { external_id: '1', properties: { email: 'A@example.com' } },
      { external_id: '2', email: 'a@example.com', properties: { email: 'a@EXAMPLE.com' } },
      { external_id: '3', email: 'a@example.com', properties: { email: 'b@example.com' } },
      { external_id: '4', properties: { email: null } },
    ])
    expect(statuses(results)).toEqual(['created', 'unchanged', 'failed', 'created'])
    expect(results[1]?.contact_id).toBe(results[0]?.contact_id)
  })

  test('shares a contact with another record with the same email: the contact shows the first id, and both lead to it', async () => {
    const records = [
      { external_id: '1', email: 'a@example.com' },
      { external_id: '2', email: 'a@example.com' },
      { external_id: '1', properties: { firstname: 'B' } },
      { external_id: '2', properties: { firstname: 'C' } },
    ]
    const results = await push('crm', records)
    expect(statuses(results)).toEqual(['created', 'unchanged', 'updated', 'updated'])
    expect(new Set(results.map(({ contact_id }) => contact_id)).size).toBe(1)
    const { contact, unified_profile } = await read(results[0]?.contact_id)
    expect(unified_profile.sources.crm.external_id).toBe('1')
    expect(contact.properties.firstname).toBe('C')
    expect(statuses(await push('crm', records))).toEqual(Array(4).fill('unchanged'))
  })

  test('leads to the contact that its id is known for, even if another has its email now', async () => {
    const [a, b] = await push('crm', [
      { external_id: '1', email: 'a@example.com' },
      { external_id: '2', email: 'b@example.com' },
    ])
    const again = await push('crm', [
      { external_id: '3', email: 'a@example.com' },
      { external_id: '4', email: 'b@example.com' },
      { external_id: '1', email: 'b@example.com' },
      { external_id: '2', email: 'a@example.com' },
    ])
    expect(again.map(({ contact_id }) => contact_id)).toEqual([a, b, a, b].map((result) => result?.contact_id))
    expect((await read(a?.contact_id)).unified_profile.sources.crm.external_id).toBe('1')
    expect((await read(b?.contact_id)).unified_profile.sources.crm.external_id).toBe('2')
  })

  test('sent twice in a request is applied in order', async () => {
    const results = await push('crm', [
      { external_id: '1', email: 'a@example.com', properties: { city: 'Rome' } },
      { external_id: '1', properties: { city: 'Oslo' } },
      { external_id: '1', properties: { city: 'Oslo' } },
    ])
    expect(statuses(results)).toEqual(['created', 'updated', 'unchanged'])
    const { contact } = await read(results[0]?.contact_id)
    expect(contact.properties.city).toBe('Oslo')
    const events = await systemEvents(results[0]?.contact_id)
    expect(events.map(({ event }) => event)).toEqual(['contact_created', 'contact_updated'])
  })

  test('has its raw data stored as sent, and returned only with include=raw', async () => {
    const raw = { Id: '1', nested: { list: [1, 'two', null, { deep: true }] }, empty: '' }
    const record = { external_id: '1', properties: { firstname: 'Ada' }, raw }
    const [created] = await push('crm', [record])
    await push('other', [{ external_id: '1', email: 'x@example.com' }])
    expect((await read(created?.contact_id, 'raw')).unified_profile.raw_data).toEqual({ crm: raw })
    expect((await read(created?.contact_id)).unified_profile).not.toHaveProperty('raw_data')
    expect(statuses(await push('crm', [record]))).toEqual(['unchanged'])
    expect(statuses(await push('crm', [{ ...record, raw: { ...raw, empty: 'no more' } }]))).toEqual(['updated'])
    // A push without it does not change it.
    expect(statuses(await push('crm', [{ external_id: '1' }]))).toEqual(['unchanged'])
    const { unified_profile } = await read(created?.contact_id, 'raw')
    expect(unified_profile.raw_data.crm.empty).toBe('no more')
  })
})

describe('companies', () => {
  test('company_domain links a contact without a company, and creates a missing company', async () => {
    const properties = { company: 'Acme', company_domain: 'https://www.ACME.com/about' }
    const [first, second] = await push('crm', [
      { external_id: '1', email: 'a@acme.com', properties },
      { external_id: '2', email: 'b@acme.com', properties: { company: 'Acme Inc.', company_domain: 'acme.com' } },
    ])
    const { body } = await tenant.call('GET', '/v1/companies')
    expect(body.companies).toMatchObject([{ domain: 'acme.com', name: 'Acme' }])
    const companyId = body.companies[0].company_id
    expect((await read(first?.contact_id)).contact.associations.companies).toEqual([companyId])
    expect((await read(second?.contact_id)).contact.company_id).toBe(companyId)
    // A contact with a company keeps it, and no unused company is created.
    await push('crm', [{ external_id: '1', properties: { company_domain: 'other.com' } }])
    expect((await read(first?.contact_id)).contact.company_id).toBe(companyId)
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(1)
  })

  test('a link alone counts as a change; a failed record creates no company', async () => {
    const properties = { company_domain: 'acme.com' }
    const [created] = await push('crm', [{ external_id: '1', properties }])
    const { company_id } = (await read(created?.contact_id)).contact
    await tenant.call('DELETE', `/v1/companies/${company_id}`)
    expect(statuses(await push('crm', [{ external_id: '1', properties }]))).toEqual(['updated'])
    const results = await push('crm', [
      { external_id: '2', properties: { company_domain: 'no domain' } },
      { external_id: '3', properties: { company_domain: 'never.com', lifecyclestage: 'nonsense' } },
    ])
    expect(statuses(results)).toEqual(['failed', 'failed'])
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(1)
  })
})

describe('an invalid record fails alone', () => {
  test.each([
    ['{"external_id":"a\\u0000b"}', null, 'external_id: contains a NUL'],
    ['{"external_id":"x","raw":{"deep":"a\\ud800"}}', 'x', 'raw.deep: contains a NUL'],
    ['{"external_id":"x","properties":{"a\\u0000":1}}', 'x', 'properties: a key contains a NUL'],
    ['{"external_id":"x","properties":{"__proto__":1}}', 'x', 'properties.__proto__: is a reserved name'],
    [`{"external_id":"x","raw":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'x', 'raw[0]'],
    ['{"external_id":1234567890123456781}', null, 'external_id: must be a string'],
    ['"\\u0000"', null, 'the record: contains a NUL'],
  ])('if it cannot be stored: %#', async (record, external_id, message) => {
    const good = (id: number) => `{"external_id":"${id}","email":"good${id}@example.com"}`
    const { status, body } = await call(service, 'POST', '/v1/sources/crm/contacts', {
      headers: { authorization: `Bearer ${tenant.key}` },
      body: `{"records":[${good(1)},${record},${good(2)}]}`,
    })
    expect([status, body.failed]).toEqual([200, 1])
    expect(body.results).toMatchObject([
      { status: 'created' },
      { status: 'failed', external_id },
      { status: 'created' },
    ])
    expect(body.results[1].error.message.slice(0, message.length)).toBe(message)
    expect(await count()).toBe(2)
  })

  test('but numbers that lose digits are kept as text in its properties and its raw record', async () => {
    const { body } = await call(service, 'POST', '/v1/sources/crm/contacts', {
      headers: { authorization: `Bearer ${tenant.key}` },
      body: '{"records":[{"external_id":"1","properties":{"account":1234567890123456781,"huge":1e400},"raw":{"id":1234567890123456782}}]}',
    })
    expect(body.warnings).toEqual([
      'records[0].properties.account was kept as text: as a number, it would lose digits.',
      'records[0].properties.huge was left out: it is a number that is too large to be stored.',
      'records[0].raw.id was kept as text: as a number, it would lose digits.',
    ])
    const { contact, unified_profile } = await read(body.results[0].contact_id, 'raw')
    expect(contact.properties).toEqual({ account: '1234567890123456781' })
    expect(unified_profile.raw_data.crm).toEqual({ id: '1234567890123456782' })
  })

  test.each([
    [{ email: 'nobody' }, /^email: /],
    [{ email: '' }, /^email: /],
    [{ properties: { email: 7 } }, /^properties\.email: /],
    [{ properties: { lifecyclestage: 'Boss' } }, /^properties\.lifecyclestage: must be one of lead/],
    [{ properties: { a: { b: 1 } } }, /^properties\.a: /],
    [{ properties: { '': 1 } }, /^properties\.: /],
    [{ properties: { long: 'x'.repeat(65_537) } }, /^properties\.long: /],
    [{ properties: { company_domain: 7 } }, /^properties\.company_domain: /],
    [{ properties: Object.fromEntries([...Array(501).keys()].map((key) => [`k${key}`, key])) }, /^properties: has 501/],
    [{ updated_at: 'yesterday' }, /^updated_at: /],
    [{ updated_at: '2026-02-30' }, /^updated_at: /],
  ])('%.80j', async (bad, message) => {
    const results = await push('crm', [
      { external_id: 'before', email: 'before@example.com' },
      { external_id: 'bad', ...bad },
      { external_id: 'after', email: 'after@example.com' },
    ])
    expect(statuses(results)).toEqual(['created', 'failed', 'created'])
    expect(results[1]).toEqual({
      index: 1,
      external_id: 'bad',
      status: 'failed',
      error: { code: 'validation_error', message: expect.stringMatching(message) },
    })
    expect(await count()).toBe(2)
  })

  test.each([
    [{ email: 'a@example.com' }, null, 'external_id: is required'],
    [{ external_id: null }, null, 'external_id: must be a string of 1 to 200 characters'],
    [{ external_id: 7 }, null, 'external_id: must be a string of 1 to 200 characters'],
    [{ external_id: ['a'] }, null, 'external_id: must be a string of 1 to 200 characters'],
    [{ external_id: '' }, '', 'external_id: must be a string of 1 to 200 characters'],
    [{ external_id: 'x'.repeat(201) }, 'x'.repeat(201), 'external_id: must be a string of 1 to 200 characters'],
    [{ external_id: 'bad', nmae: 'x' }, 'bad', 'nmae: is not a known field; remove it'],
    [null, null, 'the record: must be an object'],
    ['bad', null, 'the record: must be an object'],
    [[{ external_id: 'bad' }], null, 'the record: must be an object'],
  ])('as does %j', async (bad, external_id, message) => {
    const records = [{ external_id: 'before' }, bad, { external_id: 'after', email: 'after@example.com' }]
    const { status, body } = await tenant.call('POST', '/v1/sources/crm/contacts', { records })
    expect([status, body.failed, statuses(body.results)]).toEqual([200, 1, ['created', 'failed', 'created']])
    expect(body.results[1]).toEqual({
      index: 1,
      external_id,
      status: 'failed',
      error: { code: 'validation_error', message },
    })
    expect(await count()).toBe(2)
  })

  test('a push of invalid records returns their results', async () => {
    const { status, body } = await tenant.call('POST', '/v1/sources/crm/contacts', {
      records: [null, { external_id: 7 }],
    })
    expect([status, body.failed, statuses(body.results)]).toEqual([200, 2, ['failed', 'failed']])
  })

  test('a record with too many keys, counting those of other sources, fails and is not stored', async () => {
    const keys = (letter: string, many: number) =>
      Object.fromEntries(Array.from({ length: many }, (_, n) => [`${letter}${n}`, n]))
    const [created] = await push('crm', [{ external_id: '1', properties: keys('a', 400) }])
    const results = await push('billing', [
      { external_id: '9', email: 'x@example.com' },
      { external_id: '1', properties: keys('b', 400) },
    ])
    expect(statuses(results)).toEqual(['created', 'created'])
    const more = await push('crm', [
      { external_id: '1', properties: { ...keys('c', 101), company_domain: 'never.com' }, raw: { kept: false } },
      { external_id: '2', email: 'y@example.com' },
    ])
    expect(more).toMatchObject([{ status: 'failed', error: { code: 'validation_error' } }, { status: 'created' }])
    const { contact, unified_profile } = await read(created?.contact_id, 'raw')
    expect(Object.keys(contact.properties)).toHaveLength(400)
    expect(unified_profile.raw_data.crm).not.toHaveProperty('kept')
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(0)
  })
})

describe('an invalid body is 400', () => {
  test.each([
    [{ records: 'x' }, 'records'],
    [{}, 'records'],
    [{ records: [] }, 'records'],
    [{ records: Array.from({ length: 101 }, (_, n) => ({ external_id: `${n}` })) }, 'records'],
    [{ records: [{ external_id: '1' }], kind: 'manual' }, 'kind'],
    [{ records: [{ external_id: '1' }], extra: 1 }, 'extra'],
    [{ records: [{ external_id: '1' }], kind: 'a\u0000b' }, 'kind'],
    [{ records: [{ external_id: '1' }], 'extra\ud800': 1 }, ''],
  ])('%.60j', async (body, path) => {
    const response = await tenant.call('POST', '/v1/sources/crm/contacts', body)
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    expect(response.body.error.details[0].path).toBe(path)
    expect(await count()).toBe(0)
  })

  test.each([
    'manual',
    'form',
    'tracker',
    'identify',
    'import',
    'agent',
    'HubSpot',
    '-x',
    '_x',
    'a b',
    'x'.repeat(65),
    'ä',
    'a.b',
  ])('the source name %s', async (source) => {
    const body = { records: [{ external_id: '1', email: 'a@example.com' }] }
    const response = await tenant.call('POST', `/v1/sources/${encodeURIComponent(source)}/contacts`, body)
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    expect(response.body.error.details[0].path).toBe('source')
    expect(await count()).toBe(0)
  })
})

test('100 records in one request are one journal row', async () => {
  const records = Array.from({ length: 100 }, (_, n) => ({ external_id: `${n}`, email: `p${n}@example.com` }))
  expect(new Set(statuses(await push('crm', records)))).toEqual(new Set(['created']))
  expect(await count()).toBe(100)
  const created = await tenant.call('GET', '/v1/events?event_type=contact_created&count_only=true')
  expect(created.body.count).toBe(100)
  expect(new Set(statuses(await push('crm', records)))).toEqual(new Set(['unchanged']))
})

/** Pushes valid records. @returns how many statements PostgreSQL ran for them. */
async function statementsOf(records: object[], now: Date): Promise<number> {
  let statements = 0
  const database = service.stores.database.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      statements++
      return result
    },
  })
  const stores = { ...service.stores, database }
  const session = { ...commandSession(service), stores, tenant: (tenantId: string) => openTenant(stores, tenantId) }
  const values = { tenant: tenant.id, source: 'crm', records: records.map((record) => JSON.stringify(record)) }
  const output = await DATABASE_COMMANDS['source push']?.run(session, values, now)
  expect(output).toMatchObject({ failed: 0 })
  return statements
}

test('100 records cost as many statements as 10, whether they create contacts, change them or change nothing', async () => {
  const records = (prefix: string, many: number, city: string) =>
    Array.from({ length: many }, (_, n) => ({
      external_id: `${prefix}${n}`,
      email: `${prefix}${n}@example.com`,
      properties: { city, company_domain: `${prefix}${n % 7}.com` },
      raw: { city },
    }))
  const now = new Date()
  // The first push lists the source, and caches the segments' definitions.
  await statementsOf(records('first', 1, 'Rome'), now)
  for (const city of ['Rome', 'Oslo', 'Oslo']) {
    const few = await statementsOf(records('few', 10, city), now)
    expect(few).toBeGreaterThan(0)
    expect(await statementsOf(records('many', 100, city), now)).toBe(few)
  }
  expect(await count()).toBe(111)
})

test("another tenant's contacts are not found or changed", async () => {
  const other = tenant
  await push('crm', [{ external_id: '1', email: 'a@example.com', properties: { city: 'Rome' } }])
  tenant = await createTestTenant(service)
  const [result] = await push('crm', [{ external_id: '1', email: 'a@example.com', properties: { city: 'Oslo' } }])
  expect(result?.status).toBe('created')
  const { body } = await other.call('GET', '/v1/contacts')
  expect(body.contacts).toMatchObject([{ properties: { city: 'Rome' } }])
})

describe('concurrently', () => {
  test.each([
    ['with an email', { email: 'race@example.com' }],
    ['without an email', {}],
  ])('the same record ten times, %s, creates one contact', async (_name, more) => {
    const record = { external_id: newId(), ...more, properties: { city: 'Rome' } }
    const results = (await Promise.all(Array.from({ length: 10 }, () => push('crm', [record])))).flat()
    expect(new Set(results.map(({ contact_id }) => contact_id)).size).toBe(1)
    expect(statuses(results).sort()).toEqual(['created', ...Array(9).fill('unchanged')])
    expect(await count()).toBe(1)
  })

  test('batches with the same records in different orders create each contact once', async () => {
    const records = Array.from({ length: 60 }, (_, n) => ({
      external_id: `r${n}`,
      ...(n % 3 === 0 ? {} : { email: `p${n}@example.com` }),
      properties: { company_domain: `c${n % 7}.com` },
    }))
    const orders = Array.from({ length: 6 }, (_, turn) => [...records.slice(turn * 10), ...records.slice(0, turn * 10)])
    const results = (await Promise.all(orders.map((order) => push('crm', order)))).flat()
    expect(statuses(results)).not.toContain('failed')
    expect(await count()).toBe(60)
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(7)
  })
})
