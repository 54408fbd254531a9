import { sdkBody, sdkPeople } from './bodies.ts'
import { load, URL_OF_SERVICE, withKey } from './load.ts'
import { start } from './processes.ts'
import { progress, reportRate } from './report.ts'
import type { Target } from './target.ts'

const BARE_PORT = 18_098
const SERVERS = 16
const CALLS = 100
const ROWS_A_STATEMENT = 1_000

/** Batches of Segment's SDK for servers, compared with a server that stores nothing, and with ClickHouse alone. */
export async function measureSdks({ raw, size }: Target): Promise<void> {
  const what = `POST /v1/batch, ${CALLS} Segment calls, ${SERVERS} connections`
  progress(what)
  const headers = basic(await createSource(raw.apiKey))
  for (const body of sdkPeople()) await send('/v1/batch', body, headers)
  const common = {
    connections: SERVERS,
    seconds: size.seconds,
    headers,
    next: () => ({ path: '/v1/batch', body: sdkBody(CALLS) }),
  }
  const bareServer = await start('./bare-fastify.ts', [], { PORT: String(BARE_PORT) }, /ready/)
  const bare = await load({ ...common, port: BARE_PORT })
  await bareServer.stop()
  const measured = await load(common)
  reportRate(what, measured, { ...bare, of: 'requests, bare Fastify' }, '0.30')
  const inserts = raw.inserts.find(({ rows }) => rows === ROWS_A_STATEMENT)?.load
  if (!inserts) return
  const of = `rows, ClickHouse alone, ${ROWS_A_STATEMENT} a statement`
  const limit = { ...inserts, perSecond: inserts.perSecond * ROWS_A_STATEMENT, of }
  reportRate(`${what}, as events`, measured, limit, '0.60', { unit: 'events', each: CALLS })
}

async function createSource(apiKey: string): Promise<string> {
  const source = await send('/v1/sources', JSON.stringify({ name: 'Bench SDK', type: 'server' }), withKey(apiKey))
  return (source as { write_key: string }).write_key
}

async function send(path: string, body: string, headers: Record<string, string>): Promise<unknown> {
  const response = await fetch(URL_OF_SERVICE + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

function basic(writeKey: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` }
}
