import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const TIMESTAMP = expect.stringMatching(/^\d{4}-.*Z$/)

test("GET /v1/tenant returns the key's tenant", async () => {
  const { status, body } = await tenant.call('GET', '/v1/tenant')
  expect(status).toBe(200)
  expect(body).toEqual({
    status: 'success',
    tenant: {
      tenant_id: tenant.id,
      _id: tenant.id,
      name: 'Test',
      time_zone: 'UTC',
      require_signed_identification: false,
      identity_secret: null,
      personal_properties: [],
      visible_properties: [],
      ignored_ids: [],
      closed_at: null,
      deletes_at: null,
      created_at: TIMESTAMP,
    },
  })
})

test('PATCH /v1/tenant changes only the fields sent, and only of its own tenant', async () => {
  const other = await createTestTenant(service)
  const { status, body } = await tenant.call('PATCH', '/v1/tenant', { require_signed_identification: true })
  expect([status, body.tenant.require_signed_identification]).toEqual([200, true])
  await tenant.call('POST', '/v1/tenant/identity-secret')
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.require_signed_identification).toBe(true)
  expect((await other.call('GET', '/v1/tenant')).body.tenant).toMatchObject({
    require_signed_identification: false,
    identity_secret: null,
  })
  const off = await tenant.call('PATCH', '/v1/tenant', { require_signed_identification: false })
  expect(off.body.tenant).toMatchObject({
    require_signed_identification: false,
    identity_secret: { created_at: TIMESTAMP },
  })
})

test('PATCH /v1/tenant renames its own tenant, and the change is audited', async () => {
  const other = await createTestTenant(service)
  const { status, body } = await tenant.call('PATCH', '/v1/tenant', { name: '  Engines & Co. ' })
  expect([status, body.tenant.name]).toEqual([200, 'Engines & Co.'])
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.name).toBe('Engines & Co.')
  expect((await other.call('GET', '/v1/tenant')).body.tenant.name).not.toBe('Engines & Co.')
  const { body: log } = await tenant.call('GET', '/v1/audit-log?subject_kind=tenant')
  expect(log.entries[0]).toMatchObject({ action: 'tenant.updated', details: { name: 'Engines & Co.' } })
})

test('PATCH /v1/tenant sets the time zone, and refuses what is none', async () => {
  const set = (time_zone: unknown) => tenant.call('PATCH', '/v1/tenant', { time_zone })
  const { status, body } = await set('Asia/Kathmandu')
  expect([status, body.tenant.time_zone]).toEqual([200, 'Asia/Kathmandu'])
  for (const zone of ['Mars/Olympus', '+02:00', '', 'x'.repeat(65), 1]) {
    const refused = await set(zone)
    expect([zone, refused.status, refused.body.error?.details[0].path]).toEqual([zone, 400, 'time_zone'])
  }
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.time_zone).toBe('Asia/Kathmandu')
  const { entries } = (await tenant.call('GET', '/v1/audit-log?subject_kind=tenant')).body
  expect(entries[0].details).toEqual({ time_zone: 'Asia/Kathmandu' })
})

test('PATCH /v1/tenant replaces the words that count as no id, and the audit log says which were added and removed', async () => {
  const other = await createTestTenant(service)
  const set = async (words: unknown) => tenant.call('PATCH', '/v1/tenant', { ignored_ids: words })
  const first = await set([' Demo', 'demo', '"DEMO"', 'kiosk'])
  expect([first.status, first.body.tenant.ignored_ids]).toEqual([200, ['Demo', 'kiosk']])
  expect(first.body.ignored_ids).toEqual({ added: ['Demo', 'kiosk'], removed: [] })
  const second = await set(['kiosk', 'till'])
  expect(second.body.ignored_ids).toEqual({ added: ['till'], removed: ['Demo'] })
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.ignored_ids).toEqual(['kiosk', 'till'])
  expect((await other.call('GET', '/v1/tenant')).body.tenant.ignored_ids).toEqual([])
  const { entries } = (await tenant.call('GET', '/v1/audit-log?subject_kind=tenant')).body
  expect(entries[0].details).toEqual({ ignored_ids: { added: ['till'], removed: ['Demo'] } })
  await tenant.call('POST', '/v1/tenant/identity-secret')
  expect((await set([])).body.tenant).toMatchObject({ ignored_ids: [], identity_secret: { created_at: TIMESTAMP } })
})

test.each([
  ['a text', 'demo'],
  ['a blank word', ['demo', ' ']],
  ['a long word', ['x'.repeat(201)]],
  ['a number', [0]],
  ['too many words', Array.from({ length: 101 }, (_, index) => `word ${index}`)],
])('words that count as no id cannot be %s', async (_what, words) => {
  const { status, body } = await tenant.call('PATCH', '/v1/tenant', { ignored_ids: words })
  expect([status, body.error.code, body.error.details[0].path]).toEqual([
    400,
    'validation_error',
    expect.stringMatching(/^ignored_ids/),
  ])
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.ignored_ids).toEqual([])
})

test('only a key with settings:write changes the words that count as no id', async () => {
  const key = await tenant.keyWith('settings:read', 'contacts:write')
  const { status, body } = await tenant.call('PATCH', '/v1/tenant', { ignored_ids: ['demo'] }, key)
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
})

test('PATCH /v1/tenant replaces the personal properties, and the audit log says which were added and removed', async () => {
  const set = async (names: string[]) => tenant.call('PATCH', '/v1/tenant', { personal_properties: names })
  const first = await set(['Salary', ' shoe size ', 'shoe_size'])
  expect([first.status, first.body.tenant.personal_properties]).toEqual([200, ['Salary', 'shoe size']])
  expect(first.body.personal_properties).toEqual({ added: ['Salary', 'shoe size'], removed: [] })
  const { body } = await set(['shoe size', 'iq'])
  expect(body.personal_properties).toEqual({ added: ['iq'], removed: ['Salary'] })
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.personal_properties).toEqual(['shoe size', 'iq'])
  const { entries } = (await tenant.call('GET', '/v1/audit-log?subject_kind=tenant')).body
  expect(entries[0].details).toEqual({ personal_properties: { added: ['iq'], removed: ['Salary'] } })
  for (const names of [[''], [' '], ['x'.repeat(101)], Array(201).fill('x')])
    expect((await set(names)).status).toBe(400)
})

test.each(['see https://evil.example/now', 'two\nlines', '   '])('the name %j is refused', async (name) => {
  const { name: before } = (await tenant.call('GET', '/v1/tenant')).body.tenant
  const { status, body } = await tenant.call('PATCH', '/v1/tenant', { name })
  expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'invalid_name', 'name'])
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.name).toBe(before)
})

test('POST /v1/tenant/identity-secret returns the secret once, and when the previous one expires', async () => {
  const first = await tenant.call('POST', '/v1/tenant/identity-secret')
  expect(first.status).toBe(201)
  expect(first.body).toEqual({
    status: 'success',
    identity_secret: expect.stringMatching(/^cdsid_[\w-]{43}$/),
    previous_valid_until: null,
  })
  const second = await tenant.call('POST', '/v1/tenant/identity-secret')
  expect(second.body.identity_secret).not.toBe(first.body.identity_secret)
  expect(second.body.previous_valid_until).toEqual(TIMESTAMP)
  const { body } = await tenant.call('GET', '/v1/tenant')
  expect(body.tenant.identity_secret.previous_valid_until).toBe(second.body.previous_valid_until)
})

test.each([
  [{ require_signed_identification: 'yes' }, 'require_signed_identification'],
  [{ tenant_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071' }, 'tenant_id'],
])('%j is 400, and nothing is changed', async (body, path) => {
  const response = await tenant.call('PATCH', '/v1/tenant', body)
  expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  expect(response.body.error.details[0].path).toBe(path)
  expect((await tenant.call('GET', '/v1/tenant')).body.tenant.require_signed_identification).toBe(false)
})

test('reading needs settings:read, changing settings:write, and the identity secret also what it lets write', async () => {
  const [reader, writer] = [await tenant.keyWith('settings:read'), await tenant.keyWith('settings:write')]
  const statuses = async (key: string) => [
    (await tenant.call('GET', '/v1/tenant', undefined, key)).status,
    (await tenant.call('PATCH', '/v1/tenant', { require_signed_identification: false }, key)).status,
    (await tenant.call('POST', '/v1/tenant/identity-secret', undefined, key)).status,
  ]
  expect(await statuses(reader)).toEqual([200, 403, 403])
  expect(await statuses(writer)).toEqual([403, 200, 403])
  const trusted = await tenant.keyWith('settings:write', 'contacts:write', 'companies:write', 'events:write')
  expect(await statuses(trusted)).toEqual([403, 200, 201])
})
