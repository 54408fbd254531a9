import type pg from 'pg'
import { newId } from '../packages/server/src/platform/ids.ts'
import { bareChange } from './bare-writes.ts'
import { serverEvents, sourceRecords, trackBody, USERS } from './bodies.ts'
import { visitorsATurn, writeOfForm, writeOfIdentification } from './identification.ts'
import { load, pick, URL_OF_SERVICE, withKey } from './load.ts'
import { start } from './processes.ts'
import { milliseconds, progress, reportRate } from './report.ts'
import { defineSegments, SEGMENTS } from './segments.ts'
import type { Target } from './target.ts'
import { compareRates, compareSingle, type Write } from './turns.ts'

const BARE_PORT = 18_098
const TRACKERS = 64
/** Concurrent connectors, and the records per request. */
const CONNECTORS = 8
const RECORDS = 100
const EDITORS = 8
/** Concurrent servers, and the events per request. */
const SERVERS = 16
const SERVER_EVENTS = 100

/** The collector, compared with a server that stores nothing, and with ClickHouse alone. */
export async function measureTrack({ raw, site, size }: Target): Promise<void> {
  const headers = { origin: `https://${site}` }
  for (const events of [1, 10]) {
    const what = `POST /track, ${events} event${events > 1 ? 's' : ''} a request, ${TRACKERS} connections`
    progress(what)
    const next = () => ({ path: '/track', body: trackBody(site, events) })
    const common = { connections: TRACKERS, seconds: size.seconds, headers, next }
    const bareServer = await start('./bare-fastify.ts', [], { PORT: String(BARE_PORT) }, /ready/)
    const bare = await load({ ...common, port: BARE_PORT })
    await bareServer.stop()
    const measured = await load(common)
    const note = `; all readable ${milliseconds(await timeToRead(raw.apiKey))} later`
    reportRate(what, measured, { ...bare, of: 'requests, bare Fastify' }, events === 1 ? '0.25' : '', { note })
    // With single events, 64 waiting callers fill statements of at most 64 rows.
    const rows = events === 1 ? TRACKERS : 1_000
    const inserts = raw.inserts.find((each) => each.rows === rows)?.load
    if (!inserts) continue
    const of = `rows, ClickHouse alone, ${rows} a statement`
    const limit = { ...inserts, perSecond: inserts.perSecond * rows, of }
    reportRate(`${what}, as events`, measured, limit, events === 1 ? '' : '0.50', { unit: 'events', each: events })
  }
}

/** Events of servers, compared with a server that stores nothing, and with ClickHouse alone. */
export async function measureServerEvents({ raw, size }: Target): Promise<void> {
  const what = `POST /v1/events, ${SERVER_EVENTS} events a request, ${SERVERS} connections`
  progress(what)
  const next = () => ({ path: '/v1/events', body: serverEvents(SERVER_EVENTS) })
  const common = { connections: SERVERS, headers: withKey(raw.apiKey), next }
  const bareServer = await start('./bare-fastify.ts', [], { PORT: String(BARE_PORT) }, /ready/)
  const bare = await load({ ...common, seconds: size.seconds, port: BARE_PORT })
  await bareServer.stop()
  progress('creating the users')
  for (let user = 0; user < USERS; user += 500) await createUsers(raw.apiKey, user)
  const measured = await load({ ...common, seconds: size.seconds })
  reportRate(what, measured, { ...bare, of: 'requests, bare Fastify' }, '0.30')
  const rows = 1_000
  const inserts = raw.inserts.find((each) => each.rows === rows)?.load
  if (!inserts) return
  const limit = { ...inserts, perSecond: inserts.perSecond * rows, of: `rows, ClickHouse alone, ${rows} a statement` }
  reportRate(`${what}, as events`, measured, limit, '0.60', { unit: 'events', each: SERVER_EVENTS })
}

async function createUsers(apiKey: string, first: number): Promise<void> {
  const events = Array.from({ length: 500 }, (_, n) => ({ event: 'signed_up', user_id: `bench-user-${first + n}` }))
  const response = await fetch(`${URL_OF_SERVICE}/v1/events`, {
    method: 'POST',
    headers: { ...withKey(apiKey), 'content-type': 'application/json' },
    body: JSON.stringify({ events }),
  })
  const { failed } = (await response.json()) as { failed?: number }
  if (failed !== 0) throw new Error(`POST /v1/events returned ${response.status}, ${failed} failed`)
}

/** A read waits for all events acknowledged before it: a backlog would show here. */
async function timeToRead(apiKey: string): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(`${URL_OF_SERVICE}/v1/events?limit=1`, { headers: withKey(apiKey) })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
  return performance.now() - startedAt
}

/** Records of a connected source, in turns with upserts of as many rows into the contacts alone. */
export async function measureSources(target: Target): Promise<void> {
  await compareRates({
    what: `POST /v1/sources, ${RECORDS} records, ${CONNECTORS} connections`,
    write: writeOfRecords(target, RECORDS),
    connections: CONNECTORS,
    seconds: target.size.seconds,
    aim: '0.60',
  })
}

/** A request with records, about half of which are of existing contacts. */
function writeOfRecords({ raw, size, postgres }: Target, records: number): Write {
  return {
    headers: withKey(raw.apiKey),
    request: () => ({
      path: '/v1/sources/crm/contacts',
      body: JSON.stringify({ records: sourceRecords(size.contacts, records) }),
    }),
    bare: () => upsert(postgres, raw.tenantId, sourceRecords(size.contacts, records)),
    of: `bare upserts, ${records} row${records > 1 ? 's' : ''} a statement`,
    records,
  }
}

/** The statements of a program that stores only contacts, without sources, provenance and events. */
async function upsert(postgres: pg.Pool, tenantId: string, records: ReturnType<typeof sourceRecords>): Promise<void> {
  const places = (n: number) => `($1, $${3 * n + 2}, $${3 * n + 3}, $${3 * n + 4}, 'crm', now(), now(), now())`
  const statement = `INSERT INTO contacts
    (tenant_id, contact_id, email, properties, creation_source, first_seen_at, created_at, updated_at)
    VALUES ${records.map((_, n) => places(n)).join(', ')}
    ON CONFLICT (tenant_id, email) DO UPDATE SET properties = contacts.properties || excluded.properties, updated_at = now()`
  const parameters = records.flatMap(({ email, properties }) => [newId(), email, properties])
  await postgres.query(statement, [tenantId, ...parameters])
}

/** Changes of contacts by hand, then with segments to update, in turns with bare transactions with the same writes. */
export async function measureContacts(target: Target): Promise<void> {
  const what = `PUT contact, ${EDITORS} connections`
  const common = { write: writeOfChange(target), connections: EDITORS, seconds: target.size.seconds }
  await compareRates({ ...common, what, aim: '0.60' })
  await defineSegments(target.environment, target.raw.tenantId)
  await compareRates({ ...common, what: `${what}, ${SEGMENTS} segments`, aim: '0.40' })
}

/** A change of two properties of any contact. */
function writeOfChange({ raw, postgres }: Target): Write {
  let count = 0
  const change = () => ({ score: ++count, lead_status: count % 2 ? 'open' : 'new' })
  return {
    headers: withKey(raw.apiKey),
    request: () => ({
      method: 'PUT',
      path: `/v1/contacts/${pick(raw.contactIds)}`,
      body: JSON.stringify({ properties: change() }),
    }),
    bare: () => bareChange(postgres, raw.tenantId, pick(raw.contactIds), change()),
  }
}

/** Writes of contacts without others that could share their transaction: what one caller waits for. */
export async function measureSingleWrites(target: Target): Promise<void> {
  const { seconds } = target.size
  const timesMax = visitorsATurn(target, 2)
  const name = (what: string) => `${what}, one at a time`
  await compareSingle({ what: name('PUT contact'), write: writeOfChange(target), seconds })
  await compareSingle({ what: name('POST /v1/identify'), write: writeOfIdentification(target), seconds, timesMax })
  await compareSingle({ what: name('form submission'), write: writeOfForm(target), seconds, timesMax })
  await compareSingle({ what: name('POST /v1/sources, 1 record'), write: writeOfRecords(target, 1), seconds })
}
