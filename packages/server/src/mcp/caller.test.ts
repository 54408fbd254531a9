import { afterAll, beforeAll, expect, test } from 'vitest'
import { register, sendForm, startOAuthService, WHO, whoCalls } from '../../test/oauth.ts'
import { signedIn } from '../../test/people.ts'
import { call, createTestTenant, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startOAuthService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_INVALID_KEY_PER_IP_PER_MINUTE: '3',
    CDS_RATE_LIMIT_API_PER_MINUTE: '5',
    CDS_RATE_LIMIT_REGISTRATION_PER_IP_PER_MINUTE: '2',
  })
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

test('a key calls as itself, and hides personal data unless it was created otherwise', async () => {
  const { body: made } = await tenant.call('POST', '/v1/api-keys', {
    name: 'Agent',
    scopes: ['contacts:read'],
    redact_personal_data: false,
  })
  const hiding = await whoCalls(service, tenant.key)
  expect(hiding.body).toMatchObject({ tenant_id: tenant.id, redacts: true })
  const open = await whoCalls(service, made.api_key)
  expect(open.body).toEqual({
    tenant_id: tenant.id,
    actor: { kind: 'api_key', id: made.key_id, name: 'Agent' },
    scopes: ['contacts:read'],
    tools: ['all'],
    redacts: false,
    caller_id: made.key_id,
  })
  expect(open.headers.get('ratelimit-limit')).toBe('5')
  const { body } = await tenant.call('GET', '/v1/api-keys')
  const shown = body.keys.map((key: Record<string, unknown>) => [key.name, key.redact_personal_data])
  expect(shown).toEqual(
    expect.arrayContaining([
      ['Agent', false],
      ['all', true],
    ]),
  )
})

test('a call without a token, or with only a cookie, is directed to the sign-in', async () => {
  const { publicUrl } = service.config
  const browser = await signedIn(service, tenant.id, 'owner')
  const metadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`
  for (const { status, headers, body } of [await call(service, 'GET', WHO), await browser.call('GET', WHO)]) {
    expect([status, body.error.code]).toEqual([401, 'missing_token'])
    expect(headers.get('www-authenticate')).toMatch(`Bearer ${metadata}, scope="contacts:read `)
  }
})

test('a caller has the limit of a key', async () => {
  const key = await tenant.keyWith('contacts:read')
  for (let count = 0; count < 5; count++) expect((await whoCalls(service, key)).status).toBe(200)
  const { status, headers } = await whoCalls(service, key)
  expect([status, headers.get('retry-after')]).toEqual([429, expect.any(String)])
})

test('invalid tokens count, and then only tokens that have worked are looked up', async () => {
  const known = await tenant.keyWith('contacts:read')
  expect((await whoCalls(service, known)).status).toBe(200)
  for (const text of ['cds_wrong', 'cdsa_wrong', 'cdsa_x y']) {
    const { status, headers, body } = await whoCalls(service, text)
    expect([status, body.error.code]).toEqual([401, 'invalid_token'])
    expect(headers.get('www-authenticate')).toMatch(/error="invalid_token"$/)
  }
  expect((await whoCalls(service, 'cdsa_other')).status).toBe(429)
  expect((await whoCalls(service, known)).status).toBe(200)
})

test('registrations and wrong codes are limited by address', async () => {
  const registrations = [await register(service), await register(service), await register(service)]
  expect(registrations.map(({ status }) => status)).toEqual([201, 201, 429])
  expect(registrations[2]?.headers.get('retry-after')).toEqual(expect.any(String))
  expect(registrations[2]?.body.error).toBe('temporarily_unavailable')
  const attempt = () => sendForm(service, '/oauth/token', { grant_type: 'authorization_code', code: 'cdsc_wrong' })
  for (let count = 0; count < 3; count++) expect((await attempt()).body.error).toBe('invalid_grant')
  expect((await attempt()).status).toBe(429)
})
