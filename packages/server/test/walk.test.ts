import Fastify from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { listApiKeys } from '../src/access/api-keys.ts'
import { authenticateRequests } from '../src/access/authentication.ts'
import { listWaitingActions } from '../src/agents/actions/waiting.ts'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import { type Declaration, isId, isReading, routeOf } from '../src/operations/declare.ts'
import { scopesAlways, scopesOfSent } from '../src/operations/further-scopes.ts'
import { isRole } from '../src/operations/roles.ts'
import { scopesOf } from '../src/operations/scopes.ts'
import { createRateLimiter } from '../src/platform/http/rate-limits.ts'
import { exampleOf, fill, fillBody, oneOfEach, queryOf } from './one-of-each.ts'
import { type Browser, signedIn } from './people.ts'
import {
  call,
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from './service.ts'

/**
 * What no declaration says: the scope where `run` decides, a request for each kind of object that the body may name, and
 * ids under other names. Everything else is sent as declared, with the owner's ids.
 */
const SENT: Record<string, Partial<Route>[]> = {
  listProperties: [{ scope: 'contacts:read' }],
  getProperty: [{ scope: 'contacts:read' }],
  revokeConnectedApp: [{ scope: 'settings:write' }],
  updateConnectedApp: [{ scope: 'settings:write', body: { tools: [] }, brokenBody: { tools: [] } }],
  aggregate: [
    { entity: 'contacts', group_by: 'company_id', filters: { contact_ids: [':contact_id'] } },
    { entity: 'companies', group_by: 'industry', filters: { name: 'only-for-the-owner' } },
    { entity: 'events', group_by: 'event_type', filters: { contact_id: ':contact_id' } },
  ].map((body) => ({ body })),
  mergeContact: [{ body: { into: ':event_id' } }],
  batchDetails: [{ body: { entity_type: 'contacts', ids: [':contact_id', ':company_id'] } }],
}

/** Names that every tenant may use in a path. */
const SHARED_NAMES = ['source', 'provider', 'connector', 'playbook']
/** The names of the ids in a path. */
const idsIn = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) => (SHARED_NAMES.includes(name) ? [] : name))

/** Needed to list the routes before the tests run. */
const { app } = await sharedService()
const declared = new Set<string>(OPERATIONS.map(({ http }) => http))

/** Every route is called without a key, without its scope, and as another tenant that knows the ids. */
const ROUTES: Route[] = OPERATIONS.flatMap(walksOf)
/** The feed of events never ends: live.test.ts. */
const ENDLESS = '/v1/live'
/** What a file needs besides the scope of its route. */
const FURTHER_SCOPES: Record<string, string[]> = { '/v1/imports/:import_id/failed.csv': ['contacts:read'] }
/** Routes of /v1 with a key that are not operations, because they return files, or are sent one. */
const FILES: Route[] = app.accessOfRoutes.flatMap(({ method, url, access }) => {
  const isWalked = url.startsWith('/v1/') && method !== 'HEAD' && !declared.has(`${method} ${url}`)
  if (!isWalked || access === 'public' || url === ENDLESS) return []
  const alsoScopes = FURTHER_SCOPES[url] ?? []
  const route = { tag: 'Files', kind: kindOf(method, url), method, path: url, scope: String(access), alsoScopes }
  return { ...route, ...fileOf(method, url) }
})

/** The file that openapi.json shows for a route. */
function fileOf(method: string, url: string): Pick<Route, 'body' | 'headers'> {
  const { requestBody } = documented(method, url) ?? {}
  const [[type, { example }] = ['', { example: undefined }]] = Object.entries(requestBody?.content ?? {})
  return example === undefined ? {} : { body: example, headers: { 'content-type': type } }
}

/** What decides on a request before the operation runs: by whom and where it may be sent, and how its body is read. */
function kindOf(method: string, url: string, operation?: Declaration): string {
  const ofPath = app.accessOfRoutes.filter((route) => route.method === method && route.url === url)
  const { content = {}, required = false } = documented(method, url)?.requestBody ?? {}
  const kind = {
    ...{ operation: operation !== undefined, method, id: idsIn(url).length > 0 },
    ...{ anyKey: ofPath.some(({ access }) => access === 'any-key'), sdk: ofPath.length > 1 },
    ...{ type: Object.keys(content).join(), required, shapes: operation?.body !== undefined },
    bytesMax: operation?.bodyBytesMax,
  }
  return JSON.stringify(kind)
}

/** An operation of openapi.json. */
interface Documented {
  security?: object[]
  requestBody?: { required?: boolean; content: Record<string, { example?: unknown }> }
}

function documented(method: string, url: string): Documented | undefined {
  const paths = app.swagger().paths as Record<string, Record<string, Documented>>
  return paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
}

interface Route {
  tag: string
  /** See `kindOf`. */
  kind: string
  method: string
  path: string
  scope: string
  /** The scopes that it needs besides `scope`. Those that follow from a record: ways-to-data.test.ts. */
  alsoScopes?: readonly string[]
  query?: string
  /** The scopes that its body grants, which its caller must have too. */
  grants?: Iterable<string>
  /** The owner's ids and email address replace `:name`, and the values of fields that are named like an id. */
  body?: unknown
  headers?: Record<string, string>
  /** The body that is sent without the scope; default: invalid JSON. */
  brokenBody?: unknown
}

/** The requests of an operation: those above, or its example. */
function walksOf(operation: Declaration): Route[] {
  const { name: operationName, scope, tag } = operation
  const example = exampleOf(operation)
  const { method, url, hasBody } = routeOf(operation)
  const sent = hasBody ? { body: example } : { query: queryOf(example) }
  const kind = kindOf(method, url, operation)
  const route = { tag, kind, method, path: url, scope, ...(Object.keys(example).length === 0 ? {} : sent) }
  // An invitation gives the scopes of its role, and nobody can give scopes that they do not have.
  const granted = typeof example.role === 'string' && isRole(example.role) ? { grants: scopesOf(example.role) } : {}
  return (SENT[operationName] ?? [{}]).map((other) => {
    const walk = { ...route, ...granted, ...other }
    const [always, depends] = [scopesAlways(operation), scopesOfSent(operation, hasBody ? walk.body : example)]
    // Which scopes are needed depends on the body, so the invalid one differs only in a field that no operation has.
    const isBroken = hasBody && depends.length > 0
    const broken = isBroken ? { brokenBody: { ...(walk.body as object), unknown_field: 7 } } : {}
    const [own = walk.scope, ...others] = walk.scope === 'any-key' ? depends : [walk.scope, ...depends]
    return { ...walk, ...broken, scope: own, alsoScopes: [...always, ...others] }
  })
}

let service: TestService
let owner: TestTenant
let stranger: TestTenant
let ownersBrowser: Browser
let strangersBrowser: Browser
let ids: Record<string, string>
/** The owner's view of the webhook. */
let webhook: () => Promise<unknown[]>
let webhookAtFirst: unknown[]
/** The owner's view of what another tenant could change. */
let settingsAtFirst: unknown[]
let contactAtFirst: unknown

const SECRET = 'only-for-the-owner'

beforeAll(async () => {
  service = await sharedService()
  owner = await createTestTenant(service)
  stranger = await createTestTenant(service)
  ownersBrowser = await signedIn(service, owner.id, 'owner')
  strangersBrowser = await signedIn(service, stranger.id, 'owner')
  ids = await oneOfEach(service, owner, SECRET)
  const url = `/v1/webhooks/${ids.subscription_id}`
  webhook = async () => [
    (await owner.call('GET', url)).body.webhook,
    (await owner.call('GET', `${url}/deliveries`)).body.deliveries,
  ]
  webhookAtFirst = await webhook()
  settingsAtFirst = await settings()
  contactAtFirst = await contact()
})

const keys = new Map<string, Promise<string>>()
/** A key with some scopes, created once: a tenant has a limited number of them. */
function keyOf(tenant: TestTenant, ...scopes: string[]): Promise<string> {
  const name = [tenant.id, ...scopes].join(' ')
  const key = keys.get(name) ?? tenant.keyWith(...scopes)
  keys.set(name, key)
  return key
}

/** The owner's settings and lists, without the last use of the keys. */
async function settings(): Promise<unknown[]> {
  const paths = [
    '/v1/tenant',
    '/v1/domains',
    '/v1/members',
    '/v1/invitations',
    '/v1/connected-apps',
    '/v1/views',
    '/v1/erasures?limit=1&page=9',
    '/v1/exports?limit=1',
    '/v1/imports',
    '/v1/suppressions',
    '/v1/oauth-clients',
    `/v1/segments/${ids.segment_id}`,
  ]
  const responses = await Promise.all(paths.map((path) => owner.call('GET', path)))
  const keys = await listApiKeys(owner.handle, { page: 1, limit: 1_000 })
  const key = keys.keys.find(({ key_id }) => key_id === ids.key_id)
  return [...responses.map(({ body }) => body), key]
}

/** The owner's contact, without what changes with time. */
async function contact(): Promise<unknown> {
  const { body } = await owner.call('GET', `/v1/contacts/${ids.contact_id}`)
  const { properties, notes } = body.contact
  return { properties, notes: notes.map(({ content }: { content: string }) => content), events: body.total_events }
}

test('a route needs no key only if openapi.json says so', () => {
  // A path may have two routes: POST /v1/identify is also called by SDKs, with a write key.
  const byRoute = Map.groupBy(app.accessOfRoutes, ({ method, url }) => `${method} ${url}`)
  const shown = [...byRoute].flatMap(([route, accesses]) => {
    const [method = '', url = ''] = route.split(' ')
    const shown = documented(method, url)
    return shown ? [{ route, isPublic: accesses.every(({ access }) => access === 'public'), ...shown }] : []
  })
  expect(shown.filter(({ isPublic, security }) => isPublic !== (security?.length === 0))).toEqual([])
  expect(shown.filter(({ isPublic }) => isPublic).length).toBeGreaterThan(0)
})

test('every operation that changes something declares its audit entry, or why it has none', () => {
  const undecided = OPERATIONS.filter((operation) => {
    const { audit, unaudited } = operation
    if (isReading(operation)) return audit !== undefined || unaudited !== undefined
    return (audit === undefined) === (unaudited === undefined)
  })
  expect(undecided.map(({ name }) => name)).toEqual([])
})

test('no two operations share a name, a route or a command', () => {
  for (const key of ['name', 'http', 'command'] as const) {
    const given = OPERATIONS.flatMap((operation) => operation[key] ?? [])
    expect(given.filter((each, index) => given.indexOf(each) !== index)).toEqual([])
  }
})

/** Sends the request of a route. */
function send(route: Route, headers: Record<string, string>, query = route.query ?? ''): Promise<TestResponse> {
  const { method, path, body, headers: own = {} } = route
  return call(service, method, fill(path, ids) + query, {
    headers: { ...own, ...headers },
    ...(body ? { body: fillBody(body, ids) } : {}),
  })
}

const nameOf = ({ method, path, scope }: Route) => `${method} ${path} ${scope}`
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const outcome = ({ status, body }: TestResponse) => [status, body.error?.code]

/** What a key without a scope may do: everything common but that. */
const COMMON = ['contacts:read', 'contacts:write', 'companies:read', 'companies:write', 'events:read', 'segments:read']

describe.each([...Map.groupBy([...ROUTES, ...FILES], ({ tag }) => tag)])('every route of %s', (_tag, routes) => {
  test('needs a key', async () => {
    for (const route of routes) {
      const response = await send(route, {})
      expect.soft(outcome(response), nameOf(route)).toEqual([401, 'missing_api_key'])
      expect.soft(response.headers.get('www-authenticate'), nameOf(route)).toMatch(/^Bearer/)
    }
  })

  test('needs each of its scopes, and says so', async () => {
    for (const route of routes) {
      const { scope, alsoScopes = [], body, brokenBody } = route
      const scopes = [scope, ...alsoScopes]
      for (const needed of scopes) {
        const key = await keyOf(owner, ...new Set([...COMMON, ...scopes].filter((other) => other !== needed)))
        // The scope is checked before the body: an invalid body changes nothing.
        const broken = body ? { body: brokenBody ?? '{' } : {}
        const response = await send({ ...route, ...broken }, bearer(key), '?limit=x')
        expect.soft(outcome(response), `${nameOf(route)} without ${needed}`).toEqual([403, 'insufficient_scope'])
        expect.soft(response.body.error?.message, nameOf(route)).toContain(needed)
      }
    }
  })

  test('needs no other scope', async () => {
    for (const route of routes) {
      const { path, scope, alsoScopes = [], grants = [] } = route
      const response = await send(route, bearer(await keyOf(stranger, scope, ...alsoScopes, ...grants)))
      // A question gets past its scope, but this service has no model: ask.test.ts.
      const isWithoutModel = path === '/v1/ask' && response.body.error?.code === 'no_model'
      // No system accepts the credentials of the example: connections.test.ts.
      const isWithoutSystem = path === '/v1/connections' && response.body.error?.code === 'url_not_allowed'
      // The report of another tenant is no report: alerts.test.ts.
      const isWithoutReport =
        ['/v1/alerts', '/v1/alerts/preview'].includes(path) && response.body.error?.code === 'validation_error'
      // No key may: closing.test.ts.
      const isForOwners =
        ['/v1/tenant', '/v1/tenant/reopen'].includes(path) && response.body.error?.code === 'insufficient_role'
      const others = [
        ...(isWithoutModel ? [409] : []),
        ...(isWithoutSystem || isWithoutReport ? [400] : []),
        ...(isForOwners ? [403] : []),
      ]
      expect.soft([200, 201, 202, 404, ...others], nameOf(route)).toContain(response.status)
    }
  })

  test('shows another tenant nothing and lets it change nothing', async () => {
    for (const route of routes) expectNothing(route, await send(route, bearer(stranger.key)))
    expect(await contact()).toEqual(contactAtFirst)
    const company = await owner.call('GET', `/v1/companies/${ids.company_id}`)
    expect(company.body.company.name).toBe(SECRET)
    const agent = await owner.call('GET', `/v1/agents/${ids.agent_id}`)
    expect(agent.body.agent.name).toBe(SECRET)
    expect((await owner.call('GET', `/v1/agents/${ids.agent_id}/runs`)).body.total).toBe(1)
    expect((await listWaitingActions(owner.handle, { limit: 1, offset: 0 }, new Date())).total).toBe(1)
    expect(await webhook()).toEqual(webhookAtFirst)
    expect(await settings()).toEqual(settingsAtFirst)
    const identity = await owner.call('GET', `/v1/identities/${ids.identity_id}`)
    expect(identity.body.identity).toMatchObject({ firstName: SECRET, email_account: { address: null } })
  })
})

/** Expects that a response to another tenant has nothing of the owner. */
function expectNothing(route: Route, response: TestResponse): void {
  expect.soft(JSON.stringify(response.body), nameOf(route)).not.toContain(SECRET)
  if (idsIn(route.path).length > 0) expect.soft(outcome(response), nameOf(route)).toEqual([404, 'not_found'])
}

/*
 * What the hooks and the mounting of operations decide, one route of each kind proves: every other has the same, because
 * none is registered without an access rule, and the tests above call each of them.
 */
const ONE_OF_EACH_KIND = [...Map.groupBy([...ROUTES, ...FILES], ({ kind }) => kind).values()].flatMap(
  ([first]) => first ?? [],
)

test('a route without an access rule is not registered', async () => {
  const other = Fastify()
  const rateLimiter = createRateLimiter(null, service.clock)
  const nobody = { findApiKey: async () => null, findSession: async () => null }
  authenticateRequests(other, { stores: service.stores, config: service.config, rateLimiter, ...nobody })
  expect(() => other.get('/v1/open', () => 'everything')).toThrow('/v1/open must set config.access')
  // Nor is one of a plugin, whose scope has hooks of its own.
  const plugin = other.register(async (scope) => void scope.get('/v1/inner', () => 'everything'))
  await expect(Promise.resolve(plugin)).rejects.toThrow('/v1/inner must set config.access')
})

test.each(['Bearer cds_wrong', 'Bearer', 'Basic eDp5', 'cds_wrong', `Bearer ${'x'.repeat(5_000)}`])(
  'each kind of route rejects the authorization %.20s',
  async (authorization) => {
    for (const route of ONE_OF_EACH_KIND) {
      // SDKs call this path with a write key: see sites/segment.
      const isOfSdk = route.path === '/v1/identify' && authorization.startsWith('Basic')
      const code = isOfSdk ? 'invalid_write_key' : 'invalid_api_key'
      expect.soft(outcome(await send(route, { authorization })), nameOf(route)).toEqual([401, code])
    }
  },
)

test('each kind of operation shows people of another tenant nothing', async () => {
  for (const route of ONE_OF_EACH_KIND.filter((one) => ROUTES.includes(one))) {
    const { method, path, body, query = '' } = route
    const sent = body && JSON.parse(fillBody(body, ids))
    expectNothing(route, await strangersBrowser.call(method, fill(path, ids) + query, sent))
  }
})

test('each kind of change rejects requests from another site', async () => {
  const headers = { origin: 'https://evil.example', 'x-requested-by': 'dashboard' }
  for (const route of ONE_OF_EACH_KIND.filter(({ method }) => method !== 'GET')) {
    const response = await ownersBrowser.call(route.method, fill(route.path, ids), route.body, headers)
    expect.soft(outcome(response), nameOf(route)).toEqual([403, 'cross_site_request'])
  }
})

test('each kind of operation rejects an invalid body', async () => {
  const bodies = ['{', '[]', '"x"', '{"name":"\\u0000"}', '{"__proto__":{}}']
  const large = `"${'x'.repeat(10_000_000)}"`
  const limitsTried = new Set<unknown>()
  for (const route of ONE_OF_EACH_KIND) {
    if (route.body === undefined || !ROUTES.includes(route)) continue
    // Only its limit decides on a large body.
    const limit: unknown = JSON.parse(route.kind).bytesMax
    const sent = limitsTried.has(limit) ? bodies : [...bodies, large]
    limitsTried.add(limit)
    for (const body of sent) {
      const { status } = await send({ ...route, body }, bearer(owner.key))
      expect.soft([400, 413], `${nameOf(route)} with ${body.slice(0, 20)}: ${status}`).toContain(status)
    }
  }
})

describe('an id in a path', () => {
  /** Names of things that are no ids, or that others choose. */
  const NAMES = [
    'address',
    'connector',
    'playbook',
    'property',
    'provider',
    'source',
    'visitor_id',
    'action_index',
    'version',
  ]
  const PARAMETER = /:(\w+)/g

  test('of an operation is declared as one', () => {
    const others = OPERATIONS.flatMap(({ http, input }) =>
      [...http.matchAll(PARAMETER)].flatMap(([, name = '']) => (isId(input[name]) ? [] : name)),
    )
    expect([...new Set(others)].sort()).toEqual(NAMES.toSorted())
  })

  // A name is looked up by each operation, an id is checked before any.
  const walked = ROUTES.flatMap((route) => idsIn(route.path).map((name) => ({ name, route })))
  const ofIds = Map.groupBy(walked, ({ name, route }) => (NAMES.includes(name) ? nameOf(route) : name))

  test.each([
    ...Map.groupBy(
      [...ofIds.values()].flatMap(([first]) => first ?? []),
      ({ name }) => name,
    ),
  ])('that is malformed returns 404: %s', async (name, ofName) => {
    for (const { route } of ofName) {
      for (const id of ['none', '%00', '..%2f..%2fetc', 'x'.repeat(5_000), '%F0%9F%98%80']) {
        const path = route.path.replace(`:${name}`, id)
        const { status } = await send({ ...route, path }, bearer(owner.key))
        expect.soft(status, `${nameOf(route)}: ${id.slice(0, 20)}`).toBe(404)
      }
    }
  })
})
