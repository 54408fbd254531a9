import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { CONNECTORS } from '../src/connectors/all-connectors.ts'
import { textOf } from '../src/connectors/client.ts'
import type { Connector, ConnectorObject, RecordsPage } from '../src/connectors/connector.ts'
import { type ConnectedSystem, connectedTo, type SystemResponse, startConnectedSystem } from './connected-system.ts'
import { reaches, runOf } from './connection-rows.ts'
import { makeCertificate } from './receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

export const WITHIN = { timeout: 120_000, interval: 20 }
export const TOKEN = 'token-of-the-scripted-system'

/** A connector whose system returns pages as the frame writes them: with everything that a page can have. */
const scripted: Connector = {
  name: 'scripted',
  label: 'Scripted',
  kind: 'crm',
  credentials: { token: 'A token.' },
  oauth: { provider: 'google', scopes: ['people.read'] },
  settings: {
    region: Type.Optional(Type.String()),
    host: Type.Optional(Type.String()),
    account_url: Type.Optional(Type.String({ readOnly: true })),
  },
  settingsOfResponse: ({ account_url }) => (account_url === undefined ? {} : { account_url }),
  baseUrl: ({ host = 'scripted.example' }) => `https://${host}`,
  headers: ({ token, access_token }) => ({ authorization: `Bearer ${token ?? access_token ?? ''}` }),
  pauseMs: 0,
  account: async (client) => {
    const account = textOf((await client.call({ path: '/me' })).account)
    return { id: account, label: account ?? '' }
  },
  objects: [
    {
      name: 'people',
      overlapSeconds: 0,
      read: async (client, { since, cursor }) => {
        const query = { since: since?.toISOString(), cursor: textOf(cursor) ?? undefined }
        return (await client.call({ path: '/people', query })) as unknown as RecordsPage
      },
    },
  ],
}

export interface ScriptedSystem extends ConnectedSystem {
  options: ReturnType<typeof connectedTo>
  /** What is accepted as a token. */
  token: string
  account: string
  /** Its pages, in order. The cursor is their number. */
  pages: Omit<RecordsPage, 'next'>[]
  /** The cursors of the pages that were asked for; null for the first. */
  asked(): (string | null)[]
  /** Returns the page with this cursor only once `release` is called; `reached` resolves when it is asked for. */
  hold(cursor: string | null): { reached: Promise<void>; release: () => void }
  /** Back to the start, for the next test. */
  reset(): void
}

/**
 * Starts the system, and lists its connector until it is closed.
 * @param further is read after the people; the test responds to its requests.
 */
export async function startScriptedSystem(further: readonly ConnectorObject[] = []): Promise<ScriptedSystem> {
  const connector = { ...scripted, objects: [...scripted.objects, ...further] }
  const certificate = makeCertificate()
  let held: { cursor: string | null; reached: () => void; released: Promise<void> } | null = null
  const system = await startConnectedSystem(certificate, async ({ path, query, headers }): Promise<SystemResponse> => {
    if (headers.authorization !== `Bearer ${self.token}`) return { status: 401, body: { message: 'token expired' } }
    if (path === '/me') return { body: { account: self.account } }
    const cursor = query.get('cursor')
    const page = self.pages[Number(cursor ?? 0)] ?? {}
    if (held?.cursor === cursor) {
      held.reached()
      await held.released
    }
    const next = Number(cursor ?? 0) + 1
    return { body: { ...page, next: next < self.pages.length ? String(next) : null } }
  })
  const listed = CONNECTORS as Connector[]
  listed.push(connector)
  const self: ScriptedSystem = Object.assign(system, {
    options: connectedTo(system, 'scripted'),
    token: TOKEN,
    account: 'Engines',
    pages: [],
    asked: () => system.requests.filter(({ path }) => path === '/people').map(({ query }) => query.get('cursor')),
    hold: (cursor: string | null) => {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      held = { cursor, reached: reached.resolve, released: released.promise }
      const release = () => {
        held = null
        released.resolve()
      }
      return { reached: reached.promise, release }
    },
    reset: () => {
      held = null
      Object.assign(system, { token: TOKEN, account: 'Engines', pages: [], requests: [], intercept: () => undefined })
    },
  })
  const { close } = system
  self.close = async () => {
    listed.splice(listed.indexOf(connector), 1)
    await close()
  }
  return self
}

/** A scripted system and a service that is connected to it. */
export interface ScriptedBench {
  system: ScriptedSystem
  service: TestService
  tenant: TestTenant
}

/** Starts both before the tests of a file. Each test has a new tenant and a system without pages. */
export function useScriptedSystem(environment: Record<string, string> = {}): ScriptedBench {
  const bench = {} as ScriptedBench
  beforeAll(async () => {
    bench.system = await startScriptedSystem()
    bench.service = await startTestService(environment, bench.system.options)
  })
  beforeEach(async () => {
    bench.tenant = await createTestTenant(bench.service)
    bench.system.reset()
  })
  afterAll(async () => {
    await bench.service?.close()
    await bench.system?.close()
  })
  return bench
}

/** A person as the system sends it. */
export function person(id: number, properties: Record<string, unknown> = {}) {
  return { external_id: String(id), email: `person${id}@example.com`, properties: { firstname: 'P', ...properties } }
}

/** @returns the path of the new connection. */
export async function connect(tenant: TestTenant, more: object = {}): Promise<string> {
  const body = { connector: 'scripted', credentials: { token: TOKEN }, ...more }
  const response = await tenant.call('POST', '/v1/connections', body)
  expect(response.status).toBe(201)
  return `/v1/connections/${response.body.connection.connection_id}`
}

function idIn(path: string): string {
  return path.split('/').at(-1) ?? ''
}

export async function readConnection(tenant: TestTenant, path: string) {
  return (await tenant.call('GET', path)).body.connection
}

/** Waits for a finished run other than `before`. @returns the run. */
export async function pulled(tenant: TestTenant, path: string, before?: string) {
  await runOf(tenant, idIn(path), before, 'ignore')
  return (await readConnection(tenant, path)).last_run
}

export async function inState(tenant: TestTenant, path: string, state: string) {
  await reaches(tenant, idIn(path), state)
  return readConnection(tenant, path)
}
