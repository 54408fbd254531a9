import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { everythingStored } from '../../test/everything.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createSecretBox, type SecretBox } from '../platform/crypto/secret-box.ts'
import { MINUTE_MS } from '../platform/time.ts'
import type { Actor } from './audit.ts'
import { listAudit } from './audit-list.ts'
import { performOnce } from './idempotency.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

let keys = 0
const newKey = () => `key-${++keys}`
const WEBHOOK = { event: 'page_view', url: 'https://hooks.example.com/' }

function post(path: string, key: string, body: unknown, apiKey = tenant.key) {
  const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': key }
  return call(service, 'POST', path, { headers, body: JSON.stringify(body) })
}
const webhooks = async () => (await tenant.call('GET', '/v1/webhooks')).body.pagination.total_items

test('a retry gets the same response, with the secret that is shown once, and changes nothing', async () => {
  const key = newKey()
  const first = await post('/v1/webhooks', key, WEBHOOK)
  const [before, audited] = [await webhooks(), await listAudit(tenant.handle, {}, { page: 1, limit: 1 })]
  const second = await post('/v1/webhooks', key, WEBHOOK)
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.body).toEqual(first.body)
  expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([null, 'true'])
  expect([await webhooks(), (await listAudit(tenant.handle, {}, { page: 1, limit: 1 })).total]).toEqual([
    before,
    audited.total,
  ])
  expect(await everythingStored(service)).not.toContain(first.body.signing_secret)
})

test('a retry gets the warnings of the response, its status and its ETag', async () => {
  const requests = [
    ['/v1/companies?unknown=1', { name: 'Warned' }],
    ['/v1/contacts', { email: 'etag@example.com' }],
  ] as const
  for (const [path, body] of requests) {
    const key = newKey()
    const [first, second] = [await post(path, key, body), await post(path, key, body)]
    expect([second.status, second.body]).toEqual([first.status, first.body])
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    if (path !== '/v1/contacts') expect(first.body.warnings).toHaveLength(1)
  }
})

test('the request cannot be guessed from its stored hash', async () => {
  const identity = await tenant.call('POST', '/v1/identities', { firstName: 'Ada', lastName: 'Byron', role: 'sales' })
  const path = `/v1/identities/${identity.body.identity.identity_id}/social/login`
  const body = { username: 'ada@example.com', password: 'correct horse' }
  const key = newKey()
  expect((await post(path, key, body)).status).toBe(200)
  const { request_hash } = await tenant.handle.db
    .selectFrom('idempotency_keys')
    .select('request_hash')
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  const plain = createHash('sha256')
    .update(`POST ${path}\n${JSON.stringify(body)}`)
    .digest('hex')
  expect(request_hash.toString('hex')).not.toBe(plain)
  expect((await post(path, key, body)).headers.get('idempotent-replayed')).toBe('true')
})

test('a key used for another request is 409', async () => {
  const key = newKey()
  const { body } = await post('/v1/webhooks', key, WEBHOOK)
  const before = await webhooks()
  const others = [
    ['/v1/webhooks', { ...WEBHOOK, event: 'click' }],
    [`/v1/webhooks/${body.subscription_id}/pause`, {}],
  ] as const
  for (const [path, sent] of others) {
    const response = await post(path, key, sent)
    expect([response.status, response.body.error.code]).toEqual([409, 'idempotency_key_reused'])
  }
  expect(await webhooks()).toBe(before)
})

test('each API key has its own Idempotency-Keys', async () => {
  const key = newKey()
  const first = await post('/v1/webhooks', key, WEBHOOK)
  const second = await post(
    '/v1/webhooks',
    key,
    WEBHOOK,
    await tenant.keyWith('webhooks:write', 'contacts:read', 'events:read'),
  )
  expect(second.body.subscription_id).not.toBe(first.body.subscription_id)
})

test('of many concurrent requests one is performed', async () => {
  const [key, before] = [newKey(), await webhooks()]
  const responses = await Promise.all(Array.from({ length: 8 }, () => post('/v1/webhooks', key, WEBHOOK)))
  const made = responses.filter(({ status }) => status === 201).map(({ body }) => body.subscription_id)
  expect(new Set(made).size).toBe(1)
  const refused = responses.filter(({ status }) => status !== 201)
  expect(refused.filter(({ body }) => body.error.code !== 'idempotency_key_in_use')).toEqual([])
  expect(await webhooks()).toBe(before + 1)
})

test('a failed request can be sent again, changed, with the same key', async () => {
  const key = newKey()
  expect((await post('/v1/webhooks', key, { ...WEBHOOK, url: 'http://hooks.example.com/' })).status).toBe(400)
  expect((await post('/v1/webhooks', key, WEBHOOK)).status).toBe(201)
})

test.each(['', 'the key %j is invalid', 'a b', 'ä', 'x'.repeat(256)])('the key %j is none', async (key) => {
  const response = await fetch(`${service.url}/v1/webhooks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key}`,
      'content-type': 'application/json',
      'idempotency-key': Buffer.from(key).toString('latin1'),
    },
    body: JSON.stringify(WEBHOOK),
  })
  expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
    400,
    'validation_error',
  ])
})

const actor: Actor = { kind: 'api_key', id: 'somebody', name: 'somebody' }
/** Performs `work` as the service would, at a given time. */
function performAt(now: Date, key: string, value: string, before = async () => {}) {
  return performOnce({ tenant: tenant.handle, actor, now, secrets: service.secrets }, { key, sent: '' }, (memory) =>
    tenant.handle.transaction(async (tx) => {
      await before()
      await memory.store(tx, { output: { value }, warnings: [] }, true)
      return { value }
    }),
  )
}
const after = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * MINUTE_MS)

test('a response is kept for a day', async () => {
  const key = newKey()
  await performAt(after(0), key, 'first')
  expect(await performAt(after(23 * 60), key, 'second')).toMatchObject({
    output: { value: 'first' },
    isRepeated: true,
  })
  expect(await performAt(after(24 * 60 + 1), key, 'third')).toMatchObject({
    output: { value: 'third' },
    isRepeated: false,
  })
})

test('a response that is not final counts once the first request must have ended', async () => {
  const key = newKey()
  const waiting = (now: Date, work: (finish: () => Promise<void>) => Promise<void>) =>
    performOnce({ tenant: tenant.handle, actor, now, secrets: service.secrets }, { key, sent: '' }, async (memory) => {
      await memory.store(tenant.handle, { output: { value: 'interim' }, warnings: ['said'] }, false)
      stored.resolve()
      await work(() => memory.finish({ output: { value: 'final' }, warnings: [] }))
      return { value: 'final' }
    })
  const ends = Promise.withResolvers<void>()
  const stored = Promise.withResolvers<void>()
  const first = waiting(after(0), (finish) => ends.promise.then(finish))
  await stored.promise
  expect(await performAt(after(3), key, 'next')).toEqual({
    output: { value: 'interim' },
    warnings: ['said'],
    isRepeated: true,
  })
  await expect(performAt(after(1), key, 'early')).rejects.toMatchObject({ code: 'idempotency_key_in_use' })
  ends.resolve()
  await first
  expect(await performAt(after(1), key, 'later')).toMatchObject({ output: { value: 'final' }, isRepeated: true })
})

/** Starts a request that determines a value and never gets a response. */
function interruptedAt(now: Date, request: { key: string; sent: string }, secrets: SecretBox, value: string) {
  const caller = { tenant: tenant.handle, actor, now, secrets }
  return performOnce(caller, request, async (memory) => {
    throw new Error(await memory.remember(async () => value))
  })
}

test('what a request determined counts for its retry after a rotation of the secret key', async () => {
  const request = { key: newKey(), sent: 'same' }
  const [before, next] = [randomBytes(32), randomBytes(32)]
  await expect(interruptedAt(after(0), request, createSecretBox([before]), 'first')).rejects.toThrow('first')
  await expect(interruptedAt(after(3), request, createSecretBox([next, before]), 'second')).rejects.toThrow('first')
})

test('the key of a request without a response is not free for another request', async () => {
  const key = newKey()
  await expect(interruptedAt(after(0), { key, sent: 'one' }, service.secrets, 'first')).rejects.toThrow('first')
  const other = interruptedAt(after(3), { key, sent: 'other' }, service.secrets, 'second')
  await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' })
})

test('a request whose process died releases its key, and cannot commit if it continues', async () => {
  const key = newKey()
  const late = performAt(after(0), key, 'late', async () => {
    await expect(performAt(after(1), key, 'early')).rejects.toMatchObject({ code: 'idempotency_key_in_use' })
    await performAt(after(3), key, 'next')
  })
  await expect(late).rejects.toMatchObject({ code: 'idempotency_key_in_use' })
  expect((await performAt(after(4), key, 'later')).output).toEqual({ value: 'next' })
})
