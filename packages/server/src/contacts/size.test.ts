import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { propose } from '../../test/actions.ts'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { unsubscribe } from '../identities/unsubscribe/unsubscribe.ts'

const KIB = 1024
const LIMIT = 256 * KIB
const ADA = 'ada@example.com'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const text = (length: number) => 'x'.repeat(length)
const keys = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, n]))
const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, text(60_000)]))

/** The size of a contact in the database, as JSON. */
async function storedBytes(contactId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT (octet_length(properties::text) + (SELECT sum(octet_length(fields::text) + coalesce(octet_length(raw::text), 0))
      FROM contact_sources WHERE contact_sources.contact_id = contacts.contact_id))::int AS bytes
    FROM contacts WHERE contact_id = ${contactId}`.execute(service.stores.database)
  return rows[0]?.bytes ?? 0
}
const read = async (contactId: string) => (await tenant.call('GET', `/v1/contacts/${contactId}?include=raw`)).body
const put = (contactId: string, properties: object) => tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
const push = async (...records: object[]) =>
  (await tenant.call('POST', '/v1/sources/crm/contacts', { records })).body.results
const submit = (body: object) =>
  call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
    headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
    body: JSON.stringify(body),
  })

/** A contact with some hundred bytes left. Each text counts twice: as a property and in the source's record. */
async function fullContact(email = ADA): Promise<string> {
  const id = await tenant.contact(email, texts('a', 'b'))
  const rest = Math.floor((LIMIT - (await storedBytes(id))) / 2) - 300
  expect((await put(id, { c: text(rest) })).status).toBe(200)
  return id
}

describe('a contact is limited to 256 KiB', () => {
  test('a write beyond that is 413, and writes nothing', async () => {
    const id = await fullContact()
    const before = await read(id)
    const { status, body } = await put(id, { firstname: 'Ada', d: text(1_000) })
    expect([status, body.error.code]).toEqual([413, 'contact_too_large'])
    expect(await read(id)).toEqual({ ...before, timestamp: expect.any(String) })
    expect(await storedBytes(id)).toBeLessThanOrEqual(LIMIT)
    expect((await put(id, { firstname: 'Ada' })).status).toBe(200)
    expect((await put(id, { a: null, d: text(50_000) })).status).toBe(200)
  })

  test('the limit applies to new contacts', async () => {
    const properties = texts('a', 'b', 'c')
    const { status, body } = await tenant.call('POST', '/v1/contacts', { email: ADA, properties })
    expect([status, body.error.code]).toEqual([413, 'contact_too_large'])
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
  })

  test('the stored JSON counts: escapes, multi-byte characters, and numbers with their zeros', async () => {
    const values = {
      a: '"'.repeat(30_000),
      b: '€'.repeat(10_000),
      c: Array(100).fill(1e300),
      d: '\u0001'.repeat(1_000),
    }
    const id = await tenant.contact(ADA, values)
    const free = LIMIT - (await storedBytes(id))
    const { status } = await put(id, { f: text(Math.floor(free / 2) - 1_000) })
    expect(status).toBe(200)
    const numbers = await tenant.call('POST', '/v1/contacts', {
      email: 'numbers@example.com',
      properties: { n: Array(20_000).fill(1e300) },
    })
    expect([numbers.status, numbers.body.error.code]).toEqual([413, 'contact_too_large'])
  })

  test('small numbers count with their zeros as well', async () => {
    const company = { domain: 'acme.com', properties: { n: Array(24_800).fill(1e-7) } }
    const { status, body } = await tenant.call('POST', '/v1/companies', company)
    expect([status, body.error.code]).toEqual([413, 'company_too_large'])
  })

  test('removals by hand count, because they are stored', async () => {
    const id = await fullContact()
    const key = (n: number) => `${n}`.padEnd(128, 'k')
    const { status, body } = await put(id, Object.fromEntries(Array.from({ length: 10 }, (_, n) => [key(n), null])))
    expect([status, body.error.code]).toEqual([413, 'contact_too_large'])
  })

  test('the ids of the records that say an opt-out count', async () => {
    const id = await tenant.contact(ADA)
    const properties = Object.fromEntries(Array.from({ length: 240 }, (_, n) => [`optout_${n}`, true]))
    const records = Array.from({ length: 30 }, (_, n) => ({
      external_id: `${n}`.padStart(200, 'x'),
      email: ADA,
      properties,
    }))
    const results = []
    for (const record of records) results.push(...(await push(record)))
    expect(results[0].status).toBe('updated')
    expect(results.at(-1)).toMatchObject({ status: 'failed', error: { code: 'contact_too_large' } })
    // A few short opt-outs do not count: see `withoutConsent`.
    expect(await storedBytes(id)).toBeLessThanOrEqual(LIMIT + 20 * 20 * 210)
  })

  test('of many records that say an opt-out, few are noted, also after a merge', async () => {
    const write = async (email: string, from: number) => {
      const ids = Array.from({ length: 15 }, (_, n) => from + n)
      return (await push(...ids.map((n) => ({ external_id: `${n}`, email, properties: { opted_out: true } }))))[0]
    }
    const [{ contact_id: into }, { contact_id: other }] = [await write(ADA, 10), await write('b@example.com', 50)]
    expect((await tenant.call('POST', `/v1/contacts/${other}/merge`, { into })).status).toBe(200)
    const fields = await tenant.handle.db
      .selectFrom('contact_sources')
      .select(sql<{ opted_out: { said_by: string[] } }>`fields`.as('fields'))
      .where('contact_id', '=', into)
      .where('source', '=', 'crm')
      .executeTakeFirstOrThrow()
    expect(fields.fields.opted_out.said_by).toHaveLength(20)
  })

  test('many concurrent sources cannot exceed it', async () => {
    const id = await tenant.contact(ADA, texts('a'))
    const say = (source: string) =>
      tenant.call('POST', `/v1/sources/${source}/contacts`, {
        records: [{ external_id: '1', email: ADA, raw: { text: text(50_000) } }],
      })
    const responses = await Promise.all(Array.from({ length: 10 }, (_, n) => say(`source${n}`)))
    const statuses = responses.map(({ body }) => body.results[0].status)
    expect(statuses.filter((status) => status === 'failed')).toHaveLength(8)
    expect(await storedBytes(id)).toBeLessThanOrEqual(LIMIT)
  })
})

describe('the limit applies to every writer', () => {
  test("a source's record fails alone", async () => {
    const id = await fullContact()
    const results = await push(
      { external_id: '1', email: ADA, properties: { city: 'London' }, raw: { text: text(1_000) } },
      { external_id: '2', email: 'bob@example.com' },
    )
    expect(results).toMatchObject([{ status: 'failed', error: { code: 'contact_too_large' } }, { status: 'created' }])
    expect((await read(id)).unified_profile.sources).not.toHaveProperty('crm')
  })

  test('POST /v1/identify is 413 and links no visitor', async () => {
    await fullContact()
    const sent = { email: ADA, visitor_id: 'v', properties: { city: text(1_000) } }
    const { status, body } = await tenant.call('POST', '/v1/identify', sent)
    expect([status, body.error.code]).toEqual([413, 'contact_too_large'])
    await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view' }] })
    const { events } = (await tenant.call('GET', '/v1/events?visitor_id=v')).body
    expect(events[0].internal_contact_id).toBeNull()
  })

  test('the tracker gets a warning, and its events are recorded', async () => {
    await fullContact()
    const identify = { traits: { email: ADA, city: text(1_000) } }
    const { status, body } = await tenant.track({ visitor_id: 'v', identify, events: [{ event: 'page_view' }] })
    expect([status, body.accepted]).toEqual([200, 1])
    expect(body.warnings).toEqual([expect.stringMatching(/^identify was ignored: .*KiB/)])
  })

  test('a form is 413, and its company is not created', async () => {
    await fullContact()
    const data = { contact_data: { email: ADA, city: text(1_000) }, company_data: { domain: 'acme.com' } }
    const { status, body } = await submit(data)
    expect([status, body.error.code]).toEqual([413, 'contact_too_large'])
    expect((await tenant.call('GET', '/v1/companies?count_only=1')).body.count).toBe(0)
  })

  test('an agent fails with the code', async () => {
    const contactId = await fullContact()
    const params = { properties: { city: text(1_000) } }
    const proposal = { contactId, now: new Date(), type: 'crm_update' as const, params }
    const { ref } = await propose(tenant.handle, service.jobs, proposal)
    await until(async () => {
      const action = await tenant.handle.db
        .selectFrom('agent_actions')
        .select(['status', 'error'])
        .where('run_id', '=', ref.runId)
        .executeTakeFirst()
      expect(action).toMatchObject({ status: 'failed', error: { code: 'contact_too_large' } })
    })
  })

  test("64 KiB are reserved for the tenant's own systems", async () => {
    const identify = async (trait: string) => {
      const traits = { email: ADA, ...texts(trait) }
      return (await tenant.track({ visitor_id: 'v', identify: { traits }, events: [] })).body
    }
    expect(await identify('a')).not.toHaveProperty('warnings')
    expect((await identify('b')).warnings).toHaveLength(1)
    expect((await submit({ contact_data: { email: ADA, ...texts('b') } })).body.error.code).toBe('contact_too_large')
    expect(await push({ external_id: '1', email: ADA, properties: texts('b') })).toMatchObject([{ status: 'updated' }])
  })

  test('100 keys are reserved for writers other than pages and forms', async () => {
    const identify = async (traits: object) =>
      (await tenant.track({ visitor_id: 'v', identify: { traits: { email: ADA, ...traits } }, events: [] })).body
    expect(await identify(keys(0, 399))).not.toHaveProperty('warnings')
    expect((await identify({ k400: 1 })).warnings).toEqual([expect.stringContaining('more than 400 keys')])
    expect((await submit({ contact_data: { email: ADA, k400: 1 } })).status).toBe(400)
    expect(await push({ external_id: '1', email: ADA, properties: keys(400, 100) })).toMatchObject([
      { status: 'updated' },
    ])
    // A write that adds no key is accepted, even if other sources have used up the limit.
    expect(await identify({ k0: 'changed' })).not.toHaveProperty('warnings')
    expect((await submit({ contact_data: { email: ADA, k0: 'again' } })).status).toBe(200)
  })

  test('a write that does not enlarge a full contact is accepted', async () => {
    const data = { contact_data: { email: ADA, city: 'London' } }
    const { contact_id } = (await submit(data)).body
    expect((await put(contact_id, { ...texts('a'), b: text(40_000) })).status).toBe(200)
    expect((await submit(data)).status).toBe(200)
    expect((await submit({ contact_data: { email: ADA, city: 'Paris!' } })).status).toBe(200)
    expect((await submit({ contact_data: { email: ADA, city: 'A longer one' } })).status).toBe(413)
    const identify = { external_user_id: 'user-42', traits: { email: ADA } }
    const { body } = await tenant.track({ visitor_id: 'v', identify, events: [] })
    expect(body).not.toHaveProperty('warnings')
  })

  test('a full contact can be identified by its email, from everywhere', async () => {
    const id = await fullContact()
    expect((await submit({ contact_data: { email: ADA } })).status).toBe(200)
    expect((await tenant.call('POST', '/v1/identify', { email: ADA, visitor_id: 'v' })).status).toBe(200)
    const { body } = await tenant.track({ visitor_id: 'w', identify: { traits: { email: ADA } }, events: [] })
    expect(body).not.toHaveProperty('warnings')
    expect((await read(id)).unified_profile.profile.email.all_sources).toEqual([
      'manual',
      'form',
      'identify',
      'tracker',
    ])
  })

  test('unsubscribing works on a full contact', async () => {
    const contacts = [await fullContact(), await tenant.contact('many@example.com', keys(0, 499))]
    for (const contactId of contacts) {
      const { email } = (await read(contactId)).contact.properties
      await unsubscribe(tenant.handle, service.writing, { address: email, contactId })
      expect((await read(contactId)).contact.properties.unsubscribed).toBe(true)
      expect((await put(contactId, { do_not_contact: true })).status).toBe(200)
    }
    expect((await put(contacts[1] ?? '', { k1: 'changed' })).status).toBe(200)
    expect((await put(contacts[1] ?? '', { k501: 1 })).status).toBe(400)
  })

  test('a first touch that does not fit is ignored, and the events are recorded', async () => {
    const id = await fullContact()
    await tenant.call('PUT', `/v1/contacts/${id}`, { visitor_id: 'v' })
    const url = `https://${tenant.site}/${text(2_000)}`
    const { status } = await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url }] })
    expect(status).toBe(200)
    const { contact, events } = await read(id)
    expect(contact.properties).not.toHaveProperty('first_landing_page')
    expect(events).toHaveLength(1)
    expect(service.logged.filter((line) => line.includes('first touch could not'))).toEqual([])
  })
})

test('a company is limited to 256 KiB', async () => {
  const tooLarge = texts('a', 'b', 'c', 'd', 'e')
  const created = await tenant.call('POST', '/v1/companies', { domain: 'acme.com', properties: tooLarge })
  expect([created.status, created.body.error.code]).toEqual([413, 'company_too_large'])
  const { company_id } = (await tenant.call('POST', '/v1/companies', { domain: 'acme.com' })).body.company
  const changed = await tenant.call('PUT', `/v1/companies/${company_id}`, { properties: tooLarge })
  expect([changed.status, changed.body.error.code]).toEqual([413, 'company_too_large'])
  const properties = texts('a', 'b', 'c', 'd')
  expect((await tenant.call('PUT', `/v1/companies/${company_id}`, { properties })).status).toBe(200)
  const data = { contact_data: { email: ADA }, company_data: { domain: 'acme.com', ...texts('e') } }
  expect((await submit(data)).body.error.code).toBe('company_too_large')
  expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
})

describe("part of a company's limits is reserved for writers other than forms", () => {
  const submitCompany = (fields: object) =>
    submit({ contact_data: { email: ADA }, company_data: { domain: 'acme.com', ...fields } })
  const putCompany = async (properties: object) => {
    const { company_id } = (await tenant.call('GET', '/v1/companies')).body.companies[0]
    return (await tenant.call('PUT', `/v1/companies/${company_id}`, { properties })).status
  }

  test('64 KiB', async () => {
    expect((await submitCompany(texts('a', 'b', 'c'))).status).toBe(200)
    expect((await submitCompany(texts('d'))).body.error.code).toBe('company_too_large')
    expect((await submitCompany(texts('a'))).status).toBe(200)
    expect(await putCompany(texts('d'))).toBe(200)
    // A form that does not enlarge the contact is accepted, although other sources have filled it.
    expect((await submitCompany({ a: 'shorter' })).status).toBe(200)
  })

  test('100 keys', async () => {
    expect((await submitCompany(keys(0, 400))).status).toBe(200)
    expect((await submitCompany({ k400: 1 })).status).toBe(400)
    expect(await putCompany(keys(400, 100))).toBe(200)
    expect((await submitCompany({ k0: 'changed' })).status).toBe(200)
  })

  test('also if a form creates the company', async () => {
    expect((await submitCompany(keys(0, 401))).status).toBe(400)
    expect((await submitCompany(texts('a', 'b', 'c', 'd'))).body.error.code).toBe('company_too_large')
  })
})

test('the change events of a contact have at most 32 KiB of properties', async () => {
  const id = await tenant.contact(ADA, texts('a'))
  await put(id, { city: 'London' })
  const { events } = (await tenant.call('GET', `/v1/events?contact_id=${id}&include=system&sort_dir=asc`)).body
  expect(events.map(({ data }: { data: object }) => data)).toEqual([
    { source: 'manual', properties_omitted: true },
    { changed: ['city'], source: 'manual', properties_omitted: true },
  ])
})

test('the database rejects a contact that is too large', async () => {
  const id = await tenant.contact(ADA)
  const large = JSON.stringify({ a: text(300_000) })
  const write = (column: string, table: string) =>
    sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${large} WHERE contact_id = ${id}`.execute(
      service.stores.database,
    )
  await expect(write('properties', 'contacts')).rejects.toMatchObject({ constraint: 'contacts_size' })
  await expect(write('fields', 'contact_sources')).rejects.toMatchObject({ constraint: 'contact_sources_size' })
  await expect(write('raw', 'contact_sources')).rejects.toMatchObject({ constraint: 'contact_sources_size' })
})
