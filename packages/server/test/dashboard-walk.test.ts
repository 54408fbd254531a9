import { expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from './people.ts'
import { createTestTenant, sharedService } from './service.ts'

/** Of signing in and the team, which have tests of their own. Everything else is an operation: walk.test.ts. */
const ROUTES = /^\/api\/(auth|setup|me|sign-in-options|tenant|tenants|team|invitations)(\/|$)/

test("the dashboard's own routes are about signing in and the team alone", async () => {
  const service = await sharedService()
  const own = service.app.accessOfRoutes.filter(({ url }) => url.startsWith('/api/') && !ROUTES.test(url))
  expect(own).toEqual([])
})

/** Changes that the audit log does not tell of, and why. */
const NOT_AUDITED: Record<string, string> = {
  'POST /api/invitations/:invitation/accept': 'member.joined: not by who is signed in here, see below',
  'PATCH /api/me': "a person's own name",
  'POST /api/tenant': "which of a person's tenants a session shows",
  'POST /api/setup': 'tenant.created, in the tenant that it makes: once in the life of a service',
  'POST /api/tenants': 'tenant.created, in the tenant that it makes',
}
/** What the library of signing in does is about a person, who may be of several tenants. */
const OF_A_PERSON = /^\/api\/auth(\/|$)/

test('every change and everything that is sent out is in the audit log', async () => {
  const service = await sharedService()
  const owner = await createTestTenant(service)
  const ownerBrowser = await signedIn(service, owner.id, 'owner')
  const admin = await signedIn(service, owner.id, 'admin')
  const member = await signedIn(service, owner.id, 'member')
  let invitation = ''
  const changes: Change[] = [
    ['POST /api/team', '/api/team', 'member.invited', { email: 'new@example.com', role: 'viewer' }],
    ['POST /api/invitations/:invitation/link', '/api/invitations/:invitation/link', 'invitation.renewed'],
    ['DELETE /api/invitations/:invitation', '/api/invitations/:invitation', 'invitation.withdrawn'],
    ['PATCH /api/team/:user_id', `/api/team/${member.userId}`, 'member.role_changed', { role: 'viewer' }],
    ['DELETE /api/team/:user_id', `/api/team/${member.userId}`, 'member.removed'],
  ]
  const mutating = service.app.accessOfRoutes
    .filter(({ method, url }) => !['GET', 'HEAD'].includes(method) && url.startsWith('/api/') && !OF_A_PERSON.test(url))
    .map(({ method, url }) => `${method} ${url}`)
  expect([...changes.map(([route]) => route), ...Object.keys(NOT_AUDITED)].sort()).toEqual(mutating.sort())

  const newest = async () => (await admin.call('GET', '/v1/audit-log?actor=user&limit=1')).body
  for (const [route, path, action, body] of changes) {
    const before = (await newest()).pagination.total_items
    const answer = await ownerBrowser.call(route.split(' ')[0] ?? '', path.replace(':invitation', invitation), body)
    expect([route, answer.status]).toEqual([route, expect.toSatisfy((status: number) => status < 300)])
    invitation = answer.body.invitation?.invitation_id ?? invitation
    const { entries, pagination } = await newest()
    expect([route, entries[0].action, pagination.total_items]).toEqual([route, action, before + 1])
  }
  const invited = await ownerBrowser.call('POST', '/api/team', { email: 'joins@example.com', role: 'viewer' })
  const accept = `/api/invitations/${invited.body.link.split('/').at(-1)}/accept`
  expect((await new Browser(service).call('POST', accept, { name: 'Jo', password: PASSWORD })).status).toBe(200)
  expect((await newest()).entries[0].action).toBe('member.joined')
})

/** A route, where it is called, what the audit log says of it, and what is sent. */
type Change = [route: string, path: string, action: string, body?: unknown]
