import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteOldOf } from '../../test/retention.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { EXAMPLE } from '../conversations/push-requests.ts'
import { listenForChanges } from '../platform/postgres/invalidation.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { startSourceUsage } from './usage.ts'
import { createSourceLookup, type FindSource } from './write-keys.ts'

let service: TestService
let tenant: TestTenant
let findSource: FindSource
let stopListening: () => Promise<void>
let now = new Date()

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
  tenant = await createTestTenant(service)
  const invalidation = await listenForChanges(service.postgres.address, service.log)
  stopListening = invalidation.close
  findSource = createSourceLookup(service.stores.database, invalidation, () => now)
})
afterAll(async () => {
  await stopListening()
  await service.close()
})

async function create(name: string, type = 'server', owner = tenant) {
  const { status, body } = await owner.call('POST', '/v1/sources', { name, type })
  expect([status, body.status]).toEqual([201, 'success'])
  return { id: body.source.source_id as string, writeKey: body.write_key as string, source: body.source }
}

const show = async (id: string) => (await tenant.call('GET', `/v1/sources/${id}`)).body.source
const entries = async () => (await tenant.call('GET', '/v1/audit-log?limit=100')).body.entries

test('a source has a write key, which is shown once and stored as a digest', async () => {
  const { id, writeKey, source } = await create('  Shop backend ')
  expect(writeKey).toMatch(/^wk_[A-Za-z0-9_-]{32}$/)
  expect(source).toMatchObject({ source_id: id, name: 'Shop backend', type: 'server', kind: null })
  expect(source).toMatchObject({ key_hint: writeKey.slice(-4), last_seen_at: null, events_last_day: 0 })
  expect(await show(id)).toEqual(source)
  const rows = await tenant.handle.db.selectFrom('write_keys').selectAll().where('source_id', '=', id).execute()
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(writeKey)
  expect(JSON.stringify((await tenant.call('GET', '/v1/sources')).body)).not.toContain(writeKey)
  expect(await findSource(writeKey)).toEqual({ tenantId: tenant.id, sourceId: id, type: 'server' })
  const [entry] = (await entries()).filter(({ subject_id }: { subject_id: string }) => subject_id === id)
  expect(entry).toMatchObject({ action: 'source.created', subject_kind: 'source', subject_name: 'Shop backend' })
  expect(JSON.stringify(entry)).not.toContain(writeKey)
})

test('names are unique within a tenant, but not between tenants', async () => {
  await create('Website', 'browser')
  await create('Website', 'server', await createTestTenant(service))
  const again = await tenant.call('POST', '/v1/sources', { name: 'Website', type: 'server' })
  expect([again.status, again.body.error.code]).toEqual([409, 'source_name_taken'])
  const { id } = await create('App')
  const renamed = await tenant.call('PATCH', `/v1/sources/${id}`, { name: 'Website' })
  expect([renamed.status, renamed.body.error.code]).toEqual([409, 'source_name_taken'])
})

test('a source is renamed, and the same name again changes nothing', async () => {
  const { id } = await create('Old name')
  const renamed = await tenant.call('PATCH', `/v1/sources/${id}`, { name: 'New name' })
  expect(renamed.body).toMatchObject({ changed: true, source: { source_id: id, name: 'New name' } })
  expect((await tenant.call('PATCH', `/v1/sources/${id}`, { name: 'New name' })).body.changed).toBe(false)
  const actions = (await entries()).filter((entry: { subject_id: string }) => entry.subject_id === id)
  expect(actions.map(({ action }: { action: string }) => action)).toEqual(['source.renamed', 'source.created'])
})

test.each([
  [{ type: 'server' }, 'name'],
  [{ name: ' ', type: 'server' }, 'name'],
  [{ name: 'x'.repeat(201), type: 'server' }, 'name'],
  [{ name: 'Phone' }, 'type'],
  [{ name: 'Phone', type: 'connector' }, 'type'],
  [{ name: 'Phone', type: 'server', key: 'wk_mine' }, 'key'],
])('a source cannot be created with %j', async (body, path) => {
  const response = await tenant.call('POST', '/v1/sources', body)
  expect([response.status, response.body.error.details[0].path]).toEqual([400, path])
})

test('a replaced key works for another day, and so does the one before it', async () => {
  const { id, writeKey: first } = await create('Rotated')
  const source = { tenantId: tenant.id, sourceId: id, type: 'server' }
  const rotate = async () => (await tenant.call('POST', `/v1/sources/${id}/rotate`)).body
  const { write_key: second, old_key_expires_at, source: shown } = await rotate()
  expect(shown.key_hint).toBe(second.slice(-4))
  expect(old_key_expires_at).toBe(new Date(now.getTime() + DAY_MS).toISOString())
  const begun = now
  now = new Date(begun.getTime() + HOUR_MS)
  const { write_key: third } = await rotate()
  now = new Date(begun.getTime() + DAY_MS - 1)
  expect(await Promise.all([first, second, third].map((key) => findSource(key)))).toEqual([source, source, source])
  now = new Date(begun.getTime() + DAY_MS)
  // The second rotation did not prolong the life of the first key.
  expect(await Promise.all([first, second, third].map((key) => findSource(key)))).toEqual([null, source, source])
  now = new Date(begun.getTime() + 26 * HOUR_MS)
  expect(await Promise.all([second, third].map((key) => findSource(key)))).toEqual([null, source])
  await deleteOldOf(['write_keys'], service.stores.database, now)
  const left = await tenant.handle.db.selectFrom('write_keys').select('hint').where('source_id', '=', id).execute()
  expect(left).toEqual([{ hint: third.slice(-4) }])
})

test('after a leak, every older key is revoked at once', async () => {
  const { id, writeKey: first } = await create('Leaked')
  const { write_key: second } = (await tenant.call('POST', `/v1/sources/${id}/rotate`)).body
  const response = await tenant.call('POST', `/v1/sources/${id}/rotate`, { revoke_old_key: true })
  expect(response.body.old_key_expires_at).toBe(now.toISOString())
  await expect.poll(async () => Promise.all([first, second].map((key) => findSource(key)))).toEqual([null, null])
  expect(await findSource(response.body.write_key)).toMatchObject({ sourceId: id })
})

test('the key of a deleted source is unknown', async () => {
  const { id, writeKey } = await create('Deleted')
  expect(await findSource(writeKey)).not.toBeNull()
  const deleted = await tenant.call('DELETE', `/v1/sources/${id}`)
  expect(deleted.body).toEqual({ status: 'success', deleted: true, source_id: id, name: 'Deleted' })
  await expect.poll(() => findSource(writeKey)).toBeNull()
  expect((await tenant.call('DELETE', `/v1/sources/${id}`)).status).toBe(404)
  expect((await tenant.call('POST', `/v1/sources/${id}/rotate`)).status).toBe(404)
})

test("another tenant's source is unknown, and settings:read does not change one", async () => {
  const { id, writeKey } = await create('Private')
  const stranger = await createTestTenant(service)
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'Mine' }],
    ['POST', '/rotate'],
    ['DELETE', ''],
  ] as const) {
    expect((await stranger.call(method, `/v1/sources/${id}${path}`, body)).status).toBe(404)
  }
  expect((await stranger.call('GET', '/v1/sources')).body.sources).toEqual([])
  const reader = await tenant.keyWith('settings:read')
  expect((await tenant.call('GET', `/v1/sources/${id}`, undefined, reader)).status).toBe(200)
  const refused = await tenant.call('DELETE', `/v1/sources/${id}`, undefined, reader)
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
  expect(await findSource(writeKey)).toMatchObject({ sourceId: id })
})

test('a connector is listed from its first write, without a key', async () => {
  const owner = await createTestTenant(service)
  const push = (name: string) =>
    owner.call('POST', `/v1/sources/${name}/contacts`, { kind: 'email', records: [{ external_id: '1' }] })
  expect((await push('newsletter')).status).toBe(200)
  const [connector] = (await owner.call('GET', '/v1/sources')).body.sources
  expect(connector).toMatchObject({ name: 'newsletter', type: 'connector', kind: 'email', key_hint: null })
  expect(connector).toMatchObject({ events_last_day: null, last_seen_at: now.toISOString() })
  const path = `/v1/sources/${connector.source_id}`
  for (const response of [await owner.call('PATCH', path, { name: 'x' }), await owner.call('POST', `${path}/rotate`)]) {
    expect([response.status, response.body.error.code]).toEqual([409, 'source_is_connector'])
  }
  await create('backend', 'server', owner)
  const chat = { records: [EXAMPLE] }
  for (const pushed of [await push('backend'), await owner.call('POST', '/v1/sources/backend/conversations', chat)]) {
    expect([pushed.status, pushed.body.error.code]).toEqual([409, 'source_name_taken'])
  }
  // Only the list forgets it.
  expect((await owner.call('DELETE', path)).status).toBe(200)
  expect((await owner.call('GET', '/v1/contacts')).body.pagination.total_items).toBe(1)
})

test('a tenant has at most 200 sources with write keys', async () => {
  const full = await createTestTenant(service)
  const source = { tenant_id: full.id, type: 'server', kind: null, created_at: now, last_seen_at: null }
  const rows = Array.from({ length: 200 }, (_, n) => ({ ...source, source_id: crypto.randomUUID(), name: `s${n}` }))
  await service.stores.database.insertInto('sources').values(rows).execute()
  const response = await full.call('POST', '/v1/sources', { name: 'One more', type: 'server' })
  expect([response.status, response.body.error.code]).toEqual([409, 'too_many_sources'])
  const { sources, pagination } = (await full.call('GET', '/v1/sources?limit=100&page=2')).body
  expect([sources.length, pagination.total_items]).toEqual([100, 200])
})

test('a source shows when it was last seen and how much it sent in a day', async () => {
  const { id } = await create('Counted')
  const source = { tenantId: tenant.id, sourceId: id }
  const { database } = service.stores
  const count = async (events: number, of = source) => {
    const usage = startSourceUsage({ database, clock: () => now, log: service.log })
    usage.note(of, events)
    usage.note(of, events)
    await usage.stop()
  }
  await count(5)
  expect(await show(id)).toMatchObject({ events_last_day: 10, last_seen_at: now.toISOString() })
  const seen = now
  now = new Date(seen.getTime() + 2 * HOUR_MS)
  await count(1)
  await count(1, { tenantId: tenant.id, sourceId: crypto.randomUUID() })
  await count(1, { ...source, tenantId: (await createTestTenant(service)).id })
  expect(await show(id)).toMatchObject({ events_last_day: 12, last_seen_at: now.toISOString() })
  now = new Date(seen.getTime() + 25 * HOUR_MS)
  expect(await show(id)).toMatchObject({ events_last_day: 2 })
  now = new Date(seen.getTime() + 28 * HOUR_MS)
  await deleteOldOf(['source_hours'], database, now)
  expect(await tenant.handle.db.selectFrom('source_hours').select('events').execute()).toEqual([])
})
