import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHook, send } from '../../test/hooks.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { HOOK_BODY_BYTES_MAX } from './routes.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_HOOK_PER_MINUTE: '2',
    CDS_RATE_LIMIT_HOOK_PER_TENANT_PER_MINUTE: '3',
    CDS_RATE_LIMIT_INVALID_KEY_PER_IP_PER_MINUTE: '4',
  })
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

test('bodies are limited per minute, for a hook and for all hooks of a tenant; other tenants are not affected', async () => {
  const [first, second] = [await createHook(tenant), await createHook(tenant)]
  const statuses = async (hook: { url: string }, times: number) => {
    const responses = []
    for (let time = 0; time < times; time++) responses.push(await send(service, hook, {}))
    return responses.map(({ status }) => status)
  }
  expect(await statuses(first, 3)).toEqual([200, 200, 429])
  expect(await statuses(second, 2)).toEqual([200, 429])
  const refused = await send(service, second, {})
  expect([refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
    'rate_limited',
    expect.stringMatching(/^\d+$/),
  ])
  expect(await statuses(await createHook(await createTestTenant(service)), 1)).toEqual([200])
})

describe('a caller who knows the URL of a signed hook, but not its secret,', () => {
  const secret = 'the-secret-of-the-sender'
  const sign = (text: string, key = secret) => ({ 'x-sig': createHmac('sha256', key).update(text).digest('hex') })
  const signed = async () =>
    createHook(await createTestTenant(service), { signing_secret: secret, signature_header: 'X-Sig' })
  const statusOf = async (hook: { url: string }, text: string, headers: Record<string, string>) =>
    (await send(service, hook, text, headers)).status

  test('does not use up the limit of the sender, and is stopped', async () => {
    const hook = await signed()
    const wrong = [{}, sign('{}', 'another secret'), sign('{"other":1}')]
    for (const headers of wrong) expect(await statusOf(hook, '{}', headers)).toBe(401)
    for (const status of [200, 200, 429]) expect(await statusOf(hook, '{}', sign('{}'))).toBe(status)
    expect(await statusOf(hook, '{}', {})).toBe(401)
    const stopped = await send(service, hook, '{}', {})
    expect([stopped.status, stopped.body.error.message]).toEqual([
      429,
      expect.stringContaining('without a valid signature'),
    ])
    // Other hooks may have a sender at the same address.
    expect(await statusOf(await signed(), '{}', sign('{}'))).toBe(200)
  })

  test('is stopped too if the bodies are too large to be read', async () => {
    const hook = await signed()
    const text = JSON.stringify({ a: 'x'.repeat(HOOK_BODY_BYTES_MAX) })
    for (const status of [413, 413, 413, 413, 429]) expect(await statusOf(hook, text, sign(text))).toBe(status)
  })
})

// Last: new API keys of the same address are refused afterwards.
test('a caller who guesses tokens is stopped, and known tokens of the same address still work', async () => {
  const hook = await createHook(await createTestTenant(service))
  expect((await send(service, hook, {})).status).toBe(200)
  const guess = async (number: number) => (await send(service, { url: `/v1/public/hooks/hk_${number}` }, {})).status
  const statuses = []
  for (let number = 0; number < 5; number++) statuses.push(await guess(number))
  expect(statuses).toEqual([404, 404, 404, 404, 429])
  expect((await send(service, hook, {})).status).toBe(200)
})
