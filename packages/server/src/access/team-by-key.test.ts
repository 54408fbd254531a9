import { beforeEach, expect, test } from 'vitest'
import { Browser, createPerson } from '../../test/people.ts'
import {
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import type { Role } from '../operations/roles.ts'
import { SCOPES, scopesOf } from '../operations/scopes.ts'

/** Managing the team with an API key, which has no role and grants no more than it has. */
let service: TestService
let tenant: TestTenant

beforeEach(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

let addresses = 0
const address = () => `keyed${++addresses}@example.com`
const outcome = ({ status, body }: TestResponse) => [status, body.error?.code]
const person = (role: Role) => createPerson(service.stores, tenant.id, { email: address(), name: 'Pat', role })
const keyOf = (role: Role) => tenant.keyWith('settings:write', ...scopesOf(role))
const invite = (key: string, role: string, email = address()) =>
  tenant.call('POST', '/v1/invitations', { email, role }, key)
const change = (key: string, userId: string, role: string) =>
  tenant.call('PATCH', `/v1/members/${userId}`, { role }, key)
const opens = async ({ body }: TestResponse) => {
  const token = body.link.split('/').at(-1)
  return (await new Browser(service).call('GET', `/api/invitations/${token}`)).status
}

async function entries() {
  const rows = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'actor', 'subject_id', 'details'])
    .where('subject_kind', 'in', ['user', 'invitation'])
    .orderBy('entry_id')
    .execute()
  return rows.map((row) => ({ ...row, actor: (row.actor as { kind: string }).kind }))
}

test('a key invites, renews and deletes, and the audit log says so', async () => {
  const email = address()
  const created = await invite(tenant.key, 'member', email)
  expect(created).toMatchObject({ status: 201, body: { mailed: false, invitation: { email, role: 'member' } } })
  const { invitation_id: id } = created.body.invitation
  const renewed = await tenant.call('POST', `/v1/invitations/${id}/renew`)
  expect(renewed).toMatchObject({ status: 200, body: { invitation: { invitation_id: id, email, role: 'member' } } })
  expect([await opens(created), await opens(renewed)]).toEqual([404, 200])
  expect((await tenant.call('DELETE', `/v1/invitations/${id}`)).body).toEqual({
    status: 'success',
    deleted: true,
    invitation_id: id,
    email,
    role: 'member',
  })
  expect(await opens(renewed)).toBe(404)
  const entry = { actor: 'api_key', subject_id: id, details: { email, role: 'member' } }
  expect(await entries()).toEqual([
    { action: 'invitation.created', ...entry },
    { action: 'invitation.renewed', ...entry },
    { action: 'invitation.deleted', ...entry },
  ])
})

test('a key changes a role and removes a member, and the audit log says so once', async () => {
  const userId = await person('member')
  const changed = await change(tenant.key, userId, 'viewer')
  expect(changed).toMatchObject({ status: 200, body: { member: { user_id: userId, name: 'Pat', role: 'viewer' } } })
  // Nothing changes, so nothing is recorded.
  expect((await change(tenant.key, userId, 'viewer')).status).toBe(200)
  expect((await tenant.call('DELETE', `/v1/members/${userId}`)).body).toEqual({
    status: 'success',
    deleted: true,
    user_id: userId,
  })
  expect((await tenant.call('GET', '/v1/members')).body.members).toEqual([])
  const entry = { actor: 'api_key', subject_id: userId }
  expect(await entries()).toEqual([
    { action: 'member.role_changed', ...entry, details: { from: 'member', to: 'viewer' } },
    { action: 'member.removed', ...entry, details: { role: 'viewer' } },
  ])
})

test('a key reads invitations with settings:read, and with no other scope', async () => {
  const { invitation_id: id } = (await invite(tenant.key, 'member')).body.invitation
  const reads = await tenant.keyWith('settings:read')
  const others = await tenant.keyWith('settings:write', 'contacts:read', 'audit:read', 'keys:write')
  for (const path of ['/v1/invitations', `/v1/invitations/${id}`]) {
    expect((await tenant.call('GET', path, undefined, reads)).status).toBe(200)
    const refused = await tenant.call('GET', path, undefined, others)
    expect(outcome(refused)).toEqual([403, 'insufficient_scope'])
    expect(JSON.stringify(refused.body.error)).toContain('settings:read')
  }
})

test('a key cannot manage owners, whatever scopes it has', async () => {
  const key = await tenant.keyWith(...SCOPES)
  const [owner, member] = [await person('owner'), await person('member')]
  await person('owner')
  expect(outcome(await invite(key, 'owner'))).toEqual([403, 'insufficient_role'])
  expect(outcome(await change(key, member, 'owner'))).toEqual([403, 'insufficient_role'])
  expect(outcome(await change(key, owner, 'viewer'))).toEqual([403, 'insufficient_role'])
  expect(outcome(await tenant.call('DELETE', `/v1/members/${owner}`, undefined, key))).toEqual([
    403,
    'insufficient_role',
  ])
  expect(await entries()).toEqual([])
})

test('a key grants only roles whose scopes it has in full', async () => {
  const [ofViewer, ofMember, ofAdmin] = [await keyOf('viewer'), await keyOf('member'), await keyOf('admin')]
  const bare = await tenant.keyWith('settings:write')
  const roles = ['viewer', 'member', 'admin']
  const may = async (key: string) => {
    const userId = await person('viewer')
    const responses = []
    for (const role of roles) responses.push(await invite(key, role), await change(key, userId, role))
    return responses.map((response) => response.body.error?.code ?? 'granted')
  }
  const [yes, no] = ['granted', 'insufficient_scope']
  expect(await may(ofAdmin)).toEqual([yes, yes, yes, yes, yes, yes])
  expect(await may(ofMember)).toEqual([yes, yes, yes, yes, no, no])
  expect(await may(ofViewer)).toEqual([yes, yes, no, no, no, no])
  expect(await may(bare)).toEqual([no, no, no, no, no, no])
  const { body } = await invite(ofViewer, 'member')
  expect(body.error.details).toEqual([{ path: 'role', message: 'contacts:write' }])
  // Renewing someone else's invitation would show its link to the key.
  const { invitation_id: id } = (await invite(ofAdmin, 'admin')).body.invitation
  expect(outcome(await tenant.call('POST', `/v1/invitations/${id}/renew`, undefined, ofMember))).toEqual([
    403,
    'insufficient_scope',
  ])
  // It can remove what it could not grant.
  expect((await tenant.call('DELETE', `/v1/invitations/${id}`, undefined, bare)).status).toBe(200)
  const member = await person('member')
  expect((await tenant.call('DELETE', `/v1/members/${member}`, undefined, bare)).status).toBe(200)
})

test('a revoked key leaves no way back in', async () => {
  const created = await tenant.call('POST', '/v1/api-keys', { name: 'leaked', scopes: ['all'] })
  const { key_id, api_key } = created.body
  const [own, kept] = [await invite(api_key, 'admin'), await invite(tenant.key, 'admin')]
  expect((await tenant.call('DELETE', `/v1/api-keys/${key_id}`)).status).toBe(200)
  expect([await opens(own), await opens(kept)]).toEqual([404, 200])
  const { email, invitation_id } = own.body.invitation
  expect((await entries()).at(-1)).toEqual({
    action: 'invitation.deleted',
    actor: 'api_key',
    subject_id: invitation_id,
    details: { email, role: 'admin' },
  })
})

test('a repeated request with an Idempotency-Key invites once and returns the same link', async () => {
  const email = address()
  const send = async () => {
    const response = await fetch(`${service.url}/v1/invitations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'invite-once',
      },
      body: JSON.stringify({ email, role: 'viewer' }),
    })
    return response.json()
  }
  expect(await send()).toEqual(await send())
  expect(await entries()).toHaveLength(1)
})

test.each([
  ['not an address', 'viewer', 'invalid_email'],
  ['ada@example.com', 'king', 'validation_error'],
])('%j cannot be invited as %s', async (email, role, code) => {
  expect(outcome(await invite(tenant.key, role, email))).toEqual([400, code])
})
