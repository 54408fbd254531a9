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

/** Routes of the sign-in library are about a person, who may belong to several tenants. */
const OF_A_PERSON = /^\/api\/auth(\/|$)/

test('every change is an operation, or says why it has no audit entry of its caller', async () => {
  const service = await sharedService()
  const changes = service.app.accessOfRoutes.filter(
    ({ method, url }) =>
      !['GET', 'HEAD', 'OPTIONS'].includes(method) && url.startsWith('/api/') && !OF_A_PERSON.test(url),
  )
  expect(changes.filter(({ unaudited }) => unaudited === undefined)).toEqual([])
  expect(changes.length).toBeGreaterThan(0)
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
