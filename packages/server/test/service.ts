import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import type { TSchema } from 'typebox'
import { type Dispatcher, request } from 'undici'
import { inject } from 'vitest'
import { createApiKey } from '../src/access/api-keys.ts'
import { addVerifiedDomain } from '../src/access/domains-of-tenant.ts'
import { ADDRESS_FILE } from '../src/assembly/engines.ts'
import { type Service, type ServiceOptions, startService } from '../src/assembly/service.ts'
import { type Config, readConfig } from '../src/config.ts'
import { CONNECTORS } from '../src/connectors/all-connectors.ts'
import { ENRICHERS } from '../src/enrichment/all-enrichers.ts'
import { PROVIDER_KINDS } from '../src/enrichment/providers/kinds.ts'
import { type ClickHouse, connectClickHouse } from '../src/platform/clickhouse/connect.ts'
import type { App } from '../src/platform/http/app-types.ts'
import { newId } from '../src/platform/ids.ts'
import { createLog, type Logger } from '../src/platform/log.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { openTenant, type Tenant } from '../src/platform/tenant.ts'
import { type Clock, systemClock } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { recordResponses } from './interface-coverage.ts'
import { undeclaredFields, validatorOf } from './undeclared-fields.ts'
import { requireMarks } from './unmarked-fields.ts'

export interface TestService extends Service {
  config: Config
  clock: Clock
  /** The service's log so far. */
  logged: string[]
  log: Logger
  /** Whether other files use it too. */
  isShared?: true
}

/** Makes every update of the matching rows (a condition on `old`) fail. @returns a function that ends this. */
export async function refuseUpdates(
  database: Service['stores']['database'],
  table: string,
  condition: RawBuilder<unknown>,
): Promise<() => Promise<void>> {
  await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    ${sql.lit("BEGIN RAISE EXCEPTION 'this row is broken'; END")}`.execute(database)
  await sql`CREATE TRIGGER refuse BEFORE UPDATE ON ${sql.table(table)} FOR EACH ROW
    WHEN (${condition}) EXECUTE FUNCTION refuse()`.execute(database)
  return async () => {
    await sql`DROP FUNCTION refuse CASCADE`.execute(database)
  }
}

/** ClickHouse runs once per process; each service has its own database in it. */
const clickhousePath = () => join(inject('runDirectory'), `clickhouse-${process.pid}`)
let engine: Promise<ClickHouse> | undefined
let databases = 0

async function createClickHouseDatabase(): Promise<ClickHouse> {
  // Kept open, so that the engine continues when a service closes its own connection.
  engine ??= connectClickHouse({ path: clickhousePath() })
  const { command } = await engine
  const database = `test_${++databases}`
  await command(`CREATE DATABASE ${database}`)
  const clickhouse = await connectClickHouse({ path: clickhousePath(), database })
  return {
    ...clickhouse,
    close: async () => {
      await clickhouse.close()
      await command(`DROP DATABASE ${database}`)
    },
  }
}

let shared: Promise<TestService> | undefined

/**
 * The service with default settings that all files of a worker share. Each file creates its own tenants. The service ends
 * with the worker; its log is cleared.
 */
export async function sharedService(): Promise<TestService> {
  shared ??= createDatabase({ isKept: true })
    .then((database) => startTestService({ DATABASE_URL: database }))
    .then((service) => ({
      ...service,
      isShared: true,
      close: () => Promise.reject(new Error('Other files use this service.')),
    }))
  const service = await shared
  service.logged.length = 0
  return service
}

/** A service with its own port and databases, for a file that needs other settings or its own clock. */
export async function startTestService(
  environment: Record<string, string> = {},
  options: Pick<
    ServiceOptions,
    | 'clock'
    | 'outbound'
    | 'dnsServers'
    | 'connectorUrls'
    | 'connectorTimer'
    | 'sweepMs'
    | 'providerUrls'
    | 'mailServers'
    | 'extendMcpServer'
    | 'beforeListen'
    | 'silentAfterMs'
  > = {},
): Promise<TestService> {
  const config = readConfig({
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_DATA_DIR: await mkdtemp(join(inject('runDirectory'), 'data-')),
    DATABASE_URL: environment.DATABASE_URL ?? (await createDatabase()),
    CDS_RATE_LIMITS: 'off',
    ...environment,
  })
  const logged: string[] = []
  const log = createLog('trace', { destination: { write: (line) => logged.push(line) } })
  const beforeListen = (app: App) => {
    options.beforeListen?.(app)
    checkResponses(app)
    recordResponses(app)
  }
  const clickhouse = config.clickhouseUrl === null ? { clickhouse: await createClickHouseDatabase() } : {}
  const connectorUrls = { ...UNREACHABLE, ...options.connectorUrls }
  const running = await startService({ config, log, ...clickhouse, ...options, connectorUrls, beforeListen })
  const { close, ...parts } = running
  return whileOpen({ ...parts, config, clock: options.clock ?? systemClock, logged, log }, close)
}

/** Parts of a closed service that tests may still read. */
const KEPT = new Set(['config', 'clock', 'logged', 'log', 'url', 'close'])

/**
 * A closed service lets go of its parts. A worker keeps the variables of every file that it has run, and with them 8 MB for
 * each service, which V8 would mark again at each collection.
 */
function whileOpen(parts: Omit<TestService, 'close'>, stop: () => Promise<void>): TestService {
  const service = { ...parts, close }
  let stopping: (() => Promise<void>) | undefined = stop
  async function close() {
    const ending = stopping
    stopping = undefined
    await ending?.()
    for (const part of Object.keys(service)) if (!KEPT.has(part)) Reflect.deleteProperty(service, part)
  }
  return service
}

/** No test calls a real system: without a peer of its own, every connector and enrichment provider finds nobody. */
const UNREACHABLE = Object.fromEntries(
  [...CONNECTORS.map(({ name }) => name), ...PROVIDER_KINDS].map((name) => [name, 'https://127.0.0.1:9']),
)

interface DescribedRoute {
  operationId?: string
  hide?: boolean
  response?: Record<number, TSchema & { 'x-response-description'?: string }>
}

/**
 * Every test's responses must match their schemas, without a field that the schema lacks, and every error be declared, so
 * that openapi.json is correct and redaction knows what each field is.
 */
function checkResponses(app: App): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const { operationId, hide, response } = (request.routeOptions.schema ?? {}) as DescribedRoute
    const schema = response?.[reply.statusCode]
    const code = (payload as { error?: { code?: string } } | null)?.error?.code
    // A caller who has disconnected, 499, gets no response.
    const isError = reply.statusCode >= 400 && reply.statusCode !== 499
    const isShown = operationId !== undefined && !hide
    if (isShown && isError && !schema?.['x-response-description']?.includes(`\`${code}\``)) {
      const problem = `${operationId} does not declare the error ${reply.statusCode} ${code}`
      // Tests that expect the status alone must fail too.
      reply.code(500)
      throw new Error(problem)
    }
    if (!schema) return payload
    if (!isError) requireMarks(schema, `${request.method} ${request.routeOptions.url}`)
    const validator = validatorOf(schema)
    const undeclared = isError ? [] : undeclaredFields(schema, payload)
    if (validator.Check(payload) && undeclared.length === 0) return payload
    const errors = JSON.stringify([...validator.Errors(payload).slice(0, 3), ...undeclared.slice(0, 3)])
    reply.code(500)
    throw new Error(`${request.method} ${request.url} returns a body contrary to its schema: ${errors}`)
  })
}

/** A tenant with a key for all scopes and a site whose pages may send events. */
export class TestTenant {
  readonly id: string
  readonly key: string
  readonly site: string
  readonly handle: Tenant
  readonly #service: TestService

  constructor(service: TestService, id: string, key: string, site: string) {
    this.#service = service
    this.id = id
    this.key = key
    this.site = site
    this.handle = openTenant(service.stores, id)
  }

  /** A key with some scopes only. */
  async keyWith(...scopes: string[]): Promise<string> {
    const { apiKey } = await createApiKey(this.handle, { name: 'some', scopes }, new Date())
    return apiKey
  }

  /** A key with all scopes, for which MCP hides no personal values. */
  async keyThatSeesAll(): Promise<string> {
    const { apiKey } = await createApiKey(this.handle, { name: 'raw', scopes: ['all'], redacts: false }, new Date())
    return apiKey
  }

  /** Calls the API; a body is sent as JSON. */
  call(method: string, path: string, body?: unknown, key = this.key): Promise<TestResponse> {
    return call(this.#service, method, path, {
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Uploads a file of contacts. */
  upload(content: string | Uint8Array<ArrayBuffer>, { name = 'contacts.csv', headers = {} }: UploadOptions = {}) {
    return call(this.#service, 'POST', `/v1/imports?${new URLSearchParams({ file_name: name })}`, {
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'text/csv', ...headers },
      body: content,
    })
  }

  /** Sends a batch like a page of the tenant's site. */
  track(body: unknown, headers: Record<string, string> = {}): Promise<TestResponse> {
    return call(this.#service, 'POST', '/track', {
      headers: { origin: `https://${this.site}`, 'user-agent': CHROME, ...headers },
      body: JSON.stringify(body),
    })
  }

  /** Creates a contact. @returns its id. */
  async contact(email: string, properties: Record<string, unknown> = {}, more: object = {}): Promise<string> {
    const { status, body } = await this.call('POST', '/v1/contacts', { email, properties, ...more })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return body.contact.contact_id
  }

  /** The contact of a stored address, as lists show it; undefined if there is none. */
  async contactOf(email: string) {
    const { status, body } = await this.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}&limit=100`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body.contacts.find(({ properties }: { properties: { email?: string } }) => properties.email === email)
  }
}

interface UploadOptions {
  name?: string
  headers?: Record<string, string>
}

export const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36'

export interface TestResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  body: any
}

/** One request over a real connection. */
export async function call(
  service: { url: string },
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> } = {},
): Promise<TestResponse> {
  const init = {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  }
  const url = service.url + path
  const response = await (headers.host === undefined ? fetch(url, init) : requestAtHost(url, init))
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** Sends the given Host header; fetch would send the URL's own. */
async function requestAtHost(url: string, { method, ...init }: Parameters<typeof request>[1] & { method: string }) {
  const { statusCode, headers, body } = await request(url, { ...init, method: method as Dispatcher.HttpMethod })
  const pairs = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
  return new Response(await body.text(), { status: statusCode, headers: pairs })
}

let tenants = 0

/** @param enriches whether enrichment is on, as it is for every real tenant. Tests of other things check only what they wrote. */
export async function createTestTenant(service: TestService, { enriches = false } = {}): Promise<TestTenant> {
  const { id, key, site } = await insertTenant(service.stores.database, { enriches })
  return new TestTenant(service, id, key, site)
}

/** A tenant in the database of a service that runs elsewhere, or has not started. Its audit log is empty. */
export async function insertTenant(
  database: Service['stores']['database'],
  { enriches = false } = {},
): Promise<{ id: string; key: string; site: string }> {
  const now = new Date()
  const id = newId()
  await database.insertInto('tenants').values({ tenant_id: id, name: 'Test', created_at: now }).execute()
  if (!enriches) {
    const is_off = ENRICHERS.map(({ name }) => name)
    await database.insertInto('enrichment_settings').values({ tenant_id: id, is_off }).execute()
  }
  const tenant = openTenant({ database, closed: new Set() } as unknown as Service['stores'], id)
  const { apiKey } = await createApiKey(tenant, { name: 'all', scopes: ['all'] }, now)
  const site = `shop${++tenants}.example.com`
  await addVerifiedDomain(tenant, site, now)
  return { id, key: apiKey, site }
}

/** A tenant in the embedded PostgreSQL of a service that runs in another process. */
export async function insertTenantOf(dataDirectory: string): ReturnType<typeof insertTenant> {
  const address = JSON.parse(await readFile(join(dataDirectory, ADDRESS_FILE), 'utf8'))
  const postgres = connectPostgres<DB>(address, 1)
  try {
    return await insertTenant(postgres.db)
  } finally {
    await postgres.close()
  }
}
