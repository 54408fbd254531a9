import { once } from 'node:events'
import { get } from 'node:http'
import { parse } from 'csv-parse/sync'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { AuditLogEntry } from '../operations/audit-list.ts'
import { csvLine } from '../platform/http/csv.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant
let viewer: Browser

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  viewer = await signedIn(service, tenant.id, 'viewer')
})

async function rowsOf(path: string): Promise<Record<string, string>[]> {
  const { status, body, headers } = await viewer.call('GET', path)
  if (status !== 200) throw new Error(JSON.stringify(body))
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="\w+-\d{4}-\d\d-\d\d\.csv"$/)
  return parse(body, { columns: true, bom: true })
}

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', '"\'\tx"'],
  ['\r=x', '"\'\r=x"'],
  ['\n=x', '"\'\n=x"'],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['﹦1', "'﹦1"],
  ['\u22121', "'\u22121"],
  [' =1', "' =1"],
  ['\u00a0=1', "'\u00a0=1"],
  ['\u200b=1', "'\u200b=1"],
  ['\ufeff＝1', "'\ufeff＝1"],
  ['\u202e\u2060 \u3164+1', "'\u202e\u2060 \u3164+1"],
  [`${'\u200b'.repeat(50)}@1`, `'${'\u200b'.repeat(50)}@1`],
  ['\u0000=1', "'\u0000=1"],
  [' a', '" a"'],
  ['\u200b', '\u200b'],
  ['１+1', '１+1'],
  ['a=1', 'a=1'],
  [-5, '-5'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
  ['say "hi", all', '"say ""hi"", all"'],
  ['=HYPERLINK("http://x";"y")', '"\'=HYPERLINK(""http://x"";""y"")"'],
  [['=a', 'b'], '"\'=a; b"'],
  [{ a: 1 }, '"{""a"":1}"'],
])('the value %j is written as %j', (value, written) => {
  expect(csvLine([value, 'end'])).toBe(`${written},end\r\n`)
})

test('contacts are filtered like the list, with the requested columns', async () => {
  const hostile = { firstname: '=cmd|calc', city: 'Rome', constructor: 'x', 'a key': 'b\r\nc' }
  await tenant.contact('csv1@example.com', hostile, { visitor_id: 'csv1' })
  await tenant.track({ visitor_id: 'csv2', events: [{ event: 'sold' }] })
  const identified = await tenant.contact('csv2@example.com', { city: 'Rome' }, { visitor_id: 'csv2' })
  await tenant.contact('csv3@example.com', { city: 'Oslo' })
  await tenant.track({ visitor_id: 'csv1', events: [{ event: 'bought' }] })
  const rows = await rowsOf('/v1/contacts/export.csv?city=Rome&columns=email,firstname,a%20key,constructor,toString')
  expect(rows).toEqual([
    { email: 'csv1@example.com', firstname: "'=cmd|calc", 'a key': 'b\r\nc', constructor: 'x', toString: '' },
    { email: 'csv2@example.com', firstname: '', 'a key': '', constructor: '', toString: '' },
  ])
  expect(await rowsOf('/v1/contacts/export.csv?has_event_type=bought&columns=email')).toEqual([
    { email: 'csv1@example.com' },
  ])
  // An event before the identification of its visitor.
  expect(await rowsOf('/v1/contacts/export.csv?has_event_type=sold&columns=email')).toEqual([
    { email: 'csv2@example.com' },
  ])
  expect(await rowsOf('/v1/events/export.csv?event_type=sold&columns=internal_contact_id')).toEqual([
    { internal_contact_id: identified },
  ])
  expect(await rowsOf('/v1/contacts/export.csv?city=Nowhere')).toEqual([])
  expect(await rowsOf('/v1/contacts/export.csv?company_id=none')).toEqual([])
  expect((await rowsOf('/v1/contacts/export.csv'))[0]).toHaveProperty('lifecyclestage')
})

describe('scopes', () => {
  test('a key needs the scope of the list, and events:read for event filters', async () => {
    const key = await tenant.keyWith('contacts:read')
    expect((await tenant.call('GET', '/v1/contacts/export.csv', undefined, key)).status).toBe(200)
    const asked = await tenant.call('GET', '/v1/contacts/export.csv?has_event_type=x', undefined, key)
    expect([asked.status, asked.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect((await tenant.call('GET', '/v1/events/export.csv', undefined, key)).status).toBe(403)
    expect((await tenant.call('GET', '/v1/companies/export.csv', undefined, key)).status).toBe(403)
  })

  test.each([
    '/v1/contacts/export.csv?created_after=soon',
    '/v1/contacts/export.csv?has_event_after=soon',
    '/v1/companies/export.csv?min_employees=x',
    '/v1/events/export.csv?date_before=never',
    `/v1/events/export.csv?columns=${'x'.repeat(8_001)}`,
    '/v1/events/export.csv?columns=%00',
  ])('%.80s is 400', async (path) => {
    const { status, body } = await viewer.call('GET', path)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
  })
})

test('the audit log records every CSV download with its columns and the names of its filters', async () => {
  const exporting = await createTestTenant(service)
  await exporting.contact('secret@example.com')
  const admin = await signedIn(service, exporting.id, 'admin')
  await admin.call(
    'GET',
    '/v1/contacts/export.csv?search=secret&country=Italy&sort_by=email&sort_property=orders&columns=email,city',
  )
  await exporting.call('GET', '/v1/companies/export.csv?sort_property=orders')
  await exporting.call('GET', '/v1/events/export.csv?event_type=bought')
  const refused = await admin.call('GET', '/v1/events/export.csv?date_before=never')
  const head = await fetch(`${service.url}/v1/contacts/export.csv`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${exporting.key}` },
  })
  expect([refused.status, head.status]).toEqual([400, 405])
  const { body } = await admin.call('GET', '/v1/audit-log?subject_kind=export')
  const entries = (body.entries as AuditLogEntry[]).map(({ actor, action, details }) => [actor.kind, action, details])
  expect(entries).toEqual([
    [
      'api_key',
      'list.exported',
      { name: 'events', columns: expect.arrayContaining(['contact_email']), filters: ['event_type'] },
    ],
    ['api_key', 'list.exported', { name: 'companies', columns: expect.arrayContaining(['domain']), filters: [] }],
    ['user', 'list.exported', { name: 'contacts', columns: ['email', 'city'], filters: ['country', 'search'] }],
  ])
  expect(JSON.stringify(body)).not.toContain('secret')
})

test.each([
  ['after another question mark', '?columns=event?&event_type=bought', ['event?']],
  ['after a hash', '#columns=event&event_type=bought', ['event']],
])('a filter %s is in the audit log as well', async (_where, query, columns) => {
  const exporting = await createTestTenant(service)
  const { hostname, port } = new URL(service.url)
  const headers = { authorization: `Bearer ${exporting.key}` }
  // Other clients do not send what follows a hash.
  const [response] = await once(get({ hostname, port, path: `/v1/events/export.csv${query}`, headers }), 'response')
  response.resume()
  expect(response.statusCode).toBe(200)
  const admin = await signedIn(service, exporting.id, 'admin')
  const { body } = await admin.call('GET', '/v1/audit-log?subject_kind=export')
  expect(body.entries[0].details).toEqual({ name: 'events', columns, filters: ['event_type'] })
})

test('companies include their properties', async () => {
  await tenant.call('POST', '/v1/companies', { name: '@Acme', domain: 'acme.com', properties: { industry: 'Steel' } })
  await tenant.call('POST', '/v1/companies', { name: 'Other', domain: 'other.com' })
  expect(await rowsOf('/v1/companies/export.csv?industry=Steel&columns=name,domain,industry')).toEqual([
    { name: "'@Acme", domain: 'acme.com', industry: 'Steel' },
  ])
})

test('every event is included once, newest first, across pages, even with equal timestamps', async () => {
  const many = await createTestTenant(service)
  const reader = await signedIn(service, many.id, 'viewer')
  const at = Date.UTC(2026, 0, 1)
  const lines = Array.from({ length: 11_000 }, (_, index) => {
    const row = {
      tenant_id: many.id,
      event_id: newId(),
      event: index % 2 ? 'odd' : 'even',
      url: `https://x.example/${index}`,
    }
    // Thousands share a timestamp, so a page ends among them.
    const timestamp = new Date(at + Math.floor(index / 4_000) * 1000).toISOString().replace('Z', '')
    return JSON.stringify({ ...row, timestamp, received_at: timestamp, visitor_id: 'v', data: '{"n":1}' })
  })
  await service.stores.clickhouse.insert('events', 'JSONEachRow', lines.join('\n'), newId())
  const { body } = await reader.call('GET', '/v1/events/export.csv?columns=event_id,timestamp,url,data.n')
  const rows: Record<string, string>[] = parse(body, { columns: true, bom: true })
  expect(new Set(rows.map(({ event_id }) => event_id)).size).toBe(11_000)
  expect(rows).toHaveLength(11_000)
  const times = rows.map(({ timestamp = '' }) => timestamp)
  expect(times).toEqual([...times].sort().reverse())
  expect(rows[0]?.['data.n']).toBe('1')
  const odd = await reader.call('GET', '/v1/events/export.csv?event_type=odd&columns=event')
  expect(parse(odd.body, { columns: true, bom: true })).toHaveLength(5_500)
  expect(parse((await viewer.call('GET', '/v1/events/export.csv?event_type=odd')).body)).toHaveLength(1)
})

test('events include the email of their contact', async () => {
  await tenant.contact('joined@example.com', {}, { visitor_id: 'joined' })
  await tenant.track({ visitor_id: 'joined', events: [{ event: 'seen_by_csv', data: { plan: '=1' } }] })
  const rows = await rowsOf('/v1/events/export.csv?event_type=seen_by_csv&columns=contact_email,data.plan')
  expect(rows).toEqual([{ contact_email: 'joined@example.com', 'data.plan': "'=1" }])
})

test("a merged contact's events are its survivor's in every file, and its own once it is unmerged", async () => {
  const ada = await tenant.contact('survivor@example.com')
  await tenant.track({ visitor_id: 'merged', events: [{ event: 'merged_by_csv' }] })
  const old = await tenant.contact('merged@example.com', {}, { visitor_id: 'merged' })
  await tenant.track({ visitor_id: 'merged', events: [{ event: 'merged_by_csv' }] })
  const read = async () => ({
    contacts: await rowsOf('/v1/contacts/export.csv?has_event_type=merged_by_csv&columns=email'),
    events: await rowsOf('/v1/events/export.csv?event_type=merged_by_csv&columns=internal_contact_id,contact_email'),
  })
  const belongsTo = (id: string, email: string) => {
    const event = { internal_contact_id: id, contact_email: email }
    return { contacts: [{ email }], events: [event, event] }
  }
  expect((await tenant.call('POST', `/v1/contacts/${old}/merge`, { into: ada })).status).toBe(200)
  expect(await read()).toEqual(belongsTo(ada, 'survivor@example.com'))
  expect((await tenant.call('POST', `/v1/contacts/${old}/unmerge`)).status).toBe(200)
  expect(await read()).toEqual(belongsTo(old, 'merged@example.com'))
})

test('records that are too large for a page of the usual length are read in shorter pages, once each', async () => {
  const many = await createTestTenant(service)
  const reader = await signedIn(service, many.id, 'viewer')
  const { database, clickhouse } = service.stores
  await sql`INSERT INTO contacts (tenant_id, contact_id, email, properties, properties_provenance, creation_source,
      first_seen_at, created_at, updated_at)
    SELECT ${many.id}, gen_random_uuid(), 'c' || n || '@example.com', filler, '{}', 'manual', now(), now(), now()
    FROM generate_series(1, 300) AS n, (SELECT jsonb_object_agg('k' || k, repeat('x', 60000)) AS filler
      FROM generate_series(1, 4) AS k) AS fillers`.execute(database)
  const contacts = await reader.call('GET', '/v1/contacts/export.csv?columns=email')
  expect(new Set(parse(contacts.body)).size).toBe(301)

  const url = `https://x.example/${'x'.repeat(16_000)}`
  const lines = Array.from({ length: 2_200 }, (_, index) => {
    const timestamp = new Date(Date.UTC(2026, 0, 1) + index).toISOString().replace('Z', '')
    const event = { tenant_id: many.id, event_id: newId(), event: 'long', url, referrer: url, timestamp }
    return JSON.stringify({ ...event, received_at: timestamp, visitor_id: 'v', data: '{}' })
  })
  await clickhouse.insert('events', 'JSONEachRow', lines.join('\n'), newId())
  const events = await reader.call('GET', '/v1/events/export.csv?columns=event_id')
  const ids: string[][] = parse(events.body)
  expect([ids.length, new Set(ids.flat()).size]).toEqual([2_201, 2_201])
})
