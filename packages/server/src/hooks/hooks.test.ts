import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, ORDERS, order, send } from '../../test/hooks.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { DAY_MS } from '../platform/time.ts'

const SECRET = 'the-secret-of-the-sender'

let service: TestService
let tenant: TestTenant
let now = new Date()

beforeAll(async () => {
  service = await startTestService({ CDS_PUBLIC_URL: 'https://cds.example' }, { clock: () => now })
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

test('a hook is created, changed, listed and deleted; its token and secret are in no other response', async () => {
  const settings = {
    name: ' Shop (EU) ',
    kind: 'custom',
    signing_secret: SECRET,
    signature_header: 'X-Sig',
    mapping: ORDERS,
  }
  const { status, body: made } = await tenant.call('POST', '/v1/hooks', settings)
  expect([status, made.token]).toEqual([201, expect.stringMatching(/^hk_[A-Za-z0-9_-]{32}$/)])
  expect(made.url).toBe(`https://cds.example/v1/public/hooks/${made.token}`)
  expect(made.hook).toMatchObject({
    name: 'Shop (EU)', kind: 'custom', source: 'shop-eu', enabled: true, token_hint: made.token.slice(-4),
    has_signing_secret: true, signature_header: 'x-sig', mapping: ORDERS, kept_bodies: 0, last_body_at: null,
  }) // biome-ignore format: a list
  const path = `/v1/hooks/${made.hook.hook_id}`
  const mapping = { contact: { email: { path: 'email' } } }
  const changed = await tenant.call('PATCH', path, { name: 'Shop', mapping, enabled: false })
  expect(changed.body).toMatchObject({
    changed: ['name', 'mapping', 'enabled'],
    hook: { name: 'Shop', source: 'shop-eu', mapping },
  })
  expect((await tenant.call('PATCH', path, { name: 'Shop', mapping })).body.changed).toEqual([])
  const rotated = await tenant.call('POST', `${path}/rotate`)
  const { hooks, pagination } = (await tenant.call('GET', '/v1/hooks?limit=1')).body
  expect([hooks, pagination.total_items]).toEqual([[(await tenant.call('GET', path)).body.hook], 1])
  const rows = await tenant.handle.db.selectFrom('hooks').selectAll().execute()
  const log = (await tenant.call('GET', '/v1/audit-log')).body
  for (const hidden of [made.token, rotated.body.token, SECRET]) {
    expect(JSON.stringify([rows, hooks, log, changed.body])).not.toContain(hidden)
  }
  expect((await tenant.call('DELETE', path)).body).toMatchObject({ deleted: true, name: 'Shop' })
  expect((await tenant.call('GET', path)).status).toBe(404)
  const { entries } = (await tenant.call('GET', `/v1/audit-log?subject_id=${made.hook.hook_id}`)).body
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'hook.deleted', 'hook.token_rotated', 'hook.updated', 'hook.created',
  ]) // biome-ignore format: a list
  expect(entries[0]).toMatchObject({ subject_name: 'Shop', subject_exists: false })
})

test('the source has a name that no other source has', async () => {
  const create = (input: object) => tenant.call('POST', '/v1/hooks', { kind: 'custom', ...input })
  expect((await create({ name: 'Événements  été' })).body.hook.source).toBe('evenements-ete')
  expect((await create({ name: '予約' })).body.hook.source).toMatch(/^hook-[0-9a-f]{12}$/)
  expect((await create({ name: 'Manual' })).body.hook.source).toBe('hook-manual')
  expect((await create({ name: 'Événements été' })).body.error.code).toBe('source_name_taken')
  const named = await create({ name: 'Événements été', source: 'summer' })
  expect(named.body.hook.source).toBe('summer')
  await tenant.call('POST', '/v1/sources', { name: 'website', type: 'server' })
  expect((await create({ name: 'Website' })).body.error.code).toBe('source_name_taken')
  for (const source of ['manual', 'UPPER', '', 'x'.repeat(65)]) {
    expect([source, (await create({ name: 'X', source })).status]).toEqual([source, 400])
  }
  // A hook that is created again after it was deleted continues as the same source.
  await tenant.call('DELETE', `/v1/hooks/${named.body.hook.hook_id}`)
  expect((await create({ name: 'Again', source: 'summer' })).status).toBe(201)
})

test.each([
  [{ kind: 'custom' }, 'name'],
  [{ name: ' ', kind: 'custom' }, 'name'],
  [{ name: 'x'.repeat(201), kind: 'custom' }, 'name'],
  [{ name: 'X', kind: 'github' }, 'kind'],
  [{ name: 'X', kind: 'custom', signing_secret: 'short', signature_header: 'X-Sig' }, 'signing_secret'],
  [{ name: 'X', kind: 'custom', mapping: [] }, 'mapping'],
  [{ name: 'X', kind: 'custom', mapping: { other: {} } }, 'mapping.other'],
  [{ name: 'X', kind: 'custom', mapping: { event: {} } }, 'mapping.event.name'],
  [{ name: 'X', kind: 'custom', mapping: { event: { name: {} } } }, 'mapping.event.name'],
  [{ name: 'X', kind: 'custom', mapping: { event: { name: { path: 'a', value: 'b' } } } }, 'mapping.event.name'],
  [{ name: 'X', kind: 'custom', mapping: { event: { name: { path: 'a..b' } } } }, 'mapping.event.name.path'],
  [{ name: 'X', kind: 'custom', mapping: { contact: { email: { path: 'a[b]' } } } }, 'mapping.contact.email.path'],
  [{ name: 'X', kind: 'custom', mapping: { contact: { email: { path: ['a', 'b.'] } } } }, 'mapping.contact.email.path'],
  [{ name: 'X', kind: 'custom', mapping: { contact: { email: { path: [] } } } }, 'mapping.contact.email.path'],
  [
    { name: 'X', kind: 'custom', mapping: { contact: { email: { path: 'a.'.repeat(40).slice(0, -1) } } } },
    'mapping.contact.email.path',
  ],
  [
    { name: 'X', kind: 'custom', mapping: { contact: { properties: { email: { path: 'a' } } } } },
    'mapping.contact.properties.email',
  ],
  [
    { name: 'X', kind: 'custom', mapping: { contact: { properties: { ['x'.repeat(129)]: { path: 'a' } } } } },
    'mapping.contact.properties',
  ],
  [{ name: 'X', kind: 'custom', mapping: { company: { name: { path: 'a' } } } }, 'mapping.company.domain'],
  [{ name: 'X', kind: 'custom', mapping: { only_when: [{ path: 'a', equals: [] }] } }, 'mapping.only_when[0].equals'],
  [{ name: 'X', kind: 'custom', mapping: { only_when: [{ path: ']', equals: [1] }] } }, 'mapping.only_when[0].path'],
])('a hook cannot be created with %j', async (input, path) => {
  const response = await tenant.call('POST', '/v1/hooks', input)
  expect([response.status, response.body.error?.details?.[0]?.path]).toEqual([400, path])
})

test('a hook can be created off', async () => {
  const { status, body } = await tenant.call('POST', '/v1/hooks', { name: 'Later', kind: 'custom', enabled: false })
  expect([status, body.hook.enabled]).toEqual([201, false])
})

test('a tenant has at most 50 hooks', async () => {
  const own = await createTestTenant(service)
  const responses = []
  for (let number = 1; number <= 51; number++)
    responses.push(await own.call('POST', '/v1/hooks', { name: `Hook ${number}`, kind: 'custom' }))
  expect(responses.map(({ status }) => status)).toEqual([...Array(50).fill(201), 409])
  expect(responses[50]?.body.error.code).toBe('too_many_hooks')
})

describe('a rotated token', () => {
  test('works for another day', async () => {
    const hook = await createHook(tenant)
    const { body } = await tenant.call('POST', `${hook.path}/rotate`)
    expect(body.token).not.toBe(hook.token)
    expect(body.old_token_expires_at).toBe(new Date(now.getTime() + DAY_MS).toISOString())
    expect(body.hook.previous_token_until).toBe(body.old_token_expires_at)
    const fresh = { url: new URL(body.url).pathname }
    const statuses = async () => [(await send(service, hook, {})).status, (await send(service, fresh, {})).status]
    expect(await statuses()).toEqual([200, 200])
    const before = now
    now = new Date(now.getTime() + DAY_MS)
    expect(await statuses()).toEqual([404, 200])
    expect((await tenant.call('GET', hook.path)).body.hook.previous_token_until).toBeNull()
    now = before
  })

  test('is revoked at once on request, and so is the token of a deleted hook', async () => {
    const hook = await createHook(tenant)
    expect((await send(service, hook, {})).status).toBe(200)
    const { body } = await tenant.call('POST', `${hook.path}/rotate`, { revoke_old_url: true })
    expect((await send(service, hook, {})).status).toBe(404)
    const fresh = { url: new URL(body.url).pathname }
    expect((await send(service, fresh, {})).status).toBe(200)
    await tenant.call('DELETE', hook.path)
    expect((await send(service, fresh, {})).status).toBe(404)
  })
})

test('another tenant sees neither the hook nor its bodies, and the same body is its own event', async () => {
  const other = await createTestTenant(service)
  const hook = await createHook(tenant)
  const sent = await send(service, hook, order('1', 'both@example.com'))
  const theirs = await createHook(other)
  await send(service, theirs, order('1', 'both@example.com'))
  for (const [method, path] of [
    ['GET', hook.path],
    ['PATCH', hook.path],
    ['DELETE', hook.path],
    ['POST', `${hook.path}/rotate`],
    ['POST', `${hook.path}/preview`],
    ['GET', `${hook.path}/bodies`],
    ['GET', `${hook.path}/bodies/${sent.body.body_id}`],
    ['POST', `${hook.path}/bodies/${sent.body.body_id}/run`],
    ['GET', `${theirs.path}/bodies/${sent.body.body_id}`],
  ] as const) {
    expect([
      path,
      (await other.call(method, path, method === 'GET' || method === 'DELETE' ? undefined : {})).status,
    ]).toEqual([path, 404])
  }
  const listed = await other.call('GET', '/v1/events')
  expect([listed.body.events.length, (await bodiesOf(other, theirs)).length]).toEqual([1, 1])
})

describe('a preview', () => {
  test('shows what a mapping makes of a sample or of the newest body, and writes nothing', async () => {
    const own = await createTestTenant(service)
    const hook = await createHook(own, { mapping: {} })
    const preview = async (body: object) => (await own.call('POST', `${hook.path}/preview`, body)).body
    expect((await preview({ mapping: ORDERS })).error.code).toBe('hook_has_no_body')
    const { status: _status, ...shown } = await preview({
      mapping: ORDERS,
      sample: { ...order('9', ' Ada@Example.com '), at: 1_769_846_400 },
    })
    expect(shown).toEqual({
      state: 'recorded',
      error: null,
      event: { name: 'order_paid', timestamp: '2026-01-31T08:00:00.000Z', id: '9', url: null, data: { total: 49.9 } },
      contact: { email: 'ada@example.com', user_id: null, external_id: null, properties: { firstname: 'Ada' } },
      company: null,
    })
    await send(service, hook, order('10', 'newest@example.com'))
    expect((await preview({ mapping: ORDERS })).contact.email).toBe('newest@example.com')
    expect(await preview({})).toMatchObject({ state: 'skipped', error: { code: 'hook_not_mapped' } })
    const wrong = await preview({ mapping: ORDERS, sample: { type: 1, customer: { email: 2 } } })
    expect([wrong.state, wrong.error.details.map(({ path }: { path: string }) => path)]).toEqual([
      'failed',
      ['type', 'customer.email'],
    ])
    expect((await preview({ mapping: { event: { name: { path: '.' } } }, sample: {} })).error.code).toBe(
      'validation_error',
    )
    expect((await own.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(0)
    expect((await own.call('GET', '/v1/events')).body.events).toEqual([])
    expect((await own.call('GET', hook.path)).body.hook.mapping).toEqual({})
  })

  test.each([
    ['$', { a: 1 }],
    ['$.list[1]', 'two'],
    ['list[0]', 'one'],
    ['list[*]', 'one'],
    ['["a.b c"]["[x]"]', 'odd'],
    ['$["quo\\"ted"]', 'quoted'],
    ['people[*].email', 'b@example.com'],
    ['list.0', undefined],
    ['list.length', undefined],
    ['list[9]', undefined],
    ['blank', undefined],
    ['zero', 0],
    ['no', false],
  ])('the path %s', async (path, expected) => {
    const hook = await createHook(tenant, {
      mapping: {},
      name: `Paths ${path}`,
      source: `paths-${Math.random().toString(36).slice(2)}`,
    })
    const sample = {
      list: ['one', 'two'], 'a.b c': { '[x]': 'odd' }, 'quo"ted': 'quoted', people: [{ email: '' }, { email: 'b@example.com' }],
      blank: ' ', zero: 0, no: false,
    } // biome-ignore format: a list
    const mapping = { event: { name: { value: 'e' }, data: { found: { path } } }, contact: { user_id: { value: 'u' } } }
    const given = path === '$' ? { a: 1 } : sample
    const { body } = await tenant.call('POST', `${hook.path}/preview`, { mapping, sample: given })
    expect(body.event.data).toEqual(expected === undefined ? {} : { found: expected })
  })
})
