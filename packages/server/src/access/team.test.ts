import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../test/people.ts'
import {
  createTestTenant,
  startTestService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS, MINUTE_MS } from '../platform/time.ts'
import { lockAddress } from './accounts.ts'
import { createTenantUser } from './users.ts'

let service: TestService
let tenant: TestTenant
let now = new Date()

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
afterAll(() => service.close())

type Person = Awaited<ReturnType<typeof signedIn>>

async function team(): Promise<{ owner: Person; admin: Person; member: Person; viewer: Person }> {
  tenant = await createTestTenant(service)
  const [owner, admin, member, viewer] = [
    await signedIn(service, tenant.id, 'owner'),
    await signedIn(service, tenant.id, 'admin'),
    await signedIn(service, tenant.id, 'member'),
    await signedIn(service, tenant.id, 'viewer'),
  ]
  return { owner, admin, member, viewer }
}

const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]
const tokenOf = (link: string) => link.split('/invitation/')[1] ?? ''
let addresses = 0
const address = () => `invited${++addresses}@example.com`

async function invite(by: Person, email: string, role = 'member'): Promise<string> {
  const { status, body } = await by.call('POST', '/v1/invitations', { email, role })
  expect(status).toBe(201)
  expect(body).toMatchObject({ mailed: false, invitation: { email, role } })
  return tokenOf(body.link)
}

test('everyone sees the members and who is invited, and nobody sees a link again', async () => {
  const { owner, admin, member, viewer } = await team()
  const [toOwner, toViewer] = [await invite(owner, address(), 'owner'), await invite(owner, address(), 'viewer')]
  const roles = (rows: { role: string }[]) => rows.map(({ role }) => role)
  const { members } = (await viewer.call('GET', '/v1/members')).body
  expect(roles(members)).toEqual(['owner', 'admin', 'member', 'viewer'])
  expect(members[0]).toEqual({
    user_id: owner.userId,
    email: owner.email,
    name: 'The owner',
    role: 'owner',
    joined_at: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  for (const person of [owner, admin, member, viewer]) {
    const { body } = await person.call('GET', '/v1/invitations')
    expect(roles(body.invitations)).toEqual(['viewer', 'owner'])
    const [{ invitation_id }] = body.invitations
    const one = await person.call('GET', `/v1/invitations/${invitation_id}`)
    expect(one.body.invitation).toEqual(body.invitations[0])
    for (const secret of [toOwner, toViewer, 'link', 'token']) expect(JSON.stringify(body)).not.toContain(secret)
  }
  const page = await viewer.call('GET', '/v1/members?limit=3&page=2')
  expect([roles(page.body.members), page.body.pagination.total_items]).toEqual([['viewer'], 4])
  const invited = await owner.call('GET', '/v1/invitations?limit=1&page=2')
  expect([roles(invited.body.invitations), invited.body.pagination.total_items]).toEqual([['owner'], 2])
})

test('only the digest of a link is stored', async () => {
  const { owner } = await team()
  const token = await invite(owner, address())
  const rows = await tenant.handle.db.selectFrom('invitations').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(token)
  const digests = rows.map(({ token_hash }) => Buffer.from(token_hash).toString('hex'))
  expect(digests).toEqual([createHash('sha256').update(token).digest('hex')])
})

test('a new link invalidates the previous one, and belongs to the person who created it', async () => {
  const { owner, admin, member } = await team()
  const opens = async (token: string) => (await owner.call('GET', `/api/invitations/${token}`)).status
  const old = await invite(owner, address(), 'viewer')
  const [{ invitation_id: id }] = (await owner.call('GET', '/v1/invitations')).body.invitations
  const renew = (by: Person) => by.call('POST', `/v1/invitations/${id}/renew`)
  now = new Date(Date.now() + 6 * DAY_MS)
  const { status, body } = await renew(admin)
  now = new Date(Date.now() + 8 * DAY_MS)
  const fresh = tokenOf(body.link)
  expect([status, body.invitation.invitation_id, await opens(old), await opens(fresh)]).toEqual([200, id, 404, 200])
  now = new Date()
  // A person who may no longer invite cannot return through their own link, whoever sent the first invitation.
  await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'viewer' })
  expect(await opens(fresh)).toBe(404)

  await invite(owner, address(), 'owner')
  const second = await signedIn(service, tenant.id, 'admin')
  const [{ invitation_id: ofOwner }] = (await owner.call('GET', '/v1/invitations')).body.invitations
  const stranger = await signedIn(service, (await createTestTenant(service)).id, 'owner')
  for (const [by, code] of [
    [second, 'insufficient_role'],
    [member, 'insufficient_role'],
    [stranger, 'not_found'],
  ] as const) {
    expect((await by.call('POST', `/v1/invitations/${ofOwner}/renew`)).body.error.code).toBe(code)
  }
  for (const none of [newId(), 'x']) {
    expect((await owner.call('POST', `/v1/invitations/${none}/renew`)).status).toBe(404)
  }
  const { entries } = (await owner.call('GET', '/v1/audit-log?subject_kind=invitation')).body
  expect(entries.map(({ action }: { action: string }) => action)).toContain('invitation.renewed')
  expect(JSON.stringify(entries)).not.toContain(fresh)
})

test('a new person accepts an invitation once and is signed in', async () => {
  const { owner } = await team()
  const email = address()
  const token = await invite(owner, email.toUpperCase().toLowerCase(), 'viewer')
  const guest = new Browser(service)
  const seen = await guest.call('GET', `/api/invitations/${token}`)
  expect(seen.body).toEqual({
    status: 'success',
    email,
    tenant_name: 'Test',
    role: 'viewer',
    proves_address: false,
  })
  expect(outcome(await guest.call('POST', `/api/invitations/${token}/accept`, { name: 'Grace' }))).toEqual([
    400,
    'validation_error',
  ])
  expect(
    outcome(await guest.call('POST', `/api/invitations/${token}/accept`, { name: 'Grace', password: 'short' })),
  ).toEqual([400, 'invalid_password'])
  const person = { name: 'Grace', password: PASSWORD }
  const joined = await guest.call('POST', `/api/invitations/${token}/accept`, person)
  expect(joined.body).toEqual({ status: 'success', tenant_id: tenant.id, signed_in: true })
  expect((await guest.call('GET', '/api/me')).body).toMatchObject({ user: { email, name: 'Grace' }, role: 'viewer' })
  const again = await new Browser(service).call('POST', `/api/invitations/${token}/accept`, person)
  expect(outcome(again)).toEqual([404, 'not_found'])
})

test('a person with an account may sign in first and join another tenant with it', async () => {
  const { owner } = await team()
  const elsewhere = await createTestTenant(service)
  const known = await signedIn(service, elsewhere.id, 'owner')
  const accept = `/api/invitations/${await invite(owner, known.email, 'admin')}/accept`
  const other = await signedIn(service, elsewhere.id, 'viewer')
  expect(outcome(await other.call('POST', accept, {}))).toEqual([403, 'invitation_for_another'])
  expect((await known.call('POST', accept, {})).body).toMatchObject({ tenant_id: tenant.id, signed_in: true })
  const me = await known.call('GET', '/api/me')
  expect(me.body).toMatchObject({ role: 'admin', tenant: { tenant_id: tenant.id } })
  expect(me.body.tenants).toHaveLength(2)
  expect(outcome(await owner.call('POST', '/v1/invitations', { email: known.email, role: 'viewer' }))).toEqual([
    409,
    'already_member',
  ])
})

test('an address that became a member in another way cannot join again', async () => {
  const { owner } = await team()
  const email = address()
  const token = await invite(owner, email)
  // Restores the invitation that the command line deletes, as if both happened concurrently.
  const row = await tenant.handle.db
    .selectFrom('invitations')
    .select(['invitation_id', 'email', 'role', 'token_hash', 'proves_address', 'created_at', 'expires_at'])
    .where('email', '=', email)
    .execute()
  await createTenantUser(
    service.stores,
    tenant.id,
    { email, password: PASSWORD, role: 'member' },
    { kind: 'command_line' },
    now,
  )
  const accept = (by: Browser, body: object) => by.call('POST', `/api/invitations/${token}/accept`, body)
  const guest = new Browser(service)
  expect(outcome(await accept(guest, { name: 'X', password: PASSWORD }))).toEqual([404, 'not_found'])
  await tenant.handle.db.insertInto('invitations').values(row).execute()
  expect(outcome(await accept(guest, { name: 'X', password: PASSWORD }))).toEqual([409, 'already_member'])
  expect(outcome(await accept(await guest.signIn(email), {}))).toEqual([409, 'already_member'])
  const { members } = (await owner.call('GET', '/v1/members')).body
  expect(members.filter((member: { email: string }) => member.email === email)).toHaveLength(1)
})

test('an invitation ends after a week, when deleted, and when the address is invited again', async () => {
  const { owner, admin } = await team()
  const [old, deleted, email] = [await invite(owner, address()), await invite(owner, address()), address()]
  const first = await invite(owner, email)
  const second = await invite(owner, email, 'viewer')
  const { body } = await owner.call('GET', '/v1/invitations')
  expect(body.invitations).toHaveLength(3)
  // Newest first.
  const { invitation_id } = body.invitations[1]
  const stranger = await signedIn(service, (await createTestTenant(service)).id, 'owner')
  expect(outcome(await stranger.call('DELETE', `/v1/invitations/${invitation_id}`))).toEqual([404, 'not_found'])
  expect((await admin.call('DELETE', `/v1/invitations/${invitation_id}`)).status).toBe(200)
  const read = async (token: string) => (await owner.call('GET', `/api/invitations/${token}`)).status
  expect([await read(deleted), await read(first), await read(second), await read(old)]).toEqual([404, 404, 200, 200])
  const invitedAt = now.getTime()
  now = new Date(invitedAt + 7 * DAY_MS - MINUTE_MS)
  expect(await read(old)).toBe(200)
  now = new Date(invitedAt + 7 * DAY_MS + MINUTE_MS)
  expect(await read(old)).toBe(404)
  const late = await new Browser(service).call('POST', `/api/invitations/${old}/accept`, { password: PASSWORD })
  expect(outcome(late)).toEqual([404, 'not_found'])
  now = new Date()
  for (const token of ['x', '%00', newId(), 'a'.repeat(5_000)]) expect(await read(token)).toBe(404)
})

test('accepting while the tenant is being deleted returns a clean error', async () => {
  const { database } = service.stores
  const isWaiting = async (what: string) => {
    const rows =
      await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE ${what}`.execute(
        database,
      )
    return rows.rows.length > 0
  }
  const { owner } = await team()
  const doomed = tenant
  const email = address()
  const token = await invite(owner, email)
  let response: Promise<TestResponse> | undefined
  let deleted: Promise<unknown> | undefined
  // Blocks the request between deleting the invitation and adding the membership.
  await database.transaction().execute(async (transaction) => {
    await lockAddress(transaction, email)
    const person = { name: 'Late', password: PASSWORD }
    response = new Browser(service).call('POST', `/api/invitations/${token}/accept`, person)
    await expect.poll(() => isWaiting('%pg_advisory_xact_lock%')).toBe(true)
    deleted = database.deleteFrom('tenants').where('tenant_id', '=', doomed.id).execute()
    await expect.poll(() => isWaiting('delete from "tenants"%')).toBe(true)
  })
  const status = (await response)?.status
  await deleted
  // The tenant may be deleted before the session starts.
  expect([200, 401]).toContain(status)
  const late = await new Browser(service).call('POST', `/api/invitations/${token}/accept`, {})
  expect(outcome(late)).toEqual([404, 'not_found'])
})

test('of several concurrent acceptances, one succeeds', async () => {
  const { owner } = await team()
  const token = await invite(owner, address())
  const accept = () =>
    new Browser(service).call('POST', `/api/invitations/${token}/accept`, { name: 'Twin', password: PASSWORD })
  const statuses = (await Promise.all([accept(), accept(), accept()])).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 404, 404])
})

test('only owners add, change and remove owners, and only admins and owners change the team', async () => {
  const { owner, admin, member } = await team()
  const change = (by: Person, of: Person, role: string) => by.call('PATCH', `/v1/members/${of.userId}`, { role })
  expect(outcome(await change(admin, admin, 'owner'))).toEqual([403, 'insufficient_role'])
  expect(outcome(await change(admin, owner, 'viewer'))).toEqual([403, 'insufficient_role'])
  expect(outcome(await admin.call('DELETE', `/v1/members/${owner.userId}`))).toEqual([403, 'insufficient_role'])
  expect(outcome(await admin.call('POST', '/v1/invitations', { email: address(), role: 'owner' }))).toEqual([
    403,
    'insufficient_role',
  ])
  expect(outcome(await change(member, member, 'admin'))).toEqual([403, 'insufficient_role'])
  expect((await change(admin, member, 'viewer')).status).toBe(200)
  expect((await change(owner, admin, 'owner')).status).toBe(200)
  // An admin can neither replace nor delete an owner's invitation to an owner.
  const other = await signedIn(service, tenant.id, 'admin')
  const email = address()
  await invite(owner, email, 'owner')
  expect(outcome(await other.call('POST', '/v1/invitations', { email, role: 'viewer' }))).toEqual([
    403,
    'insufficient_role',
  ])
  const [{ invitation_id }] = (await owner.call('GET', '/v1/invitations')).body.invitations
  expect(outcome(await other.call('DELETE', `/v1/invitations/${invitation_id}`))).toEqual([403, 'insufficient_role'])
  expect((await owner.call('GET', '/v1/invitations')).body.invitations).toHaveLength(1)
})

test('the last owner stays, also when two demote each other concurrently', async () => {
  const { owner } = await team()
  const demote = (by: Person, of: Person) => by.call('PATCH', `/v1/members/${of.userId}`, { role: 'viewer' })
  expect(outcome(await demote(owner, owner))).toEqual([409, 'last_owner'])
  expect(outcome(await owner.call('DELETE', `/v1/members/${owner.userId}`))).toEqual([409, 'last_owner'])
  const second = await signedIn(service, tenant.id, 'owner')
  const statuses = (await Promise.all([demote(owner, second), demote(second, owner)])).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 403])
})

test('a changed role and a removal take effect with the next request', async () => {
  const { owner, member, viewer } = await team()
  const write = (person: Person) => person.call('POST', '/v1/contacts', { email: address() })
  expect((await write(member)).status).toBe(201)
  await owner.call('PATCH', `/v1/members/${member.userId}`, { role: 'viewer' })
  expect(outcome(await write(member))).toEqual([403, 'insufficient_role'])
  expect((await viewer.call('GET', '/v1/contacts')).status).toBe(200)
  await owner.call('DELETE', `/v1/members/${viewer.userId}`)
  expect(outcome(await viewer.call('GET', '/v1/contacts'))).toEqual([403, 'no_tenant'])
  expect((await viewer.call('GET', '/api/me')).body).toMatchObject({
    tenant: null,
    role: null,
    tenants: [],
    scopes: [],
  })
  expect(outcome(await viewer.call('POST', '/api/tenant', { tenant_id: tenant.id }))).toEqual([404, 'not_found'])
  expect(outcome(await owner.call('DELETE', `/v1/members/${viewer.userId}`))).toEqual([404, 'not_found'])
})

test('a session works only in its active tenant, and in another one after switching', async () => {
  const { owner } = await team()
  const mine = tenant
  const stranger = await team()
  await mine.contact('mine@example.com')
  for (const tenant_id of [mine.id, newId(), 'x', '../..']) {
    expect(outcome(await stranger.owner.call('POST', '/api/tenant', { tenant_id }))).toEqual([404, 'not_found'])
  }
  for (const path of [`/v1/members/${owner.userId}`]) {
    expect(outcome(await stranger.owner.call('PATCH', path, { role: 'viewer' }))).toEqual([404, 'not_found'])
    expect(outcome(await stranger.owner.call('DELETE', path))).toEqual([404, 'not_found'])
  }
  expect((await stranger.owner.call('GET', '/v1/contacts')).body.contacts).toEqual([])
  const made = await owner.call('POST', '/api/tenants', { name: 'Second' })
  expect(made.status).toBe(201)
  expect((await owner.call('GET', '/v1/contacts')).body.contacts).toHaveLength(1)
  expect((await owner.call('POST', '/api/tenant', { tenant_id: made.body.tenant_id })).status).toBe(200)
  expect((await owner.call('GET', '/v1/contacts')).body.contacts).toEqual([])
  expect((await owner.call('GET', '/api/me')).body).toMatchObject({ tenant: { name: 'Second' }, role: 'owner' })
  // The next sign-in starts in the tenant used last.
  const again = await new Browser(service).signIn(owner.email)
  expect((await again.call('GET', '/api/me')).body.tenant.name).toBe('Second')
})

test('a person who may no longer invite cannot return through their own invitation', async () => {
  const { owner, admin } = await team()
  const second = await signedIn(service, tenant.id, 'owner')
  const opens = async (token: string) => (await new Browser(service).call('GET', `/api/invitations/${token}`)).status
  const kept = await invite(owner, address(), 'admin')
  const [ofAdmin, asOwner, asAdmin] = [
    await invite(admin, address(), 'admin'),
    await invite(second, address(), 'owner'),
    await invite(second, address(), 'admin'),
  ]
  expect((await owner.call('PATCH', `/v1/members/${second.userId}`, { role: 'admin' })).status).toBe(200)
  expect([await opens(asOwner), await opens(asAdmin)]).toEqual([404, 200])
  expect((await owner.call('DELETE', `/v1/members/${second.userId}`)).status).toBe(200)
  expect((await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'viewer' })).status).toBe(200)
  expect([await opens(asAdmin), await opens(ofAdmin), await opens(kept)]).toEqual([404, 404, 200])
  const rows = await tenant.handle.db
    .selectFrom('audit_log')
    .select('details')
    .where('action', '=', 'invitation.deleted')
    .orderBy('entry_id')
    .execute()
  expect(rows.map(({ details }) => (details as { role: string }).role)).toEqual(['owner', 'admin', 'admin'])
})

test('the audit log records every change of the team, with its actor', async () => {
  const { owner, member } = await team()
  await invite(owner, address())
  await owner.call('PATCH', `/v1/members/${member.userId}`, { role: 'viewer' })
  await owner.call('DELETE', `/v1/members/${member.userId}`)
  const rows = await tenant.handle.db.selectFrom('audit_log').select(['action', 'actor']).orderBy('entry_id').execute()
  expect(rows.map(({ action }) => action)).toEqual(['invitation.created', 'member.role_changed', 'member.removed'])
  expect(rows.map(({ actor }) => (actor as { id: string }).id)).toEqual([owner.userId, owner.userId, owner.userId])
})

test('a hundred invitations can be pending, also when sent concurrently; deleted and expired ones do not count', async () => {
  const { owner } = await team()
  const rows = Array.from({ length: 96 }, () => ({
    invitation_id: newId(),
    email: address(),
    role: 'viewer',
    token_hash: randomBytes(32),
    proves_address: false,
    invited_by: owner.userId,
    created_at: now,
    expires_at: new Date(now.getTime() + 60_000),
  }))
  await tenant.handle.db.insertInto('invitations').values(rows).execute()
  const send = (email = address()) => owner.call('POST', '/v1/invitations', { email, role: 'member' })
  const sent = await Promise.all(Array.from({ length: 8 }, () => send()))
  expect(sent.map(outcome).filter(([status]) => status === 201)).toHaveLength(4)
  expect(sent.map(outcome).filter(([, code]) => code === 'too_many_invitations')).toHaveLength(4)
  const kept = sent.find(({ status }) => status === 201)?.body.invitation
  expect(outcome(await send(kept.email))).toEqual([201, undefined])
  await owner.call('DELETE', `/v1/invitations/${rows[0]?.invitation_id}`)
  expect(outcome(await send())).toEqual([201, undefined])
  expect(outcome(await send())).toEqual([409, 'too_many_invitations'])
  await tenant.handle.db
    .updateTable('invitations')
    .set({ expires_at: now })
    .where('invitation_id', '=', rows[1]?.invitation_id ?? '')
    .execute()
  expect(outcome(await send())).toEqual([201, undefined])
})
