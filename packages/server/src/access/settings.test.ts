import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant
let admin: Browser

beforeAll(async () => {
  service = await startTestService({ CDS_RATE_LIMITS: 'on' })
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
})
afterAll(() => service.close())

test('a key is shown once, works with its scopes, and stops when it is revoked', async () => {
  const made = await admin.call('POST', '/v1/api-keys', { name: 'CRM', scopes: ['contacts:read'] })
  expect([made.status, made.body.api_key]).toEqual([201, expect.stringMatching(/^cds_/)])
  const key = made.body.api_key
  expect((await tenant.call('GET', '/v1/contacts', undefined, key)).status).toBe(200)
  expect((await tenant.call('GET', '/v1/events', undefined, key)).status).toBe(403)
  const { keys } = (await admin.call('GET', '/v1/api-keys')).body
  expect(keys[0]).toMatchObject({ name: 'CRM', scopes: ['contacts:read'], revoked_at: null, expires_at: null })
  expect(JSON.stringify(keys)).not.toContain(key.slice(4, 20))
  const path = `/v1/api-keys/${made.body.key_id}`
  expect((await admin.call('DELETE', path)).body).toMatchObject({ revoked: true })
  await until(async () => expect((await tenant.call('GET', '/v1/contacts', undefined, key)).status).toBe(401))
  expect((await admin.call('DELETE', path)).status).toBe(404)
  const { entries } = (await admin.call('GET', '/v1/audit-log?subject_kind=api_key')).body
  expect(entries.map(({ action }: { action: string }) => action)).toEqual(['api_key.revoked', 'api_key.created'])
  expect(JSON.stringify(entries)).not.toContain(key.slice(4, 20))
  expect((await admin.call('GET', '/v1/api-keys/scopes')).body.scopes).toContain('agents:approve')
})

test('a tenant has at most two hundred active keys, also when many are created concurrently', async () => {
  const crowded = await createTestTenant(service)
  const owner = await signedIn(service, crowded.id, 'owner')
  const key = { name: 'x', scopes: ['contacts:read'], created_at: new Date() }
  const rows = Array.from({ length: 199 }, (_, index) => ({
    ...key,
    key_id: newId(),
    key_hash: randomBytes(32),
    // These three do not count.
    revoked_at: index < 2 ? new Date() : null,
    expires_at: index === 2 ? new Date() : null,
  }))
  await crowded.handle.db.insertInto('api_keys').values(rows).execute()
  const make = () => owner.call('POST', '/v1/api-keys', { name: 'x', scopes: ['all'] })
  const made = await Promise.all(Array.from({ length: 8 }, make))
  expect(made.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(made.filter(({ body }) => body.error?.code === 'too_many_api_keys')).toHaveLength(5)
  await owner.call('DELETE', `/v1/api-keys/${rows[3]?.key_id}`)
  expect((await make()).status).toBe(201)
})

test('keys and domains are paged', async () => {
  const crowded = await createTestTenant(service)
  const owner = await signedIn(service, crowded.id, 'owner')
  for (const name of ['one', 'two']) await owner.call('POST', '/v1/api-keys', { name, scopes: ['all'] })
  const keys = (await owner.call('GET', '/v1/api-keys?limit=1&page=2')).body
  expect(keys.keys).toMatchObject([{ name: 'one' }])
  expect(keys.pagination).toMatchObject({ page: 2, limit: 1 })
  for (const domain of ['b.example', 'a.example']) await owner.call('POST', '/v1/domains', { domain })
  const names = async (query: string) => {
    const { body } = await owner.call('GET', `/v1/domains?${query}`)
    return [body.domains.map(({ domain }: { domain: string }) => domain), body.pagination.total_items]
  }
  expect(await names('limit=2')).toEqual([['a.example', 'b.example'], 3])
  expect(await names('verified=true')).toEqual([[crowded.site], 1])
  expect(await names('verified=false&limit=1&page=2')).toEqual([['b.example'], 2])
})

test.each([
  [{ name: '', scopes: ['all'] }, 'validation_error'],
  [{ name: 'x', scopes: [] }, 'validation_error'],
  [{ name: 'x', scopes: ['everything'] }, 'invalid_scope'],
  [{ name: 'x', scopes: ['all'], expires_at: '2020-01-01' }, 'validation_error'],
  [{ name: 'x', scopes: ['all'], expires_at: 'soon' }, 'validation_error'],
])('the key %j is 400', async (body, code) => {
  const response = await admin.call('POST', '/v1/api-keys', body)
  expect([response.status, response.body.error.code]).toEqual([400, code])
})

test('the tracker settings return the snippet and the first event', async () => {
  const fresh = await createTestTenant(service)
  const viewer = await signedIn(service, fresh.id, 'viewer')
  const before = (await viewer.call('GET', '/v1/tracker')).body
  expect(before).toMatchObject({ first_event: null, last_event: null })
  expect(before.snippet).toBe(`<script async src="${before.script_url}"></script>`)
  await fresh.contact('system-event@example.com')
  expect((await viewer.call('GET', '/v1/tracker')).body.first_event).toBeNull()
  expect(before.form_url).toBe(`${service.config.publicUrl}/v1/public/form-submission/${fresh.id}/FORM_ID`)
  const url = `https://${fresh.site}/first`
  await fresh.track(
    { visitor_id: 'bot', events: [{ event: 'page_view', url: `${url}?bot`, timestamp: '2026-01-01' }] },
    { 'user-agent': 'curl/8.0' },
  )
  expect((await viewer.call('GET', '/v1/tracker')).body.first_event).toBeNull()
  await fresh.track({
    visitor_id: 'v',
    events: [{ event: 'page_view', url, timestamp: new Date(Date.now() - 60_000).toISOString() }],
  })
  await fresh.track({ visitor_id: 'v', events: [{ event: 'page_view', url: `${url}?2` }] })
  const after = (await viewer.call('GET', '/v1/tracker')).body
  expect([after.first_event.url, after.last_event.url]).toEqual([url, `${url}?2`])
  expect(after.first_event).toMatchObject({ event: 'page_view', visitor_id: 'v', contact_id: null })
  const contact_id = await fresh.contact('v@example.com', {}, { visitor_id: 'v' })
  expect((await viewer.call('GET', '/v1/tracker')).body.first_event).toMatchObject({ contact_id })
})

test("the current limits are returned with the tenant's usage", async () => {
  const { apiPerMinute } = service.config.rateLimits ?? { apiPerMinute: 0 }
  await tenant.call('GET', '/v1/contacts')
  await tenant.track({ visitor_id: 'v', events: [{ event: 'e' }] })
  const { body } = await admin.call('GET', '/v1/limits')
  expect(body.enabled).toBe(true)
  expect(body.limits).toContainEqual({ name: 'apiPerMinute', label: expect.any(String), per_minute: apiPerMinute })
  const used = body.requests.keys.map(({ requests }: { requests: number }) => requests)
  expect(Math.max(...used)).toBeGreaterThanOrEqual(1)
  expect(body.requests.tracking).toBeGreaterThanOrEqual(1)
})

test('the audit log is paged and filtered, and only administrators can read it', async () => {
  const { body } = await admin.call('GET', '/v1/audit-log?limit=1')
  expect(body.entries).toHaveLength(1)
  expect(body.pagination.total_items).toBeGreaterThan(1)
  expect((await admin.call('GET', '/v1/audit-log?actor=agent')).body.entries).toEqual([])
  expect((await admin.call('GET', '/v1/audit-log?actor=user')).body.pagination.total_items).toBe(
    body.pagination.total_items,
  )
  const member = await signedIn(service, tenant.id, 'member')
  expect((await member.call('GET', '/v1/audit-log')).body.error.code).toBe('insufficient_role')
  const byKey = await tenant.call('GET', '/v1/audit-log', undefined, await tenant.keyWith('settings:read'))
  expect([byKey.status, byKey.body.error.code]).toEqual([403, 'insufficient_scope'])
})

test('a key can only create keys with scopes of its own', async () => {
  const key = await tenant.keyWith('keys:write', 'contacts:read')
  const create = (scopes: string[]) => tenant.call('POST', '/v1/api-keys', { name: 'k', scopes }, key)
  for (const scopes of [['contacts:write'], ['contacts:read', 'data:erase']]) {
    const { status, body } = await create(scopes)
    expect([status, body.error.code, body.error.details[0].path]).toEqual([403, 'insufficient_scope', 'scopes'])
  }
  expect((await create(['contacts:read'])).status).toBe(201)
  const { body } = await create(['all'])
  const { keys } = (await tenant.call('GET', '/v1/api-keys?limit=1', undefined, key)).body
  expect([keys[0].key_id, keys[0].scopes.sort()]).toEqual([body.key_id, ['contacts:read', 'keys:write']])
})
