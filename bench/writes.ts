import { load, SOURCE_CONNECTIONS, sourceRecords, trackBody } from './load.ts'
import { start } from './processes.ts'
import type { Raw } from './raw.ts'
import { number, perSecond, progress, rate, rows, SITE, SIZE, URL_OF_SERVICE } from './report.ts'
import { defineSegments, SEGMENTS } from './segments.ts'

const BARE_PORT = '18098'
const VISITORS = 200_000

/** The collector against raw chDB and against a server that stores nothing. */
export async function measureTrack(raw: Raw): Promise<void> {
  const headers = { origin: `https://${SITE}` }
  for (const events of [10, 1]) {
    progress(`POST /track with ${events} event${events > 1 ? 's' : ''}`)
    const common = { connections: 64, seconds: SIZE.seconds, headers, body: () => trackBody(SITE, events) }
    const bare = await start('./bare-fastify.ts', [], { PORT: BARE_PORT }, /ready/)
    const bareLoad = await load({ url: `http://127.0.0.1:${BARE_PORT}/track`, ...common })
    await bare.stop()
    const { requestsPerSecond, p50Ms, p99Ms } = await load({ url: `${URL_OF_SERVICE}/track`, ...common })
    const measured = `${number(requestsPerSecond * events)} events/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`
    const what = `POST /track, ${events} event${events > 1 ? 's' : ''} a request, 64 connections`
    if (events > 1) {
      const limit = `${number(raw.insertRowsPerSecond)} rows/s raw chDB`
      rows.push({ what, measured, limit, ratio: (requestsPerSecond * events) / raw.insertRowsPerSecond, aim: '0.50' })
    }
    if (events === 1) {
      const limit = `${number(raw.smallInsertRowsPerSecond)} rows/s raw chDB, 64 rows a statement`
      rows.push({ what, measured, limit, ratio: requestsPerSecond / raw.smallInsertRowsPerSecond, aim: '' })
    }
    const limit = `${number(bareLoad.requestsPerSecond)} requests/s bare Fastify`
    rows.push({
      what,
      measured,
      limit,
      ratio: requestsPerSecond / bareLoad.requestsPerSecond,
      aim: events > 1 ? '' : '0.25',
    })
  }
}

/** What following segments adds to a contact's write. */
export async function measureSegments(raw: Raw, environment: Record<string, string>): Promise<void> {
  const what = `PUT contact with ${SEGMENTS} segments, 8 connections`
  progress(what)
  let count = 0
  const write = () =>
    load({
      url: URL_OF_SERVICE,
      method: 'PUT',
      connections: 8,
      seconds: SIZE.seconds,
      headers: { authorization: `Bearer ${raw.apiKey}` },
      path: () => `/v1/contacts/${raw.contactIds[Math.floor(Math.random() * raw.contactIds.length)]}`,
      body: () => JSON.stringify({ properties: { score: ++count, lead_status: count % 2 ? 'open' : 'new' } }),
    })
  const without = await write()
  await defineSegments(environment, raw.tenantId)
  const { requestsPerSecond, p50Ms, p99Ms } = await write()
  rows.push({
    what,
    measured: `${number(requestsPerSecond)}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
    limit: `${number(without.requestsPerSecond)}/s without, p50 ${without.p50Ms} ms`,
    ratio: requestsPerSecond / without.requestsPerSecond,
    aim: '0.50',
  })
}

/** Records of a connected source. */
export async function measureSources(raw: Raw): Promise<void> {
  progress('POST /v1/sources')
  const { requestsPerSecond, p50Ms, p99Ms } = await load({
    url: `${URL_OF_SERVICE}/v1/sources/crm/contacts`,
    connections: SOURCE_CONNECTIONS,
    seconds: SIZE.seconds,
    headers: { authorization: `Bearer ${raw.apiKey}` },
    body: () => JSON.stringify({ records: sourceRecords(SIZE.contacts, 100) }),
  })
  rows.push({
    what: `POST /v1/sources, 100 records, ${SOURCE_CONNECTIONS} connections`,
    measured: `${number(requestsPerSecond * 100)} records/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
    limit: `${number(raw.upsertRowsPerSecond)} rows/s bare PostgreSQL upserts, 100 rows a statement`,
    ratio: (requestsPerSecond * 100) / raw.upsertRowsPerSecond,
    aim: '',
  })
}

/** Identifications and forms of visitors that have events: each moves those of one visitor. */
export async function measureIdentification(raw: Raw): Promise<void> {
  let count = 0
  const person = () => ({
    visitor_id: String(1 + 5 * Math.floor((Math.random() * VISITORS) / 5)),
    email: `new${++count}-${process.pid}@people.example`,
  })
  const common = { url: URL_OF_SERVICE, connections: 16, seconds: SIZE.seconds }
  progress('POST /v1/identify')
  const identified = await load({
    ...common,
    headers: { authorization: `Bearer ${raw.apiKey}` },
    path: () => '/v1/identify',
    body: () => JSON.stringify(person()),
  })
  progress('form submission')
  const submitted = await load({
    ...common,
    headers: { origin: `https://${SITE}` },
    path: () => `/v1/public/form-submission/${raw.tenantId}/bench`,
    body: () => {
      const { visitor_id, email } = person()
      return JSON.stringify({ visitor_id, contact_data: { email, firstName: 'Ada' } })
    },
  })
  for (const [what, measured] of Object.entries({ 'POST /v1/identify': identified, 'form submission': submitted })) {
    rows.push({
      what: `${what}, 16 connections`,
      measured: perSecond(measured),
      limit: `${rate(raw.movesPerSecond)}/s bare updates of one visitor's events`,
      ratio: measured.requestsPerSecond / raw.movesPerSecond,
      aim: '0.50',
    })
  }
}
