import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { newId } from '../src/platform/ids.ts'
import { type MovingTimer, startMovingTimer } from './moving-timer.ts'
import type { makeCertificate } from './receiver.ts'
import type { TestTenant } from './service.ts'

/** A request to a connected system, as a test sees it. */
export interface SystemRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string | string[] | undefined>
  body: string
  /** When it arrived, in milliseconds of the system's timer. */
  at: number
}

/** Its response; an object or a list is sent as JSON. `null` cuts the connection. */
export type SystemResponse = { status?: number; headers?: Record<string, string>; body?: unknown } | null

export interface ConnectedSystem {
  url: string
  certificate: string
  /** Moves ahead instead of the pauses that a service makes between its requests to this system. */
  timer: MovingTimer
  /** Every request so far. */
  requests: SystemRequest[]
  /** Responds instead of the system, until a test resets it; undefined: the system responds. */
  intercept: (request: SystemRequest) => SystemResponse | undefined | Promise<SystemResponse | undefined>
  close(): Promise<void>
}

/** Starts an HTTPS server on loopback that plays the API of a connected system. */
export async function startConnectedSystem(
  { certificate, key }: ReturnType<typeof makeCertificate>,
  respond: (request: SystemRequest) => SystemResponse | Promise<SystemResponse>,
): Promise<ConnectedSystem> {
  const system: ConnectedSystem = {
    url: '',
    certificate,
    timer: startMovingTimer(),
    requests: [],
    intercept: () => undefined,
    close: async () => {},
  }
  const server = createServer({ cert: certificate, key }, async (incoming, response) => {
    const at = system.timer.now()
    const url = new URL(incoming.url ?? '/', 'https://system')
    const request = {
      method: incoming.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: await text(incoming),
      at,
    }
    system.requests.push(request)
    const intercepted = await system.intercept(request)
    const sent = intercepted === undefined ? await respond(request) : intercepted
    if (sent === null) {
      response.destroy()
      return
    }
    const { status = 200, headers = {}, body } = sent
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  system.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  system.close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return system
}

/** How often a test's service looks for due pulls. */
const SWEEP_MS = 40

/** The options of a service for which a system is the API of some connectors. It moves ahead instead of pausing. */
export function connectedTo(
  { url, certificate, timer }: Pick<ConnectedSystem, 'url' | 'certificate' | 'timer'>,
  ...connectors: string[]
) {
  return {
    outbound: { allowPrivate: true, ca: certificate },
    connectorUrls: Object.fromEntries(connectors.map((name) => [name, url])),
    connectorTimer: timer,
    sweepMs: { connectors: SWEEP_MS },
  }
}

/** The milliseconds between each request and the one before it. Clients wait at least as long as they should, so these are lower bounds. */
export function pausesBetween(requests: readonly SystemRequest[]): number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? at))
}

/** A paused connection with a run and a failed record, of which no system is asked. @returns its id. */
export async function insertConnection(
  { handle: { db } }: Pick<TestTenant, 'handle'>,
  { source = 'pipedrive', message = 'firstname has a value that is too long' } = {},
): Promise<string> {
  const [connectionId, runId, now] = [newId(), newId(), new Date()]
  const position = { runId: null, objects: {} }
  await db
    .insertInto('connections')
    .values({
      connection_id: connectionId,
      connector: 'pipedrive',
      source,
      account: 'Engine Works',
      settings: '{}',
      sealed: 'sealed',
      position: JSON.stringify(position),
      state: 'paused',
      error: null,
      next_pull_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  const run = { connection_id: connectionId, run_id: runId }
  const counts = JSON.stringify({ persons: { created: 3, failed: 1 } })
  await db
    .insertInto('connection_runs')
    .values({ ...run, counts, started_at: now, finished_at: now })
    .execute()
  const failed = { object: 'persons', external_id: '701', code: 'validation_error', message, at: now }
  await db
    .insertInto('connection_errors')
    .values({ ...run, error_id: newId(), ...failed })
    .execute()
  return connectionId
}
