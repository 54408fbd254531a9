import { expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from './people.ts'
import { createTestTenant, sharedService } from './service.ts'

/**
 * Routes for signing in and for letting an application in, which have their own tests. All others are operations: see
 * walk.test.ts.
 */
const ROUTES = /^\/api\/(auth|oauth|setup|me|sign-in-options|tenant|tenants|invitations)(\/|$)/

test("the dashboard's own routes are only about signing in", async () => {
  const service = await sharedService()
  const own = service.app.accessOfRoutes.filter(({ url }) => url.startsWith('/api/') && !ROUTES.test(url))
  expect(own).toEqual([])
})

/** Changes without an audit entry, and why. */
const NOT_AUDITED: Record<string, string> = {
  'POST /api/invitations/:token/accept': 'member.joined: not by the signed-in person, see below',
  'PATCH /api/me': "a person's own name",
  'POST /api/tenant': "which of a person's tenants a session shows",
  'POST /api/setup': 'tenant.created, in the new tenant, once per service',
  'POST /api/tenants': 'tenant.created, in the new tenant',
  'POST /api/oauth/authorization': 'connected_app.authorized, in the tenant that the person chooses',
}
/** Routes of the sign-in library are about a person, who may belong to several tenants. */
const OF_A_PERSON = /^\/api\/auth(\/|$)/

test('every change is an operation, or is known to have no audit entry of its caller', async () => {
  const service = await sharedService()
  const mutating = service.app.accessOfRoutes
    .filter(({ method, url }) => !['GET', 'HEAD'].includes(method) && url.startsWith('/api/') && !OF_A_PERSON.test(url))
    .map(({ method, url }) => `${method} ${url}`)
  expect(Object.keys(NOT_AUDITED).sort()).toEqual(mutating.sort())
})

test('accepting an invitation is recorded in the audit log', async () => {
  const service = await sharedService()
  const owner = await createTestTenant(service)
  const ownerBrowser = await signedIn(service, owner.id, 'owner')
  const admin = await signedIn(service, owner.id, 'admin')
  const invited = await ownerBrowser.call('POST', '/v1/invitations', { email: 'joins@example.com', role: 'viewer' })
  const accept = `/api/invitations/${invited.body.link.split('/').at(-1)}/accept`
  expect((await new Browser(service).call('POST', accept, { name: 'Jo', password: PASSWORD })).status).toBe(200)
  const { entries } = (await admin.call('GET', '/v1/audit-log?actor=user&limit=1')).body
  expect(entries[0].action).toBe('member.joined')
})
