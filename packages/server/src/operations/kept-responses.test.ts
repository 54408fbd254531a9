import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { exampleOf, fill, fillBody, oneOfEach } from '../../test/one-of-each.ts'
import {
  call,
  createTestTenant,
  startTestService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import type { Actor } from './audit.ts'
import { isReading, routeOf } from './declare.ts'
import { deleteOldIdempotencyKeys, eraseResponses, performOnce } from './idempotency.ts'
import type { Memory } from './perform.ts'

/** What the service keeps for retries is limited, and a request that it could not remember changes nothing. */

const KB = 1024
const MB = 1024 * KB
/** What a request reserves. */
const RESERVED = 16 * KB

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
  return () => service.close()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

function post(path: string, body: unknown, key: string | null = newId(), apiKey = tenant.key): Promise<TestResponse> {
  const headers = { authorization: `Bearer ${apiKey}`, ...(key === null ? {} : { 'idempotency-key': key }) }
  return call(service, 'POST', path, { headers, body: JSON.stringify(body) })
}

const rows = () => tenant.handle.db.selectFrom('idempotency_keys').select(['caller', 'bytes']).execute()

/** What is counted, by caller. */
async function usage(): Promise<Record<string, number>> {
  const counted = await tenant.handle.db.selectFrom('idempotency_usage').select(['caller', 'bytes']).execute()
  return Object.fromEntries(counted.map(({ caller, bytes }) => [caller, Number(bytes)]))
}

/** Takes room as kept responses would. */
async function take(caller: string, bytes: number, claimed_at = new Date()): Promise<void> {
  const row = { caller, key: newId(), request_hash: Buffer.alloc(32), claimed_at, response_sealed: 'x', bytes }
  await tenant.handle.db.insertInto('idempotency_keys').values(row).execute()
}

const actor = (id: string): Actor => ({ kind: 'api_key', id, name: id })

/** Performs a request once. `work` counts how often it was done. */
function perform(caller: string, key: string, work: (memory: Memory) => Promise<{ value: string }>, now = new Date()) {
  return performOnce(
    { tenant: tenant.handle, actor: actor(caller), now, secrets: service.secrets },
    { key, sent: '' },
    work,
  )
}

/** Stores a response of this size in its transaction. */
const storing = (size: number) => (memory: Memory) =>
  tenant.handle.transaction(async (tx) => {
    const value = 'x'.repeat(size)
    await memory.store(tx, { output: { value }, warnings: [] }, true)
    return { value }
  })

/** The sums must be those of the rows. */
async function expectExact(): Promise<void> {
  const expected: Record<string, number> = {}
  for (const { caller, bytes } of await rows()) {
    for (const counted of ['', caller]) expected[counted] = (expected[counted] ?? 0) + bytes
  }
  const counted = Object.entries(await usage()).filter(([, bytes]) => bytes !== 0)
  expect(Object.fromEntries(counted)).toEqual(expected)
}

test('an Idempotency-Key on a POST that only reads is accepted, and nothing is stored', async () => {
  const ids = await oneOfEach(service, tenant, 'kept')
  const reading = OPERATIONS.filter((operation) => routeOf(operation).method === 'POST' && isReading(operation))
  expect(reading.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['aggregate', 'batchDetails', 'batchActivity', 'previewSegment', 'previewHook']),
  )
  const key = newId()
  for (const operation of reading) {
    const body = JSON.parse(fillBody(exampleOf(operation), ids))
    // The same key with other bodies: nothing is claimed either.
    for (let repeated = 0; repeated < 2; repeated++) {
      const { status, headers } = await post(fill(routeOf(operation).url, ids), body, key)
      expect([operation.name, status, headers.get('idempotent-replayed')]).toEqual([operation.name, 200, null])
    }
  }
  expect(await rows()).toEqual([])
  const malformed = await post('/v1/aggregate', {}, 'a b')
  expect([malformed.status, malformed.body.error.code]).toEqual([400, 'validation_error'])
})

test('no POST that is no operation stores anything, but the upload of an import', async () => {
  const declared = new Set<string>(OPERATIONS.map(({ http }) => http))
  const posts = service.app.accessOfRoutes.filter(
    ({ method, url }) => method === 'POST' && !declared.has(`POST ${url}`),
  )
  const others = posts.filter(({ url }) => url !== '/v1/imports').map(({ url }) => url.replace(/:\w+/g, 'x'))
  expect(others).toEqual(expect.arrayContaining(['/v1/public/form-submission/x/x', '/v1/batch', '/mcp']))
  for (const url of others) await post(url, { writeKey: 'wrong', email: 'a@example.com' })
  expect(await rows()).toEqual([])
})

describe('beyond the room of', () => {
  test('a caller, a request is refused before it changes anything; others and requests without a key are not', async () => {
    const caller = `api_key:${(await tenant.call('GET', '/v1/api-keys')).body.keys[0].key_id}`
    await take(caller, 16 * MB - RESERVED + 1)
    const count = async () => (await tenant.call('GET', '/v1/companies?count_only=true')).body.count
    const key = newId()
    const refused = await post('/v1/companies', { name: 'One' }, key)
    expect([refused.status, refused.body.error?.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'idempotency_storage_full',
      '3600',
    ])
    expect(await count()).toBe(0)
    expect((await post('/v1/companies', { name: 'One' }, null)).status).toBe(201)
    const other = await tenant.keyWith('companies:write')
    expect((await post('/v1/companies', { name: 'Two' }, newId(), other)).status).toBe(201)
    await expectExact()
    // The key is free, so that it can be used once there is room.
    await tenant.handle.db.deleteFrom('idempotency_keys').where('caller', '=', caller).execute()
    expect((await post('/v1/companies', { name: 'Three' }, key)).status).toBe(201)
    expect(await count()).toBe(3)
  })

  test('the tenant, every caller is refused, but a retry still gets its response', async () => {
    const key = newId()
    expect((await post('/v1/companies', { name: 'One' }, key)).status).toBe(201)
    const taken = (await usage())[''] ?? 0
    for (const caller of ['a', 'b', 'c']) await take(caller, 16 * MB)
    await take('d', 16 * MB - taken)
    const other = await tenant.keyWith('companies:write')
    for (const apiKey of [tenant.key, other]) {
      expect((await post('/v1/companies', { name: 'Two' }, newId(), apiKey)).status).toBe(429)
    }
    const repeated = await post('/v1/companies', { name: 'One' }, key)
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    const stranger = await createTestTenant(service)
    expect((await post('/v1/companies', { name: 'Two' }, newId(), stranger.key)).status).toBe(201)
  })

  test('a caller, of many requests at once exactly those that fit are performed', async () => {
    await take('api_key:many', 16 * MB - 3 * RESERVED)
    const started = Promise.withResolvers<void>()
    let performed = 0
    let refused = 0
    const requests = Array.from({ length: 12 }, () =>
      perform('many', newId(), async (memory) => {
        performed++
        await started.promise
        return storing(10)(memory)
      }).catch(({ code }: { code: string }) => {
        refused++
        return code
      }),
    )
    await expect.poll(() => refused).toBe(9)
    expect((await usage())['api_key:many']).toBe(16 * MB)
    started.resolve()
    const results = await Promise.all(requests)
    expect(performed).toBe(3)
    expect(results.filter((result) => result === 'idempotency_storage_full')).toHaveLength(9)
    await expectExact()
  })

  test('a caller, rows are refused too, however tiny they are: each counts at least 256 bytes', async () => {
    const tiny = (key: string) => perform('tiny', key, storing(0))
    await tiny('a')
    const [{ bytes } = { bytes: 0 }] = await rows()
    expect(bytes).toBeGreaterThanOrEqual(256)
    // Room for what the last of five reserves, and for four before it.
    await take('api_key:tiny', 16 * MB - bytes - 4 * bytes - RESERVED)
    for (const key of 'bcdef') await tiny(key)
    await expect(tiny('g')).rejects.toMatchObject({ status: 429, code: 'idempotency_storage_full' })
    await expectExact()
    // So a caller has at most 65,536 rows, and a tenant 262,144. The database refuses others.
    await expect(take('api_key:other', 255)).rejects.toMatchObject({ constraint: 'idempotency_keys_bytes_min' })
  })

  test('a caller, what a request must remember refuses it before it changes anything', async () => {
    await take('api_key:reader', 16 * MB - RESERVED)
    const key = newId()
    let changed = 0
    const request = perform('reader', key, async (memory) => {
      await memory.remember(async () => 'ids')
      changed++
      return { value: '' }
    })
    await expect(request).rejects.toMatchObject({ status: 429, code: 'idempotency_storage_full' })
    expect(changed).toBe(0)
    await expectExact()
  })
})

describe('a response', () => {
  test.each([
    ['is kept whole if there is room', 100 * KB, 0, true],
    ['is not kept if there is no room for it', 100 * KB, 16 * MB - 64 * KB, false],
    ['is not kept if it is too large', 300 * KB, 0, false],
  ])('%s, and its request is never performed twice', async (_what, size, taken, isKept) => {
    if (taken > 0) await take('api_key:large', taken)
    const key = newId()
    let performed = 0
    const request = () =>
      perform('large', key, (memory) => {
        performed++
        return storing(size)(memory)
      })
    expect((await request()).output.value).toHaveLength(size)
    await expectExact()
    if (isKept) expect(await request()).toMatchObject({ isRepeated: true, output: { value: 'x'.repeat(size) } })
    else await expect(request()).rejects.toMatchObject({ status: 409, code: 'idempotency_response_not_kept' })
    expect(performed).toBe(1)
    expect((await usage())['api_key:large']).toBeLessThanOrEqual(16 * MB)
  })

  test('that replaces a first one is counted instead of it, kept or not', async () => {
    for (const size of [10, 50 * KB, 300 * KB]) {
      const key = newId()
      const request = perform('two', key, async (memory) => {
        await memory.store(tenant.handle, { output: { value: 'interim' }, warnings: [] }, false)
        await memory.finish({ output: { value: 'x'.repeat(size) }, warnings: [] })
        return { value: '' }
      })
      await request
      await expectExact()
      const again = perform('two', key, storing(1))
      if (size < 256 * KB) expect((await again).output.value).toHaveLength(size)
      else await expect(again).rejects.toMatchObject({ code: 'idempotency_response_not_kept' })
    }
  })

  test('that ends after its row was erased, without room, still says that the request was performed', async () => {
    const key = newId()
    await perform('erased', key, async (memory) => {
      await memory.store(tenant.handle, { output: { value: 'interim' }, warnings: [] }, false)
      await tenant.handle.transaction(eraseResponses)
      await take('api_key:erased', 16 * MB)
      await memory.finish({ output: { value: 'done' }, warnings: [] })
      return { value: '' }
    })
    await expect(perform('erased', key, storing(1))).rejects.toMatchObject({ code: 'idempotency_response_not_kept' })
    await expectExact()
  })
})

test('the sums shrink when requests fail, when rows expire and when they are erased', async () => {
  const failing = perform('shrinks', newId(), async () => {
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  expect(await rows()).toEqual([])
  const interrupted = perform('shrinks', newId(), async (memory) => {
    await memory.remember(async () => 'x'.repeat(2 * KB))
    throw new Error('interrupted')
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  expect((await usage())['']).toBeLessThan(RESERVED)
  await take('api_key:old', 5 * MB, new Date(Date.now() - 2 * DAY_MS))
  await take('api_key:new', 3 * MB)
  await expectExact()
  await deleteOldIdempotencyKeys(service.stores.database, new Date())
  await expectExact()
  expect(Object.keys(await usage())).not.toContain('api_key:old')
  await tenant.handle.transaction(eraseResponses)
  await expectExact()
  await service.stores.database.deleteFrom('tenants').where('tenant_id', '=', tenant.id).execute()
  expect(await usage()).toEqual({})
})

test('requests of many callers at once leave exact sums', async () => {
  const requests = Array.from({ length: 60 }, (_, n) =>
    perform(`caller${n % 5}`, newId(), n % 7 === 0 ? storing(40 * KB) : storing(n * 10)),
  )
  const [erased, ...results] = await Promise.allSettled([tenant.handle.transaction(eraseResponses), ...requests])
  expect([erased, ...results].map(({ status }) => status)).toEqual(Array(61).fill('fulfilled'))
  await expectExact()
})
