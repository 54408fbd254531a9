import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { createApiKey, revokeApiKey } from './api-keys.ts'

let service: TestService
let tenant: TestTenant
let now = new Date()

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

const statusWith = async (key: string) => (await tenant.call('GET', '/v1/contacts', undefined, key)).status

test('a key is accepted until it expires', async () => {
  const expiresAt = new Date(now.getTime() + 60_000)
  const key = { name: 'short', scopes: ['contacts:read'], expiresAt }
  const { apiKey } = await createApiKey(tenant.handle, key, now)
  expect(await statusWith(apiKey)).toBe(200)
  now = new Date(expiresAt.getTime() - 1)
  expect(await statusWith(apiKey)).toBe(200)
  now = expiresAt
  const response = await tenant.call('GET', '/v1/contacts', undefined, apiKey)
  expect([response.status, response.body.error.code]).toEqual([401, 'invalid_api_key'])
})

test('a key is shown once, and only its hash is stored', async () => {
  const key = { name: 'hashed', scopes: ['all'] }
  const { apiKey, keyId } = await createApiKey(tenant.handle, key, now)
  expect(apiKey).toMatch(/^cds_[A-Za-z0-9_-]{32,}$/)
  const row = await service.stores.database
    .selectFrom('api_keys')
    .selectAll()
    .where('key_id', '=', keyId)
    .executeTakeFirstOrThrow()
  expect(JSON.stringify(row)).not.toContain(apiKey)
  expect(row.key_hash.toString()).not.toContain(apiKey.slice(4))
})

test('its last use is stored', async () => {
  const key = { name: 'used', scopes: ['all'] }
  const { apiKey, keyId } = await createApiKey(tenant.handle, key, now)
  expect(await statusWith(apiKey)).toBe(200)
  const lastUse = async () => {
    const query = service.stores.database.selectFrom('api_keys').select('last_used_at').where('key_id', '=', keyId)
    return (await query.executeTakeFirst())?.last_used_at?.toISOString()
  }
  await expect.poll(lastUse).toBe(now.toISOString())
})

const ACTOR = { kind: 'service' } as const

test('a revoked key is refused at once, and another tenant cannot revoke it', async () => {
  const { apiKey, keyId } = await createApiKey(tenant.handle, { name: 'gone', scopes: ['all'] }, now)
  const stranger = await createTestTenant(service)
  await expect(revokeApiKey(stranger.handle, ACTOR, keyId, now)).rejects.toMatchObject({ code: 'not_found' })
  expect(await statusWith(apiKey)).toBe(200)
  await revokeApiKey(tenant.handle, ACTOR, keyId, now)
  await expect.poll(() => statusWith(apiKey)).toBe(401)
})
