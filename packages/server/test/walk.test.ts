import { beforeAll, describe, expect, test } from 'vitest'
import { listApiKeys } from '../src/access/api-keys.ts'
import { listWaitingActions } from '../src/agents/actions/waiting.ts'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import { type Declaration, routeOf } from '../src/operations/declare.ts'
import { scopesOf } from '../src/operations/scopes.ts'
import { CONTACT, exampleOf, fill, fillBody, oneOfEach, queryOf } from './one-of-each.ts'
import { type Browser, signedIn } from './people.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

/** Requests instead of an operation's example: ids and names of the owner's, and one for each scope. */
const SENT: Record<string, Partial<Route>[]> = {
  listProperties: [{ scope: 'contacts:read' }],
  getProperty: [{ scope: 'contacts:read' }],
  // The entity determines the scope: it must be readable, whatever else is wrong.
  aggregate: [
    { entity: 'contacts', group_by: 'company_id', filters: { contact_ids: [':contact_id'] } },
    { entity: 'companies', group_by: 'industry', filters: { name: 'only-for-the-owner' } },
    { entity: 'events', group_by: 'event_type', filters: { contact_id: ':contact_id' } },
  ].map((body) => ({ scope: `${body.entity}:read`, body, brokenBody: { ...body, group_by: 7 } })),
  dryRunAgent: [{ brokenBody: { contact_ids: 7 } }],
  revokeConnectedApp: [{ scope: 'settings:write' }],
  mergeContact: [{ body: { into: ':event_id' } }],
  proposeAction: [
    { body: { contact_id: ':contact_id', type: 'note', params: { content: 'hacked' }, reason: 'hacked' } },
  ],
  eraseContact: [{ body: { contact_id: ':contact_id' } }],
  batchDetails: [{ body: { entity_type: 'contacts', ids: [':contact_id', ':company_id'] } }],
  batchActivity: [{ body: { contact_ids: [':contact_id'] } }],
  identify: [{ body: { ...CONTACT, properties: { hacked: true } } }],
  pushSourceContacts: [
    { body: { records: [{ external_id: 'walk', email: CONTACT.email, properties: { hacked: true } }] } },
  ],
  startAuthorization: [
    {
      scope: 'identities:write',
      body: { provider: 'google', purpose: { kind: 'mailbox', identity_id: ':identity_id' } },
      brokenBody: { provider: 7, purpose: { kind: 'mailbox' } },
    },
  ],
  createWarehouseDestination: [{ brokenBody: { name: 7 } }],
  updateWarehouseDestination: [{ brokenBody: { name: 7 } }],
  createInvitation: [{ grants: scopesOf('viewer') }],
}

/**
 * Every route is called without a key, with an invalid one, without its scope, and as another tenant that knows the ids.
 * Operations are called as declared. Any other new route needs a line in a list below; one without a line fails.
 */
const ROUTES: Route[] = OPERATIONS.flatMap(walksOf)
/** Routes of /v1 that are not operations, because they answer with files, or are sent one. */
const DOWNLOADS: Route[] = [
  { method: 'GET', path: '/v1/contacts/export.csv', scope: 'contacts:read' },
  { method: 'GET', path: '/v1/companies/export.csv', scope: 'companies:read' },
  { method: 'GET', path: '/v1/events/export.csv', scope: 'events:read' },
  { method: 'GET', path: '/v1/exports/:export_id/file', scope: 'data:export' },
  { method: 'GET', path: '/v1/imports/:import_id/failed.csv', scope: 'contacts:write' },
  {
    method: 'POST',
    path: '/v1/imports',
    scope: 'contacts:write',
    body: 'email',
    headers: { 'content-type': 'text/csv' },
  },
]
/** The feed of events, which never ends: live.test.ts. */
const ENDLESS = 'GET /v1/live'
/** It authenticates its callers itself: mcp/hostile.test.ts. */
const MCP = ['POST /mcp', 'POST /mcp/']
const PUBLIC = [
  'GET /v1/health',
  'GET /health/ready',
  'GET /metrics',
  'GET /openapi.json',
  'GET /tracker.js',
  'POST /track',
  'POST /recover-visitor',
  'POST /v1/public/form-submission/:tenant_id/:form_id',
  'POST /v1/public/hooks/:token',
  'OPTIONS /track',
  'POST /v1/track',
  'POST /v1/page',
  'POST /v1/screen',
  'POST /v1/group',
  'POST /v1/alias',
  'POST /v1/batch',
  'POST /v1/import',
]

interface Route {
  method: string
  path: string
  scope: string
  /** The scope that it needs besides `scope`. */
  alsoScope?: string
  query?: string
  /** The scopes that its body grants, which its caller must have too. */
  grants?: Iterable<string>
  /** `:name` in it is replaced by the owner's id, as in the path. */
  body?: unknown
  headers?: Record<string, string>
  /** The body that is sent without the scope; default: invalid JSON. */
  brokenBody?: unknown
}

/** The requests of an operation: those above, or its example. */
function walksOf(operation: Declaration): Route[] {
  const { name: operationName, scope, scopeOf } = operation
  const example = exampleOf(operation)
  const { method, url, hasBody } = routeOf(operation)
  const sent = hasBody ? { body: example } : { query: queryOf(example) }
  const route = { method, path: url, scope, ...(Object.keys(example).length === 0 ? {} : sent) }
  return (SENT[operationName] ?? [{}]).map((other) => {
    const walk = { ...route, ...other }
    const also = scopeOf?.(hasBody ? walk.body : example) ?? walk.scope
    return also === walk.scope ? walk : { ...walk, alsoScope: also }
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
const routes: string[] = []

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
  const { body: openapi } = await call(service, 'GET', '/openapi.json')
  for (const [path, methods] of Object.entries(openapi.paths as Record<string, object>)) {
    for (const method of Object.keys(methods))
      routes.push(`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
  }
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
  const answers = await Promise.all(paths.map((path) => owner.call('GET', path)))
  const keys = await listApiKeys(owner.handle, { page: 1, limit: 1_000 })
  const key = keys.keys.find(({ key_id }) => key_id === ids.key_id)
  return [...answers.map(({ body }) => body), key]
}

/** Names that every tenant may use in a path. */
const SHARED_NAMES = ['source', 'provider', 'connector', 'playbook']
/** The names of the ids in a path. */
const idsIn = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) => (SHARED_NAMES.includes(name) ? [] : name))

test('every route is in the walk or public', () => {
  const walked = [...ROUTES, ...DOWNLOADS].map(({ method, path }) => `${method} ${path}`)
  const guarded = service.app.accessOfRoutes
    .filter(({ method, url, access }) => method !== 'HEAD' && access !== 'public' && url.startsWith('/v1/'))
    .map(({ method, url }) => `${method} ${url}`)
  expect([...new Set([...walked, ENDLESS])].sort()).toEqual(guarded.sort())
  const ofMcp = service.app.accessOfRoutes.filter(({ access }) => access === 'mcp')
  expect(ofMcp.map(({ method, url }) => `${method} ${url}`)).toEqual(MCP)
  expect(routes.filter((route) => !walked.includes(route) && !PUBLIC.includes(route))).toEqual([])
  const downloads = DOWNLOADS.map(({ method, path }) => `${method} ${path}`)
  expect(walked.filter((route) => !routes.includes(route) && !downloads.includes(route))).toEqual([])
})

/** Operations other than GET without an audit entry, and why. */
const NOT_AUDITED: Record<string, string> = {
  createContact: 'recorded as an event',
  updateContact: 'recorded as an event',
  deleteContact: 'recorded as an event',
  createNote: 'data of a contact, not a setting of the tenant',
  updateNote: 'data of a contact, not a setting of the tenant',
  deleteNote: 'data of a contact, not a setting of the tenant',
  createCompany: 'data, not a setting of the tenant',
  updateCompany: 'data, not a setting of the tenant',
  deleteCompany: 'data, not a setting of the tenant',
  changeContacts: 'recorded as events',
  changeCompanies: 'data, not a setting of the tenant',
  batchDetails: 'only reads',
  batchActivity: 'only reads',
  sendEvents: 'events are a record themselves',
  aggregate: 'only reads',
  identify: 'recorded as events',
  pushSourceContacts: 'recorded as events',
  checkPlaybook: 'only checks',
  previewSegment: 'only counts',
  previewHook: 'writes nothing',
  pushSourceConversations: 'data, which the conversations themselves show',
  checkEmailAccount: 'logs in at the servers and sends nothing',
  previewMail: 'only renders',
  socialLoginCode: 'the end of the login has an entry',
  linkedinLoginCode: 'the end of the login has an entry',
  startAuthorization: 'nothing is connected yet; completing it has an entry',
}

test('every operation that changes something declares its audit entry', () => {
  const silent = OPERATIONS.filter(({ http, audit }) => http.startsWith('GET ') === (audit !== undefined))
  expect(silent.map(({ name }) => name)).toEqual(Object.keys(NOT_AUDITED))
})

test('no two operations share a name, a route or a command', () => {
  for (const key of ['name', 'http', 'command'] as const) {
    const given = OPERATIONS.flatMap((operation) => operation[key] ?? [])
    expect(given.filter((each, index) => given.indexOf(each) !== index)).toEqual([])
  }
})

describe.each([...ROUTES, ...DOWNLOADS])(
  '$method $path $scope',
  ({ method, path, scope, alsoScope, grants = [], body, brokenBody, query = '', headers: own = {} }) => {
    const request = (headers: Record<string, string>) =>
      call(service, method, fill(path, ids) + query, {
        headers: { ...own, ...headers },
        ...(body ? { body: fillBody(body, ids) } : {}),
      })

    test('needs a key', async () => {
      const answer = await request({})
      expect([answer.status, answer.body.error.code]).toEqual([401, 'missing_api_key'])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    })

    test.each([['Bearer cds_wrong'], ['Bearer'], ['Basic eDp5'], ['cds_wrong'], [`Bearer ${'x'.repeat(5_000)}`]])(
      'rejects the authorization %.20s',
      async (authorization) => {
        const answer = await request({ authorization })
        // SDKs call this path with a write key: see sites/segment.
        const isOfSdk = path === '/v1/identify' && authorization.startsWith('Basic')
        const code = isOfSdk ? 'invalid_write_key' : 'invalid_api_key'
        expect([answer.status, answer.body.error.code]).toEqual([401, code])
      },
    )

    const scopes = [scope, ...(alsoScope === undefined ? [] : [alsoScope])]

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
      const answer = await call(service, method, `${fill(path, ids)}?limit=x`, {
        headers: { ...own, authorization: `Bearer ${key}` },
        ...(body ? { body: brokenBody ? fillBody(brokenBody, ids) : '{' } : {}),
      })
      expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope'])
      expect(answer.body.error.message).toContain(needed)
    })

    test('needs no other scope', async () => {
      const answer = await call(service, method, fill(path, ids) + query, {
        headers: { ...own, authorization: `Bearer ${await keyOf(stranger, ...scopes, ...grants)}` },
        ...(body ? { body: fillBody(body, ids) } : {}),
      })
      // A question gets past its scope, but this service has no model: ask.test.ts.
      const isWithoutModel = path === '/v1/ask' && answer.body.error?.code === 'no_model'
      // No system accepts the credentials of the example: connections.test.ts.
      const isWithoutSystem = path === '/v1/connections' && answer.body.error?.code === 'url_not_allowed'
      const others = [...(isWithoutModel ? [409] : []), ...(isWithoutSystem ? [400] : [])]
      expect([200, 201, 202, 404, ...others]).toContain(answer.status)
    })

    test('shows another tenant nothing and lets it change nothing', async () => {
      const answer = await request({ authorization: `Bearer ${stranger.key}` })
      expect(JSON.stringify(answer.body)).not.toContain(SECRET)
      if (idsIn(path).length > 0) expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
      const contact = await owner.call('GET', `/v1/contacts/${ids.contact_id}`)
      expect(contact.body.contact.properties).toMatchObject({ email: CONTACT.email, firstname: SECRET })
      expect(contact.body.contact.properties).not.toHaveProperty('hacked')
      expect(contact.body.contact.notes.map(({ content }: { content: string }) => content)).toEqual([SECRET])
      // A page view and a message.
      expect(contact.body.total_events).toBe(2)
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
    const answer = await strangersBrowser.call(method, fill(path, ids) + query, body && JSON.parse(fillBody(body, ids)))
    expect(JSON.stringify(answer.body)).not.toContain(SECRET)
    if (names.length > 0) expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  })

  test('answers 404 for a malformed id', async () => {
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
    const { status, body: answer } = await ownersBrowser.call(method, fill(path, ids), body, headers)
    expect([status, answer.error.code]).toEqual([403, 'cross_site_request'])
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
