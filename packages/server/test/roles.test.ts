import { beforeAll, describe, expect, test } from 'vitest'
import { ROLES, type Role } from '../src/operations/roles.ts'
import { type Browser, signedIn } from './people.ts'
import { createTestTenant, sharedService, type TestService } from './service.ts'

/**
 * Every route of /v1 and /api is called with the session of each role. A new route needs no change here, unless it is a
 * POST that only reads: a viewer may use it, so it has to be listed.
 */
const READS_BY_POST = [
  '/v1/batch/details',
  '/v1/batch/activity',
  '/v1/batch/engagement',
  '/v1/aggregate',
  '/v1/insights/funnel',
  '/v1/insights/trend',
  '/v1/insights/people',
  '/v1/insights/retention',
  '/v1/insights/paths',
  '/v1/insights/web',
  '/v1/reports/:report_id/run',
  '/v1/dashboards/:dashboard_id/run',
  '/v1/alerts/preview',
  '/v1/playbooks/check',
  '/v1/segments/preview',
  '/v1/mail-previews',
  '/v1/hooks/:hook_id/preview',
  '/v1/hooks/:hook_id/proposal',
]
/** Routes that everyone may use for their own account and session. */
const OWN_ACCOUNT = [
  '/api/me',
  '/api/tenant',
  '/api/auth/change-password',
  '/api/auth/revoke-other-sessions',
  '/api/auth/two-factor/enable',
  '/api/auth/two-factor/disable',
  '/api/auth/two-factor/get-totp-uri',
  '/api/auth/two-factor/generate-backup-codes',
  // An application gets what the person has, and no more; a person may end what they began.
  '/api/oauth/authorization',
  '/v1/connected-apps/:grant_id',
  // Their own mail: monday-mail.test.ts.
  '/v1/dashboards/:dashboard_id/subscription',
  // The purpose of a sign-in decides on the scope, which no viewer has: providers/operations.test.ts.
  '/v1/authorizations',
  '/v1/authorizations/complete',
]

/** The scopes of each role according to the documentation. */
const MAY: Record<Role, (scope: string) => boolean> = {
  owner: () => true,
  admin: () => true,
  member: (scope) =>
    (scope.endsWith(':read') && scope !== 'audit:read') ||
    [
      'contacts:write',
      'companies:write',
      'events:write',
      'segments:write',
      'views:write',
      'agents:trigger',
      'agents:approve',
    ].includes(scope),
  viewer: (scope) => scope.endsWith(':read') && scope !== 'audit:read',
}

interface Walked {
  method: string
  url: string
  access: unknown
}

let service: TestService
let routes: Walked[]
const people = new Map<Role, Browser>()

beforeAll(async () => {
  service = await sharedService()
  const tenant = await createTestTenant(service)
  for (const role of ROLES) people.set(role, await signedIn(service, tenant.id, role))
  routes = service.app.accessOfRoutes.filter(
    ({ method, url, access }) => method !== 'HEAD' && access !== 'public' && /^\/(v1|api)\//.test(url),
  )
})

function isAllowed(role: Role, { access }: Walked): boolean {
  if (typeof access === 'object' && access !== null) {
    return ROLES.indexOf(role) <= ROLES.indexOf((access as { role: Role }).role)
  }
  return access === 'signed-in' || access === 'any-key' || MAY[role](String(access))
}

/** The ids do not exist and the bodies are invalid, so that the walk changes nothing. */
async function walk(browser: Browser, { method, url }: Walked): Promise<{ status: number; code: string | undefined }> {
  const path = url.replace(/:(\w+)/g, 'none').replace('*', 'none')
  const body = ['GET', 'DELETE'].includes(method) ? {} : { body: '{"nothing":"fits"}' }
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...browser.ownSite,
      cookie: browser.cookie,
      ...(method === 'GET' || method === 'DELETE' ? {} : { 'content-type': 'application/json' }),
    },
    ...body,
  })
  const isJson = response.headers.get('content-type')?.includes('application/json')
  const parsed = isJson ? ((await response.json()) as { error?: { code: string } }) : {}
  // A stream of events would never end.
  if (!isJson) await response.body?.cancel()
  return { status: response.status, code: parsed.error?.code }
}

describe.each([...ROLES])('with the session of a %s', (role) => {
  test('every route is open or closed according to the role, before any other check', async () => {
    const browser = people.get(role)
    if (!browser) throw new Error(`Nobody is ${role}.`)
    expect(routes.length).toBeGreaterThan(30)
    for (const route of routes) {
      const { status, code } = await walk(browser, route)
      const seen = `${route.method} ${route.url} as ${role}: ${status} ${code}`
      expect(status, seen).toBeLessThan(500)
      if (isAllowed(role, route)) expect([401, 403], seen).not.toContain(status)
      else expect([status, code], seen).toEqual([403, 'insufficient_role'])
    }
  })
})

test('a viewer can write nothing', () => {
  const open = routes.filter((route) => route.method !== 'GET' && isAllowed('viewer', route)).map(({ url }) => url)
  expect(open.filter((url) => !READS_BY_POST.includes(url) && !OWN_ACCOUNT.includes(url))).toEqual([])
})

test('the public routes of the dashboard are listed', () => {
  const open = service.app.accessOfRoutes
    .filter(({ method, url, access }) => method !== 'HEAD' && access === 'public' && url.startsWith('/api/'))
    .map(({ method, url }) => `${method} ${url}`)
  expect(open.sort()).toEqual([
    'GET /api/auth/callback/oidc',
    'GET /api/invitations/:token',
    'GET /api/setup',
    'GET /api/sign-in-options',
    'POST /api/auth/request-password-reset',
    'POST /api/auth/reset-password',
    'POST /api/auth/sign-in/email',
    'POST /api/auth/sign-in/oauth2',
    'POST /api/auth/sign-out',
    'POST /api/auth/two-factor/verify-backup-code',
    'POST /api/auth/two-factor/verify-totp',
    'POST /api/invitations/:token/accept',
    'POST /api/setup',
  ])
})

test('without a session every other route of the dashboard is closed', async () => {
  for (const { method, url } of routes.filter(({ url }) => url.startsWith('/api/'))) {
    const response = await fetch(service.url + url.replace(/:(\w+)/g, 'none'), { method })
    expect([method, url, response.status]).toEqual([method, url, 401])
    await response.body?.cancel()
  }
})
