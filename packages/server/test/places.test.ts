import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../src/config.ts'
import { writeMmdb } from './mmdb.ts'
import { openDirectory } from './process.ts'
import { CHROME, call, createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** An event has the place of its person, however it is sent, and nothing has the address from which it follows. */

const BIELEFELD = '91.7.4.19'
const BREST = '2.6.77.3'
const PLACES = {
  [BIELEFELD]: { country: 'DE', region: 'North Rhine', city: 'Bielefeld' },
  [BREST]: { country: 'FR', region: 'Brittany', city: 'Brest' },
}
const NOWHERE = { country: null, region: null, city: null }

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  const file = join(await openDirectory(), 'city.mmdb')
  await writeMmdb(file, {
    '91.7.4.0/24': {
      country: { iso_code: 'DE' },
      subdivisions: [{ names: { en: 'North Rhine' } }],
      city: { names: { en: 'Bielefeld' } },
    },
    '2.6.77.0/24': { country_code: 'FR', state1: 'Brittany', city: 'Brest' },
  })
  service = await startTestService({ CDS_TRUST_PROXY: '1', CDS_GEO_DATABASE: file })
})
afterAll(() => service?.close())
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const from = (address: string) => ({ 'x-forwarded-for': address })

async function events(query = '', whose = tenant) {
  const { status, body } = await whose.call('GET', `/v1/events?limit=100&${query}`)
  expect(status).toBe(200)
  return body.events
}

async function keyOf(type: 'browser' | 'server'): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/sources', { name: type, type })
  expect(status).toBe(201)
  return body.write_key
}

/** Sends a call of an SDK. */
const sendCall = (key: string, body: object, headers: Record<string, string>) =>
  call(service, 'POST', '/v1/track', {
    headers: { authorization: `Basic ${btoa(`${key}:`)}`, ...headers },
    body: JSON.stringify({ anonymousId: 'v1', event: 'x', ...body }),
  })

const page = () => ({ origin: `https://${tenant.site}`, 'user-agent': CHROME })

test('a page’s events have the place of the address that the proxy names, and no other', async () => {
  const sent = { visitor_id: 'v1', context: { ip: BREST }, events: [{ event: 'x' }] }
  await tenant.track(sent, from(`${BREST}, ${BIELEFELD}`))
  expect(await events()).toMatchObject([PLACES[BIELEFELD]])
  for (const address of ['192.168.1.7', '127.0.0.1', 'invented']) await tenant.track(sent, from(address))
  expect((await events()).slice(0, 3)).toMatchObject([NOWHERE, NOWHERE, NOWHERE])
})

test('a form has the place of who submitted it', async () => {
  const submitted = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact`, {
    headers: { ...page(), ...from(BREST) },
    body: JSON.stringify({ contact_data: { email: 'ada@example.com' } }),
  })
  expect(submitted.status).toBe(200)
  expect(await events()).toMatchObject([{ event: 'form_submission', ...PLACES[BREST] }])
})

test('a browser’s SDK has the place of its address, unless it sends another or none', async () => {
  const key = await keyOf('browser')
  const headers = { ...page(), ...from(BIELEFELD) }
  for (const context of [{}, { ip: BREST }, { ip: '0.0.0.0' }, { ip: 7 }]) {
    expect((await sendCall(key, { context }, headers)).status).toBe(200)
  }
  expect(await events('sort_dir=asc')).toMatchObject([PLACES[BIELEFELD], PLACES[BREST], NOWHERE, PLACES[BIELEFELD]])
})

test('a server’s events have no place of their own, only that of the address that it names', async () => {
  const key = await keyOf('server')
  for (const context of [{}, { ip: BREST }]) {
    expect((await sendCall(key, { context }, from(BIELEFELD))).status).toBe(200)
  }
  const send = (context: object) =>
    call(service, 'POST', '/v1/events', {
      headers: { authorization: `Bearer ${tenant.key}`, ...from(BIELEFELD) },
      body: JSON.stringify({ events: [{ event: 'x', visitor_id: 'v1', context }] }),
    })
  for (const context of [{}, { ip: BIELEFELD }]) expect((await send(context)).status).toBe(200)
  expect(await events('sort_dir=asc')).toMatchObject([NOWHERE, PLACES[BREST], NOWHERE, PLACES[BIELEFELD]])
})

test('the client hints of a page, a form and an SDK say which browser it is', async () => {
  const hints = { 'sec-ch-ua': '"Brave";v="141", "Chromium";v="141"', 'sec-ch-ua-mobile': '?0', 'user-agent': CHROME }
  await tenant.track({ visitor_id: 'v1', events: [{ event: 'x' }] }, hints)
  await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact`, {
    headers: { ...page(), ...hints },
    body: JSON.stringify({ contact_data: { email: 'ada@example.com' } }),
  })
  await sendCall(await keyOf('browser'), {}, { ...page(), ...hints })
  // A server's own headers say nothing about the person.
  await sendCall(await keyOf('server'), {}, hints)
  expect((await events('sort_dir=asc')).map(({ browser }: { browser: string }) => browser)).toEqual([
    'Brave',
    'Brave',
    'Brave',
    null,
  ])
})

test('places and campaigns can be filtered, grouped, and read of visits and visitors', async () => {
  const track = (visitor: string, address: string, query: string) =>
    tenant.track(
      {
        visitor_id: visitor,
        session_id: visitor,
        events: [{ event: 'page_view', url: `https://${tenant.site}/${query}` }],
      },
      from(address),
    )
  await track('a', BIELEFELD, '?utm_source=news&utm_medium=email&utm_campaign=a%20b&utm_term=t&utm_content=c')
  await track('b', BIELEFELD, '')
  await track('c', BREST, '?utm_source=ads')
  const stranger = await createTestTenant(service)
  for (const [query, visitors] of [
    ['country=DE', ['a', 'b']],
    ['region=Brittany', ['c']],
    ['city=Bielefeld&utm_source=news', ['a']],
    ['utm_medium=email&utm_campaign=a%20b&utm_term=t&utm_content=c', ['a']],
    ['country=de', []],
  ] as const) {
    const found = await events(`sort_dir=asc&${query}`)
    expect(found.map(({ visitor_id }: { visitor_id: string }) => visitor_id)).toEqual(visitors)
    expect(await events(query, stranger)).toEqual([])
  }
  const group = async (group_by: string, filters = {}) => {
    const { body } = await tenant.call('POST', '/v1/aggregate', { entity: 'events', group_by, filters })
    return body.buckets
  }
  expect(await group('country')).toEqual([
    { key: 'DE', value: 2 },
    { key: 'FR', value: 1 },
  ])
  expect(await group('utm_source', { city: 'Bielefeld' })).toEqual([
    { key: 'news', value: 1 },
    { key: null, value: 1 },
  ])
  const all = { utm_source: 'news', utm_medium: 'email', utm_campaign: 'a b', utm_term: 't', utm_content: 'c' }
  expect(await group('visitor_id', { ...all, ...PLACES[BIELEFELD] })).toEqual([{ key: 'a', value: 1 }])
  const { body: timeline } = await tenant.call('GET', '/v1/timeline?country=FR')
  expect(timeline.items).toMatchObject([{ kind: 'visit', visit: { visitor_id: 'c' } }])
  const { body: visits } = await tenant.call('GET', '/v1/visits?country=FR')
  expect(visits.visits).toMatchObject([{ visitor_id: 'c', utm_source: 'ads', utm_medium: null, ...PLACES[BREST] }])
  const { body: visitor } = await tenant.call('GET', '/v1/visitors/a')
  expect(visitor.visitor).toMatchObject(PLACES[BIELEFELD])
  const { body: csv } = await tenant.call('GET', '/v1/events/export.csv?columns=visitor_id,country,city,utm_source')
  expect(csv).toContain('a,DE,Bielefeld,news')
})

test('the address is stored nowhere: in no table, no list of problems and no log', async () => {
  const key = await keyOf('browser')
  const headers = { ...page(), ...from(BIELEFELD) }
  const context = { ip: BREST, locale: 'fr' }
  await tenant.track({ visitor_id: 'v1', events: [{ event: 'x' }] }, from(BIELEFELD))
  await sendCall(key, { context }, headers)
  await tenant.call('POST', '/v1/events', { events: [{ event: 'x', email: 'ada@example.com', context }] })
  // Rejected requests, and one with a warning, are noted with their bodies.
  expect((await sendCall(key, { context, event: '' }, headers)).status).toBe(400)
  expect((await sendCall(key, { context, anonymousId: 'undefined', userId: 'u1' }, headers)).status).toBe(200)
  expect((await tenant.track({ context, events: [{ event: '' }] }, from(BIELEFELD))).status).toBe(400)
  expect((await sendCall('wrong', { context }, headers)).status).toBe(401)
  const problems = async () => (await tenant.call('GET', '/v1/tracker/problems')).body.problems
  await until(async () => expect(await problems()).toHaveLength(4))
  expect((await problems()).map(({ body }: { body: string }) => body).join()).toContain('"locale":"fr"')
  expect(await events()).toHaveLength(4)

  const { database, clickhouse } = service.stores
  const tables = await sql<{ name: string }>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema IN ('public', 'pgboss')`.execute(database)
  expect(tables.rows.length).toBeGreaterThan(100)
  for (const address of [BIELEFELD, BREST]) {
    for (const { name } of tables.rows) {
      const found = await sql`SELECT 1 FROM ${sql.raw(name)} AS t WHERE t::text LIKE ${`%${address}%`}`.execute(
        database,
      )
      expect([name, found.rows]).toEqual([name, []])
    }
    const rows = await clickhouse.query('SELECT * FROM events WHERE tenant_id = {id: UUID}', { id: tenant.id })
    expect(rows).toHaveLength(6)
    expect(JSON.stringify(rows)).not.toContain(address)
    expect(service.logged.join('')).not.toContain(address)
  }
})

test('a table that cannot be read is an error at the start, which says what to do', async () => {
  await expect(startTestService({ CDS_GEO_DATABASE: '/nowhere/city.mmdb' })).rejects.toMatchObject({
    code: 'geo_database_unreadable',
    message:
      'The service cannot read /nowhere/city.mmdb, which CDS_GEO_DATABASE names (ENOENT). Set it to the path of an .mmdb file, or remove it.',
  })
  expect(() => readConfig({ CDS_GEO_DATABASE: 'city.mmdb' })).toThrow(ConfigError)
})
