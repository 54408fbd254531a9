import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD } from '../../../test/people.ts'
import { createTestTenant, startTestService, type TestService } from '../../../test/service.ts'
import { setupTokenOf } from '../../../test/setup-link.ts'
import { openSecretBox } from '../../platform/crypto/secret-key.ts'
import { systemClock } from '../../platform/time.ts'
import { createTenantUser } from '../users.ts'
import { prepareSignIn } from './start.ts'

let service: TestService

beforeAll(async () => {
  const limits = {
    CDS_RATE_LIMITS: 'on',
    CDS_TRUST_PROXY: '1',
    CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE: '8',
  }
  service = await startTestService(limits)
})
afterAll(() => service.close())

const OWNER = { name: 'Ada', email: 'Ada@Example.com', password: PASSWORD, tenant_name: 'Engines' }
const setUp = (setup_token: unknown, more: object = {}, address = '192.0.2.1') => {
  const browser = new Browser(service)
  const headers = { ...browser.ownSite, 'x-forwarded-for': address }
  const body = { ...OWNER, setup_token, ...more }
  return browser.call('POST', '/api/setup', body, headers).then((response) => ({ ...response, browser }))
}

test('setup is refused without the token', async () => {
  const token = await setupTokenOf(service)
  const without = await setUp(undefined)
  expect([without.status, without.body.error.code]).toEqual([400, 'validation_error'])
  for (const guess of ['x', `${token}x`, token.slice(1), token.toUpperCase()]) {
    const { status, body } = await setUp(guess)
    expect([status, body.error.code]).toEqual([403, 'setup_token_invalid'])
  }
  expect((await new Browser(service).call('GET', '/api/setup')).body.needed).toBe(true)
})

test('wrong tokens are limited by address', async () => {
  const statuses: number[] = []
  for (let guess = 0; guess < 10; guess++) statuses.push((await setUp('wrong', {}, '192.0.2.2')).status)
  expect(statuses).toEqual([...Array(8).fill(403), 429, 429])
})

test('the link is the same for every process and after a restart, and leads to the public address', async () => {
  const link = await service.findSetupLink()
  expect(link).toMatch(new RegExp(`^${service.url}/setup#token=[\\w-]{43}$`))
  const { stores, log } = service
  const config = { ...service.config, publicUrl: 'https://cdp.example.com/base' }
  const other = prepareSignIn({ config, stores, secrets: await openSecretBox(config), clock: systemClock, log })
  expect(await other.findSetupLink('http://localhost:1')).toBe(link?.replace(service.url, config.publicUrl))
})

test('the token works once: only one of several concurrent requests succeeds', async () => {
  const token = await setupTokenOf(service)
  const addresses = ['192.0.2.3', '192.0.2.4', '192.0.2.5']
  const responses = await Promise.all(
    addresses.map((address, index) => setUp(token, { email: `ada${index}@example.com` }, address)),
  )
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  const refused = responses.filter(({ status }) => status === 409)
  expect(refused.map(({ body }) => body.error.code)).toEqual(['setup_done', 'setup_done'])
  const winner = responses.find(({ status }) => status === 201)?.browser
  expect((await winner?.call('GET', '/api/me'))?.body).toMatchObject({
    user: { name: 'Ada' },
    tenant: { name: 'Engines' },
    role: 'owner',
  })
  expect((await winner?.call('GET', '/v1/audit-log'))?.body.entries).toMatchObject([
    { action: 'tenant.created', actor: { kind: 'user', name: 'Ada' } },
  ])
  const options = await new Browser(service).call('GET', '/api/sign-in-options')
  expect(options.body).toMatchObject({ setup_needed: false, oidc: null })
  const { database } = service.stores
  expect(await database.selectFrom('tenants').selectAll().execute()).toHaveLength(1)
  expect(await service.findSetupLink()).toBeNull()

  // Even if all users are removed later, the old link stays invalid.
  await database.deleteFrom('users').execute()
  expect((await setUp(token, {}, '192.0.2.6')).body.error.code).toBe('setup_token_invalid')
  expect(await setupTokenOf(service)).not.toBe(token)
})

test('creating a user on the command line invalidates the printed link', async () => {
  const token = await setupTokenOf(service)
  const { id } = await createTestTenant(service)
  await createTenantUser(service.stores, id, { ...OWNER, role: 'owner' }, { kind: 'command_line' }, new Date())
  expect((await setUp(token, {}, '192.0.2.7')).body.error.code).toBe('setup_done')
  expect(await service.findSetupLink()).toBeNull()
  expect(
    await service.stores.database.selectFrom('service_secrets').where('name', '=', 'setup').selectAll().execute(),
  ).toEqual([])
})
