import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

const ADA = { firstName: 'Ada', lastName: 'Lovelace', role: 'Account executive' }

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const create = (body: object = ADA) => tenant.call('POST', '/v1/identities', body)

/** The audit log without values that differ between runs. */
async function auditLog() {
  const rows = await tenant.handle.db.selectFrom('audit_log').selectAll().orderBy('entry_id').execute()
  return rows.map(({ actor, action, subject_kind, subject_id, details }) => ({
    kind: (actor as { kind: string }).kind,
    action,
    subject: `${subject_kind} ${subject_id}`,
    details,
  }))
}

test('an identity is created, read, listed, changed and deleted', async () => {
  const made = await create({ ...ADA, firstName: '  Ada ' })
  expect(made.status).toBe(201)
  const { identity } = made.body
  expect(identity).toEqual({
    identity_id: expect.any(String),
    _id: identity.identity_id,
    firstName: 'Ada',
    lastName: 'Lovelace',
    role: 'Account executive',
    jobTitle: null,
    profile_id: null,
    email_account: { address: null, connected: false },
    social: { connected: false, profile_id: null, checked_at: null },
    created_at: expect.any(String),
    updated_at: identity.created_at,
  })
  const path = `/v1/identities/${identity.identity_id}`
  expect((await tenant.call('GET', path)).body).toEqual({ status: 'success', identity })

  const changed = await tenant.call('PUT', path, { jobTitle: 'Head of sales' })
  expect(changed.status).toBe(200)
  expect(changed.body.identity).toMatchObject({ firstName: 'Ada', role: ADA.role, jobTitle: 'Head of sales' })
  expect(changed.body.identity.updated_at > identity.updated_at).toBe(true)

  const second = (await create()).body.identity
  const list = await tenant.call('GET', '/v1/identities')
  const pagination = { page: 1, limit: 100, total_pages: 1, total_items: 2 }
  const identities = [second, changed.body.identity]
  expect(list.body).toEqual({ status: 'success', identities, total_items: 2, pagination })
  const page = (await tenant.call('GET', '/v1/identities?limit=1&page=2')).body
  expect([page.identities, page.total_items]).toEqual([[changed.body.identity], 2])

  const deleted = await tenant.call('DELETE', path)
  expect(deleted.body).toEqual({ status: 'success', deleted: true, identity_id: identity.identity_id })
  for (const [method, body] of [['GET'], ['PUT', {}], ['DELETE']] as const) {
    const gone = await tenant.call(method, path, body)
    expect([method, gone.status, gone.body.error.code]).toEqual([method, 404, 'not_found'])
  }
})

test.each([null, '', '  '])('a change with the job title %j removes it', async (jobTitle) => {
  const { identity } = (await create()).body
  const path = `/v1/identities/${identity.identity_id}`
  await tenant.call('PUT', path, { jobTitle: 'CEO' })
  const cleared = await tenant.call('PUT', path, { jobTitle })
  expect(cleared.status).toBe(200)
  expect(cleared.body.identity).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace', jobTitle: null })
  expect((await tenant.call('GET', path)).body.identity).toEqual(cleared.body.identity)
  const again = await tenant.call('PUT', path, { jobTitle })
  expect(again.body.identity).toEqual(cleared.body.identity)
  expect((await auditLog()).map(({ details }) => details)).toEqual([
    ADA,
    { job_title: { from: null, to: 'CEO' } },
    { job_title: { from: 'CEO', to: null } },
  ])
})

test('a change without effect leaves updated_at unchanged and adds no audit entry', async () => {
  const { identity } = (await create()).body
  const same = await tenant.call('PUT', `/v1/identities/${identity.identity_id}`, { firstName: ' Ada' })
  expect(same.body.identity).toEqual(identity)
  const empty = await tenant.call('PUT', `/v1/identities/${identity.identity_id}`, {})
  expect(empty.body.identity).toEqual(identity)
  expect((await auditLog()).map(({ action }) => action)).toEqual(['identity.created'])
})

test('creating, changing and deleting are in the audit log with their actor', async () => {
  const { identity } = (await create()).body
  await tenant.call('PUT', `/v1/identities/${identity.identity_id}`, { lastName: 'King', jobTitle: 'CEO' })
  await tenant.call('DELETE', `/v1/identities/${identity.identity_id}`)
  const about = { kind: 'api_key', subject: `identity ${identity.identity_id}` }
  expect(await auditLog()).toEqual([
    { ...about, action: 'identity.created', details: ADA },
    {
      ...about,
      action: 'identity.updated',
      details: { last_name: { from: 'Lovelace', to: 'King' }, job_title: { from: null, to: 'CEO' } },
    },
    { ...about, action: 'identity.deleted', details: { firstName: 'Ada', lastName: 'King' } },
  ])
})

test('agents that used a deleted identity stay, without a default identity', async () => {
  const { identity } = (await create()).body
  const now = new Date()
  const agent_id = identity.identity_id
  await tenant.handle.db
    .insertInto('agents')
    .values({ agent_id, name: 'Agent', identity_id: identity.identity_id, created_at: now, updated_at: now })
    .execute()
  expect((await tenant.call('DELETE', `/v1/identities/${identity.identity_id}`)).status).toBe(200)
  const agent = await tenant.handle.db.selectFrom('agents').select(['name', 'identity_id']).executeTakeFirst()
  expect(agent).toEqual({ name: 'Agent', identity_id: null })
})

describe('an invalid identity is 400, names the fields and stores nothing', () => {
  const LONG = 'x'.repeat(201)
  test.each<[string, object, string[]]>([
    ['nothing', {}, ['firstName', 'lastName', 'role']],
    ['no role', { firstName: 'A', lastName: 'B' }, ['role']],
    ['numbers', { ...ADA, firstName: 1 }, ['firstName']],
    ['null', { ...ADA, lastName: null }, ['lastName']],
    ['empty texts', { ...ADA, role: '' }, ['role']],
    ['blank texts', { firstName: ' ', lastName: '\t', role: '\n' }, ['firstName', 'lastName', 'role']],
    ['long texts', { ...ADA, lastName: LONG }, ['lastName']],
    ['line breaks', { ...ADA, firstName: 'Ada\r\nBcc: eve@example.com' }, ['firstName']],
    ['unknown fields', { ...ADA, profile_id: 'x' }, ['profile_id']],
    ['a job title, which only a change may set', { ...ADA, jobTitle: 'CEO' }, ['jobTitle']],
    ['NUL characters', { ...ADA, firstName: 'A\0' }, ['firstName']],
  ])('%s', async (_, body, places) => {
    const { status, body: received } = await create(body)
    expect([status, received.error.code]).toEqual([400, 'validation_error'])
    expect(received.error.details.map(({ path }: { path: string }) => path)).toEqual(places)
    expect((await tenant.call('GET', '/v1/identities')).body.total_items).toBe(0)
  })

  test.each<[string, object, string]>([
    ['a role', { role: 'x' }, 'role'],
    ['a blank', { firstName: '  ' }, 'firstName'],
    ['a long text', { jobTitle: LONG }, 'jobTitle'],
  ])('in a change: %s', async (_, body, place) => {
    const { identity } = (await create()).body
    const { status, body: received } = await tenant.call('PUT', `/v1/identities/${identity.identity_id}`, body)
    expect([status, received.error.details[0].path]).toEqual([400, place])
    expect((await tenant.call('GET', `/v1/identities/${identity.identity_id}`)).body.identity).toEqual(identity)
  })
})

test("another tenant's identities are not found", async () => {
  const { identity } = (await create()).body
  const stranger = await createTestTenant(service)
  expect((await stranger.call('GET', '/v1/identities')).body.identities).toEqual([])
  const changed = await stranger.call('PUT', `/v1/identities/${identity.identity_id}`, { firstName: 'Eve' })
  expect(changed.status).toBe(404)
})
