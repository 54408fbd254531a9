import { beforeAll, expect, test } from 'vitest'
import { bodiesOf, createHook, order, send } from '../../test/hooks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

test('what cannot be stored is left out of a body, and the rest of it is recorded', async () => {
  const hook = await createHook(tenant)
  const { customer, ...rest } = order('1', 'ada@example.com', { plan: 'pro' })
  const json = JSON.stringify({ ...rest, customer: { ...customer, name: 'a\0b' }, 'a\ud800': 1 })
  const sent = await send(service, hook, json.replace('{', `{"__proto__":{"admin":true},"deep":${DEEP},`))
  expect([sent.status, sent.body.state, sent.body.event]).toEqual([200, 'recorded', 'order_paid'])
  const character = 'it contains a NUL character, a lone surrogate or bytes that are not UTF-8, which cannot be stored.'
  const warnings = [
    '__proto__ was left out: it is a reserved name.',
    'deep was left out: it is nested deeper than 32 levels.',
    `customer.name was left out: ${character}`,
    `the body has a key that was left out: ${character}`,
  ]
  expect(sent.body.warnings).toEqual(warnings)
  const contact = await tenant.contactOf('ada@example.com')
  expect(contact.properties).toMatchObject({ plan: 'pro' })
  expect(contact.properties).not.toHaveProperty('firstname')
  // Whoever looks at the body later finds the reasons, too.
  const [body] = await bodiesOf(tenant, hook)
  expect(body.warnings).toEqual(warnings)
  const { body: got } = await tenant.call('GET', `${hook.path}/bodies/${body.body_id}`)
  expect([got.body.warnings, got.data]).toEqual([
    warnings,
    { type: 'order_paid', order: rest.order, customer: { email: 'ada@example.com', plan: 'pro' } },
  ])
})

test('a body without its person says why, and what was left out', async () => {
  const hook = await createHook(tenant)
  const sent = await send(service, hook, order('2', 'eve\0@example.com'))
  expect([sent.status, sent.body.state, sent.body.error.code]).toEqual([200, 'failed', 'hook_no_person'])
  expect(sent.body.warnings).toEqual([expect.stringMatching(/^customer\.email was left out/)])
  expect((await bodiesOf(tenant, hook))[0].warnings).toEqual(sent.body.warnings)
})

test('numbers keep their digits or are left out, with warnings', async () => {
  const hook = await createHook(tenant, {
    mapping: {
      event: { name: { path: 'type' }, data: { total: { path: 'total' }, ref: { path: 'ref' } } },
      contact: { email: { path: 'email' }, properties: { account: { path: 'account' } } },
    },
  })
  const sent = await send(
    service,
    hook,
    '{"type":"t","email":"num@example.com","total":1e400,"ref":-1234567890123456781,"account":1234567890123456782}',
  )
  expect(sent.body.warnings).toEqual([
    'total was left out: it is a number that is too large to be stored.',
    'ref was kept as text: as a number, it would lose digits.',
    'account was kept as text: as a number, it would lose digits.',
  ])
  const contact = await tenant.contactOf('num@example.com')
  expect(contact.properties.account).toBe('1234567890123456782')
  const { events } = (await tenant.call('GET', `/v1/events?contact_id=${contact.contact_id}`)).body
  expect(events).toMatchObject([{ event: 't', data: { ref: '-1234567890123456781' } }])
})

test('a form is treated alike', async () => {
  const hook = await createHook(tenant, {
    mapping: {
      contact: { email: { path: 'email' }, properties: { firstname: { path: 'name' }, city: { path: 'city' } } },
    },
  })
  const sent = await send(service, hook, 'email=form%40example.com&name=a%00b&city=Rome&__proto__=1', {
    'content-type': 'application/x-www-form-urlencoded',
  })
  expect([sent.status, sent.body.state]).toEqual([200, 'recorded'])
  expect(sent.body.warnings.map((text: string) => text.split(' ')[0])).toEqual(['name', '__proto__'])
  expect((await tenant.contactOf('form@example.com')).properties).toMatchObject({ city: 'Rome' })
})

test.each([[DEEP], ['["\\u0000"]'], ['{"a":"\\ud800"}'], ['{"a":{"b":{"__proto__":1}}}']])(
  'a body with nothing else is kept, with the reason: %#',
  async (text) => {
    const hook = await createHook(tenant)
    const sent = await send(service, hook, text)
    expect([sent.status, sent.body.state, sent.body.warnings.length]).toEqual([200, 'failed', 1])
    expect(await bodiesOf(tenant, hook)).toHaveLength(1)
  },
)
