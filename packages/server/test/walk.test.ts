import { beforeAll, describe, expect, test } from 'vitest'
import { listApiKeys } from '../src/access/api-keys.ts'
import { listWaitingActions } from '../src/agents/actions/waiting.ts'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import { type Declaration, isReading, routeOf } from '../src/operations/declare.ts'
import { scopesAlways, scopesOfSent } from '../src/operations/further-scopes.ts'
import { isRole } from '../src/operations/roles.ts'
import { scopesOf } from '../src/operations/scopes.ts'
import { exampleOf, fill, fillBody, oneOfEach, queryOf } from './one-of-each.ts'
import { type Browser, signedIn } from './people.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

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

/** Needed to list the routes before the tests run. */
const { app } = await sharedService()
const declared = new Set<string>(OPERATIONS.map(({ http }) => http))

/** Every route is called without a key, with an invalid one, without its scope, and as another tenant that knows the ids. */
const ROUTES: Route[] = OPERATIONS.flatMap(walksOf)
/** The feed of events never ends: live.test.ts. */
const ENDLESS = '/v1/live'
/** What a file needs besides the scope of its route. */
const FURTHER_SCOPES: Record<string, string[]> = { '/v1/imports/:import_id/failed.csv': ['contacts:read'] }
/** Routes of /v1 with a key that are not operations, because they return files, or are sent one. */
const FILES: Route[] = app.accessOfRoutes.flatMap(({ method, url, access }) => {
  const isWalked = url.startsWith('/v1/') && method !== 'HEAD' && !declared.has(`${method} ${url}`)
  if (!isWalked || access === 'public' || url === ENDLESS) return []
  return { method, path: url, scope: String(access), alsoScopes: FURTHER_SCOPES[url] ?? [], ...fileOf(method, url) }
})

/** The file that openapi.json shows for a route. */
function fileOf(method: string, url: string): Pick<Route, 'body' | 'headers'> {
  const { requestBody } = documented(method, url) ?? {}
  const [[type, { example }] = ['', { example: undefined }]] = Object.entries(requestBody?.content ?? {})
  return example === undefined ? {} : { body: example, headers: { 'content-type': type } }
}

/** An operation of openapi.json. */
interface Documented {
  security?: object[]
  requestBody?: { content: Record<string, { example?: unknown }> }
}

function documented(method: string, url: string): Documented | undefined {
  const paths = app.swagger().paths as Record<string, Record<string, Documented>>
  return paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
}

interface Route {
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
  const { name: operationName, scope } = operation
  const example = exampleOf(operation)
  const { method, url, hasBody } = routeOf(operation)
  const sent = hasBody ? { body: example } : { query: queryOf(example) }
  const route = { method, path: url, scope, ...(Object.keys(example).length === 0 ? {} : sent) }
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

/** Names that every tenant may use in a path. */
const SHARED_NAMES = ['source', 'provider', 'connector', 'playbook']
/** The names of the ids in a path. */
const idsIn = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) => (SHARED_NAMES.includes(name) ? [] : name))

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

describe.each([...ROUTES, ...FILES])(
  '$method $path $scope',
  ({ method, path, scope, alsoScopes = [], grants = [], body, brokenBody, query = '', headers: own = {} }) => {
    const request = (headers: Record<string, string>) =>
      call(service, method, fill(path, ids) + query, {
        headers: { ...own, ...headers },
        ...(body ? { body: fillBody(body, ids) } : {}),
      })

    test('needs a key', async () => {
      const response = await request({})
      expect([response.status, response.body.error.code]).toEqual([401, 'missing_api_key'])
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    })

    test.each([['Bearer cds_wrong'], ['Bearer'], ['Basic eDp5'], ['cds_wrong'], [`Bearer ${'x'.repeat(5_000)}`]])(
      'rejects the authorization %.20s',
      async (authorization) => {
        const response = await request({ authorization })
        // SDKs call this path with a write key: see sites/segment.
        const isOfSdk = path === '/v1/identify' && authorization.startsWith('Basic')
        const code = isOfSdk ? 'invalid_write_key' : 'invalid_api_key'
        expect([response.status, response.body.error.code]).toEqual([401, code])
      },
    )

    const scopes = [scope, ...alsoScopes]

    test.each(scopes)('needs the scope %s, and says so', async (needed) => {
      const others = [
        'contacts:read',
        'contacts:write',
        'companies:read',
        'companies:write',
        'events:read',
        'segments:read',
      ]
      const key = await keyOf(owner, ...new Set([...others, ...scopes].filter((other) => other !== needed)))
      // The scope is checked before the body: an invalid body changes nothing.
      const response = await call(service, method, `${fill(path, ids)}?limit=x`, {
        headers: { ...own, authorization: `Bearer ${key}` },
        ...(body ? { body: brokenBody ? fillBody(brokenBody, ids) : '{' } : {}),
      })
      expect([response.status, response.body.error.code]).toEqual([403, 'insufficient_scope'])
      expect(response.body.error.message).toContain(needed)
    })

    test('needs no other scope', async () => {
      const response = await call(service, method, fill(path, ids) + query, {
        headers: { ...own, authorization: `Bearer ${await keyOf(stranger, ...scopes, ...grants)}` },
        ...(body ? { body: fillBody(body, ids) } : {}),
      })
      // A question gets past its scope, but this service has no model: ask.test.ts.
      const isWithoutModel = path === '/v1/ask' && response.body.error?.code === 'no_model'
      // No system accepts the credentials of the example: connections.test.ts.
      const isWithoutSystem = path === '/v1/connections' && response.body.error?.code === 'url_not_allowed'
      const others = [...(isWithoutModel ? [409] : []), ...(isWithoutSystem ? [400] : [])]
      expect([200, 201, 202, 404, ...others]).toContain(response.status)
    })

    test('shows another tenant nothing and lets it change nothing', async () => {
      const response = await request({ authorization: `Bearer ${stranger.key}` })
      expect(JSON.stringify(response.body)).not.toContain(SECRET)
      if (idsIn(path).length > 0) expect([response.status, response.body.error.code]).toEqual([404, 'not_found'])
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
  },
)

describe.each(ROUTES)('the operation $method $path', ({ method, path, body, query = '' }) => {
  const names = idsIn(path)
  test('shows people of another tenant nothing', async () => {
    const response = await strangersBrowser.call(
      method,
      fill(path, ids) + query,
      body && JSON.parse(fillBody(body, ids)),
    )
    expect(JSON.stringify(response.body)).not.toContain(SECRET)
    if (names.length > 0) expect([response.status, response.body.error.code]).toEqual([404, 'not_found'])
  })

  test('returns 404 for a malformed id', async () => {
    for (const name of names) {
      for (const id of ['none', '%00', '..%2f..%2fetc', 'x'.repeat(5_000), '%F0%9F%98%80']) {
        const at = fill(path.replace(`:${name}`, id), ids) + query
        const { status } = await owner.call(method, at, body && JSON.parse(fillBody(body, ids)))
        expect([status, at.slice(0, 100)]).toEqual([404, at.slice(0, 100)])
      }
    }
  })

  if (method === 'GET') return
  test('rejects requests from another site', async () => {
    const headers = { origin: 'https://evil.example', 'x-requested-by': 'dashboard' }
    const response = await ownersBrowser.call(method, fill(path, ids), body, headers)
    expect([response.status, response.body.error.code]).toEqual([403, 'cross_site_request'])
  })

  if (body === undefined) return
  test('rejects an invalid body', async () => {
    const bodies = ['{', '[]', '"x"', '{"name":"\\u0000"}', '{"__proto__":{}}', `"${'x'.repeat(10_000_000)}"`]
    for (const text of bodies) {
      const { status } = await call(service, method, fill(path, ids), {
        headers: { authorization: `Bearer ${owner.key}` },
        body: text,
      })
      expect([400, 413], `${text.slice(0, 20)}: ${status}`).toContain(status)
    }
  })
})
