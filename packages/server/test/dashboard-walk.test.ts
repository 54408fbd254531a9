import { beforeAll, describe, expect, test } from 'vitest'
import { MAIL, propose } from './actions.ts'
import { Browser, PASSWORD, signedIn } from './people.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

/**
 * Every route of the dashboard that is about a tenant's data is walked by the owner of another tenant who knows the
 * ids, with an API key, and with bodies that are no bodies. A new route adds one line here; a route without fails.
 */
const MAIL_SERVER = { host: 'smtp.example.com', port: 587, security: 'starttls', user: 'hacked@example.com' }
const MAILBOX = {
  address: 'hacked@example.com',
  smtp: MAIL_SERVER,
  imap: null,
  password: 'x',
  daily_limit: 1,
  spacing_seconds: 0,
}
const ROUTES: Route[] = [
  { method: 'GET', path: '/api/identities' },
  { method: 'GET', path: '/api/identities/:identity_id/connections' },
  { method: 'PUT', path: '/api/identities/:identity_id/email-account', body: MAILBOX },
  { method: 'DELETE', path: '/api/identities/:identity_id/email-account' },
  { method: 'POST', path: '/api/identities/:identity_id/email-account/check' },
]
/** Of signing in, which has tests of its own; and the feed, which never ends. */
const ELSEWHERE = /^\/api\/(auth|setup|me|sign-in-options|tenant|tenants|invitations|live)(\/|$)/

interface Route {
  method: string
  path: string
  query?: string
  body?: unknown
  /** Keys may use it too. */
  scope?: string
}

const SECRET = 'only-for-the-owner'
let service: TestService
let owner: TestTenant
let ownerBrowser: Browser
let stranger: TestTenant
let strangerBrowser: Browser
let ids: Record<string, string>

beforeAll(async () => {
  service = await sharedService()
  owner = await createTestTenant(service)
  stranger = await createTestTenant(service)
  ownerBrowser = await signedIn(service, owner.id, 'owner')
  strangerBrowser = await signedIn(service, stranger.id, 'owner')
  const contact_id = await owner.contact('owner@example.com', { firstname: SECRET }, { visitor_id: 'v' })
  await owner.track({ visitor_id: 'v', events: [{ event: SECRET, url: `https://${owner.site}/${SECRET}` }] })
  const company = await owner.call('POST', '/v1/companies', { name: SECRET })
  const identity = await owner.call('POST', '/v1/identities', { firstName: SECRET, lastName: SECRET, role: SECRET })
  const proposed = await propose(owner.handle, service.jobs, {
    contactId: contact_id,
    identityId: identity.body.identity.identity_id,
    ...MAIL,
    params: { subject: SECRET, message: SECRET },
  })
  ids = {
    identity_id: identity.body.identity.identity_id,
    run_id: proposed.ref.runId,
    action_index: '0',
    contact_id,
    company_id: company.body.company.company_id,
  }
})

const fill = ({ path, query }: Route) =>
  path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? name) + (query === undefined ? '' : `?${query}`)

/** Everything that the owner can see of what the walk has the ids of. */
async function state(): Promise<unknown[]> {
  const answers = await Promise.all(
    ['v1/approvals', 'v1/agent-settings', 'v1/audit-log'].map((what) => ownerBrowser.call('GET', `/${what}`)),
  )
  const others = await Promise.all([owner.call('GET', `/v1/contacts/${ids.contact_id}?include_events=false`)])
  const withoutTimes = (_: string, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return { ...value, timestamp: undefined }
  }
  return JSON.parse(
    JSON.stringify(
      [...answers, ...others].map(({ body }) => body),
      withoutTimes,
    ),
  )
}

test('every route about data is walked', () => {
  const known = service.app.accessOfRoutes.filter(({ method, url }) => method !== 'HEAD' && url.startsWith('/api/'))
  const routes = known.filter(({ url }) => !ELSEWHERE.test(url)).map(({ method, url }) => `${method} ${url}`)
  expect(ROUTES.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort())
})

describe.each(ROUTES)('$method $path', (route) => {
  const { method, body, scope } = route

  test('shows the owner of another tenant nothing, and lets them change nothing', async () => {
    const before = await state()
    const { status, body: answer } = await strangerBrowser.call(method, fill(route), body)
    expect(JSON.stringify(answer)).not.toContain(SECRET)
    if (route.path.includes(':')) expect([status, answer.error.code]).toEqual([404, 'not_found'])
    else expect(status).toBeLessThan(300)
    expect(await state()).toEqual(before)
  })

  test('is closed to keys, or open to those with its scope alone', async () => {
    const asked = (key: string) => owner.call(method, fill(route), body, key)
    if (scope === undefined) {
      const { status, body: answer } = await asked(owner.key)
      expect([status, answer.error.code]).toEqual([401, 'not_signed_in'])
      return
    }
    const others = ['contacts:read', 'companies:read', 'events:read', 'segments:read'].filter((each) => each !== scope)
    expect((await asked(await owner.keyWith(...others))).body.error.code).toBe('insufficient_scope')
    expect((await asked(await owner.keyWith(scope))).status).toBe(200)
  })

  if (body === undefined) return
  test('refuses what is no body, and changes nothing', async () => {
    const before = await state()
    const bodies = ['{', '[]', 'null', '"x"', '{"name":"\\u0000"}', '{"__proto__":{}}', `"${'x'.repeat(10_000_000)}"`]
    for (const text of bodies) {
      const { status } = await ownerBrowser.call(method, fill(route), text)
      expect([400, 413], `${text.slice(0, 20)}: ${status}`).toContain(status)
    }
    expect(await state()).toEqual(before)
  })
})

test('ids that are none are 404 and nothing worse', async () => {
  for (const route of ROUTES.filter(({ path }) => path.includes(':'))) {
    for (const id of ['none', '%00', '..%2f..%2fetc', 'x'.repeat(5_000), '%F0%9F%98%80']) {
      const { status } = await ownerBrowser.call(route.method, route.path.replace(/:\w+/, id), route.body)
      expect([404], `${route.method} ${route.path} ${id.slice(0, 10)}: ${status}`).toContain(status)
    }
  }
})

test('a request from another site changes nothing', async () => {
  const before = await state()
  for (const route of ROUTES.filter(({ method }) => method !== 'GET')) {
    const headers = { origin: 'https://evil.example', 'x-requested-by': 'dashboard' }
    const { status, body } = await ownerBrowser.call(route.method, fill(route), route.body, headers)
    expect([status, body.error.code]).toEqual([403, 'cross_site_request'])
  }
  expect(await state()).toEqual(before)
  const plain = await call(service, 'GET', '/api/identities', { headers: { cookie: ownerBrowser.cookie } })
  expect(plain.status).toBe(200)
})

/** Changes that the audit log does not tell of, and why. */
const NOT_AUDITED: Record<string, string> = {
  'POST /api/identities/:identity_id/email-account/check': 'logs in at the servers and sends nothing',
  'PUT /api/identities/:identity_id/email-account': 'identity.email_set: needs servers, see email-accounts.test.ts',
  'DELETE /api/identities/:identity_id/email-account': 'identity.email_removed: needs an account, see cli.test.ts',
  'POST /api/invitations/:token/accept': 'member.joined: not by who is signed in here, see below',
  'PATCH /api/me': "a person's own name",
  'POST /api/tenant': "which of a person's tenants a session shows",
  'POST /api/setup': 'tenant.created, in the tenant that it makes: once in the life of a service',
  'POST /api/tenants': 'tenant.created, in the tenant that it makes',
}
/** What the library of signing in does is about a person, who may be of several tenants. */
const OF_A_PERSON = /^\/api\/auth(\/|$)/

test('every change is an operation, or is known to have no audit entry of its caller', () => {
  const mutating = service.app.accessOfRoutes
    .filter(({ method, url }) => !['GET', 'HEAD'].includes(method) && url.startsWith('/api/') && !OF_A_PERSON.test(url))
    .map(({ method, url }) => `${method} ${url}`)
  expect(Object.keys(NOT_AUDITED).sort()).toEqual(mutating.sort())
})

test('whoever accepts an invitation is in the audit log', async () => {
  const admin = await signedIn(service, owner.id, 'admin')
  const invited = await ownerBrowser.call('POST', '/v1/invitations', { email: 'joins@example.com', role: 'viewer' })
  const accept = `/api/invitations/${invited.body.link.split('/').at(-1)}/accept`
  expect((await new Browser(service).call('POST', accept, { name: 'Jo', password: PASSWORD })).status).toBe(200)
  const { entries } = (await admin.call('GET', '/v1/audit-log?actor=user&limit=1')).body
  expect(entries[0].action).toBe('member.joined')
})
