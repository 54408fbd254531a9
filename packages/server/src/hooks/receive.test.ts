import { beforeAll, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, ORDERS, order, send } from '../../test/hooks.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { HOOK_BODY_BYTES_MAX } from './routes.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const eventsOf = async (email: string, of = tenant) => {
  const { body } = await of.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
  const [contact] = body.contacts
  if (!contact) return { contact: undefined, events: [] }
  const listed = await of.call('GET', `/v1/events?contact_id=${contact.contact_id}`)
  return { contact, events: listed.body.events }
}

test('a body becomes an event, and a contact that its source wrote', async () => {
  const hook = await createHook(tenant, { name: 'Shop orders' })
  const sent = await send(service, hook, { ...order('1', 'ada@example.com'), at: '2026-01-31T08:00:00+01:00' })
  expect([sent.status, sent.body]).toEqual([
    200,
    { status: 'success', body_id: expect.any(String), state: 'recorded', error: null, event: 'order_paid' },
  ])
  const { contact, events } = await eventsOf('ada@example.com')
  expect(contact).toMatchObject({ properties: { firstname: 'Ada' }, creation_source: 'shop-orders' })
  expect(events).toMatchObject([
    { event: 'order_paid', timestamp: '2026-01-31T07:00:00.000Z', data: { total: 49.9 }, is_bot: false },
  ])
  const shown = (await tenant.call('GET', `/v1/contacts/${contact.contact_id}?include=provenance`)).body
  expect(JSON.stringify(shown)).toContain('"source":"shop-orders"')
  const { sources } = (await tenant.call('GET', '/v1/sources')).body
  expect(sources).toContainEqual(expect.objectContaining({ name: 'shop-orders', type: 'connector', kind: 'crm' }))
  const [body] = await bodiesOf(tenant, hook)
  expect(body).toMatchObject({
    body_id: sent.body.body_id,
    state: 'recorded',
    event: 'order_paid',
    event_id: events[0].event_id,
    contact_id: contact.contact_id,
    contact_status: 'created',
    company_id: null,
    error: null,
  })
  const { body: got } = await tenant.call('GET', `${hook.path}/bodies/${body.body_id}`)
  expect(got.data).toMatchObject(order('1', 'ada@example.com'))
  expect((await tenant.call('GET', hook.path)).body.hook).toMatchObject({ kept_bodies: 1, failed_bodies: 0 })
})

test('the same event is recorded once, even if its sender changes the rest of the body', async () => {
  const hook = await createHook(tenant)
  for (const plan of ['free', 'pro']) await send(service, hook, order('7', 'grace@example.com', { plan }))
  await Promise.all([1, 2, 3].map(() => send(service, hook, order('8', 'grace@example.com'))))
  const { contact, events } = await eventsOf('grace@example.com')
  expect(events).toHaveLength(2)
  expect(contact.properties).toMatchObject({ plan: 'pro' })
  const bodies = await bodiesOf(tenant, hook)
  expect(bodies.map(({ state }: { state: string }) => state)).toEqual(Array(5).fill('recorded'))
  expect(new Set(bodies.map(({ event_id }: { event_id: string }) => event_id)).size).toBe(2)
})

test('without an id, each body has its own event', async () => {
  const { id: _id, ...event } = ORDERS.event
  const hook = await createHook(tenant, { mapping: { ...ORDERS, event } })
  for (const _ of [1, 2]) await send(service, hook, order('1', 'twice@example.com'))
  expect((await eventsOf('twice@example.com')).events).toHaveLength(2)
})

test('a form is a body too; a name that occurs twice has a list', async () => {
  const mapping = {
    event: { name: { value: 'form' }, data: { tags: { path: 'tag' } } },
    contact: { email: { path: 'email' }, properties: { firstname: { path: '["first name"]' } } },
  }
  const hook = await createHook(tenant, { mapping })
  const sent = await send(service, hook, 'email=form%40example.com&first+name=Ada&tag=a&tag=b', {
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
  })
  expect([sent.status, sent.body.state]).toEqual([200, 'recorded'])
  const { contact, events } = await eventsOf('form@example.com')
  expect([contact.properties.firstname, events[0].data]).toEqual(['Ada', { tags: ['a', 'b'] }])
})

test('a list is a body, and JSON may have any content type', async () => {
  const mapping = { contact: { email: { path: '[*].email' } } }
  const hook = await createHook(tenant, { mapping })
  const body = JSON.stringify([{ name: 'nobody' }, { email: 'listed@example.com' }])
  const sent = await send(service, hook, body, { 'content-type': 'text/plain' })
  expect([sent.status, sent.body.state]).toEqual([200, 'recorded'])
  expect((await eventsOf('listed@example.com')).contact).toBeDefined()
})

describe('the company of a body', () => {
  const mapping = {
    contact: { email: { path: 'email' } },
    company: { domain: { path: 'site' }, name: { path: 'company' }, properties: { industry: { path: 'industry' } } },
  }

  test('is created, changed, and linked to a contact without one', async () => {
    const hook = await createHook(tenant, { mapping })
    const site = 'https://www.analytical.example/about'
    await send(service, hook, { email: 'c1@example.com', site, company: 'Analytical', industry: 'Machines' })
    await send(service, hook, { email: 'c1@example.com', site: 'other.example' })
    await send(service, hook, { email: 'c2@example.com', site, company: 'Analytical Engines' })
    const { contact } = await eventsOf('c1@example.com')
    const { company } = (await tenant.call('GET', `/v1/companies/${contact.company_id}`)).body
    expect(company).toMatchObject({
      domain: 'analytical.example',
      name: 'Analytical Engines',
      properties: { industry: 'Machines' },
    })
    expect((await eventsOf('c2@example.com')).contact.company_id).toBe(contact.company_id)
    const [, other] = await bodiesOf(tenant, hook)
    expect([other.state, other.company_id]).toEqual(['recorded', expect.any(String)])
  })

  test('may come alone, and is left out without a domain', async () => {
    const hook = await createHook(tenant, { mapping: { company: mapping.company } })
    expect((await send(service, hook, { site: 'alone.example' })).body.state).toBe('recorded')
    const { body } = await tenant.call('GET', '/v1/companies?search=alone.example')
    expect(body.companies).toHaveLength(1)
    const both = await createHook(tenant, { mapping })
    expect((await send(service, both, { email: 'c3@example.com', company: 'X' })).body.state).toBe('recorded')
    expect((await eventsOf('c3@example.com')).contact.company_id).toBeNull()
  })
})

describe('the person of a body', () => {
  const mapping = {
    event: { name: { value: 'e' } },
    contact: {
      email: { path: 'email' },
      user_id: { path: 'user' },
      external_id: { path: 'customer' },
      properties: { plan: { path: 'plan' } },
    },
  }

  test("is found by the tenant's own id, which creates a contact", async () => {
    const hook = await createHook(tenant, { mapping })
    await send(service, hook, { user: 42, plan: 'free' })
    await send(service, hook, { user: 42, email: 'user42@example.com', customer: 'c-42', plan: 'pro' })
    await send(service, hook, { customer: 'c-42', plan: 'max' })
    const [third, second, first] = await bodiesOf(tenant, hook)
    expect([first, second, third].map(({ contact_status }) => contact_status)).toEqual([
      'created',
      'updated',
      'updated',
    ])
    expect(new Set([first, second, third].map(({ contact_id }) => contact_id)).size).toBe(1)
    const { contact, events } = await eventsOf('user42@example.com')
    expect(contact).toMatchObject({ contact_id: first.contact_id, properties: { plan: 'max' } })
    expect(events).toHaveLength(3)
  })

  test("is not created by the sender's id alone, but is found by it once it came with an email", async () => {
    const hook = await createHook(tenant, { mapping })
    const early = await send(service, hook, { customer: 'c-7', plan: 'pro' })
    expect([early.status, early.body.state, early.body.error.code]).toEqual([200, 'failed', 'hook_no_person'])
    await send(service, hook, { customer: 'c-7', email: 'seven@example.com' })
    const again = await tenant.call('POST', `${hook.path}/bodies/${early.body.body_id}/run`)
    expect([again.status, again.body.body.state, again.body.body.error]).toEqual([200, 'recorded', null])
    const { contact, events } = await eventsOf('seven@example.com')
    expect([contact.properties.plan, events.length]).toEqual(['pro', 2])
  })

  test('is missing: the body is kept with the reason', async () => {
    const hook = await createHook(tenant, { mapping })
    const sent = await send(service, hook, { email: '  ', user: null })
    expect([sent.status, sent.body.error.code]).toEqual([200, 'hook_no_person'])
    expect(sent.body.error.message).toContain('email, user, customer')
  })
})

describe('a body that the mapping cannot use', () => {
  test.each([
    [{ type: 5, customer: { email: 'a@example.com' } }, 'type: must be a text for event.name, but is a number'],
    [{ customer: { email: 'a@example.com' } }, 'type: is missing'],
    [{ type: 'x', customer: { email: 'nobody' } }, 'customer.email: is not a valid email address'],
    [
      { type: 'x', customer: { email: ['a@example.com'] } },
      'customer.email: must be a text for contact.email, but is a list',
    ],
    [{ type: 'x', at: 'soon', customer: { email: 'a@example.com' } }, 'at: must be an ISO 8601 timestamp'],
    [{ type: 'x', at: 1, customer: { email: 'a@example.com' } }, 'at: is a time before the year 2000'],
    [
      { type: 'x', order: { id: { n: 1 } }, customer: { email: 'a@example.com' } },
      'order.id: must be a text or a number',
    ],
    [{ type: 'x'.repeat(201), customer: { email: 'a@example.com' } }, 'type: has more than 200 characters'],
    [{ type: 'x', customer: { email: 'a@example.com', plan: { deep: 1 } } }, 'customer.plan: must be a string'],
    [
      { type: 'x', order: { total: 'x'.repeat(33_000) }, customer: { email: 'a@example.com' } },
      'event.data: has more than 32768',
    ],
  ])('%# returns 200 with the path and the reason', async (body, message) => {
    const own = await createTestTenant(service)
    const hook = await createHook(own)
    const sent = await send(service, hook, body)
    expect([sent.status, sent.body.state, sent.body.error.code]).toEqual([200, 'failed', 'hook_body_not_mapped'])
    expect(sent.body.error.message).toContain(message)
    expect(await bodiesOf(own, hook)).toMatchObject([{ state: 'failed', error: sent.body.error, contact_id: null }])
    // Nothing of it was written.
    expect((await own.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(0)
    expect((await own.call('GET', hook.path)).body.hook.failed_bodies).toBe(1)
  })
})

test('conditions leave bodies out, and a hook without a mapping keeps them', async () => {
  const only_when = [
    { path: 'type', equals: ['order_paid', 'order_refunded'] },
    { path: 'live', equals: [true] },
  ]
  const hook = await createHook(tenant, { mapping: { ...ORDERS, only_when } })
  for (const [more, state] of [
    [{ live: true }, 'recorded'],
    [{ live: false }, 'skipped'],
    [{ live: true, type: 'other' }, 'skipped'],
    [{}, 'skipped'],
  ] as const) {
    const sent = await send(service, hook, { ...order('c', 'when@example.com'), ...more })
    expect([sent.status, sent.body.state]).toEqual([200, state])
  }
  const empty = await createHook(tenant, { mapping: {} })
  const sent = await send(service, empty, order('1', 'when@example.com'))
  expect([sent.body.state, sent.body.error.code]).toEqual(['skipped', 'hook_not_mapped'])
})

test.each(['seconds', 'milliseconds', 'text'])('a timestamp in %s since 1970 counts', async (unit) => {
  const hook = await createHook(tenant)
  const at = { seconds: 1_769_846_400, milliseconds: 1_769_846_400_000, text: '1769846400' }[unit]
  const email = `${unit}@example.com`
  await send(service, hook, { ...order(unit, email), at })
  expect((await eventsOf(email)).events[0].timestamp).toBe('2026-01-31T08:00:00.000Z')
})

describe('what is refused', () => {
  test.each([
    ['{', 400, 'invalid_json'],
    ['', 400, 'invalid_json'],
    ['"text"', 400, 'validation_error'],
    ['null', 400, 'validation_error'],
    ['7', 400, 'validation_error'],
    [JSON.stringify({ a: 'x'.repeat(HOOK_BODY_BYTES_MAX) }), 413, 'body_too_large'],
    [JSON.stringify({ a: 'x'.repeat(10_000_000) }), 413, 'body_too_large'],
  ])('%#', async (body, status, code) => {
    const hook = await createHook(await createTestTenant(service), {})
    const response = await send(service, hook, body)
    expect([response.status, response.body.error.code]).toEqual([status, code])
  })

  test('bytes that are not UTF-8, and forms with too many or no fields', async () => {
    const hook = await createHook(tenant)
    const bytes = await call(service, 'POST', hook.url, { body: new Uint8Array([0x7b, 0xff, 0x7d]) })
    expect([bytes.status, bytes.body.error.code]).toEqual([400, 'invalid_json'])
    for (const form of ['', `${'a=1&'.repeat(1_001)}`]) {
      const response = await send(service, hook, form, { 'content-type': 'application/x-www-form-urlencoded' })
      expect([form.slice(0, 20), response.status, response.body.error.code]).toEqual([
        form.slice(0, 20),
        400,
        'validation_error',
      ])
    }
    expect(await bodiesOf(tenant, hook)).toEqual([])
  })

  test('an unknown token', async () => {
    for (const token of ['hk_unknown', '%00', 'x'.repeat(5_000), '..%2F..']) {
      const response = await send(service, { url: `/v1/public/hooks/${token}` }, {})
      expect([response.status, response.body.error.code]).toEqual([404, 'hook_not_found'])
    }
  })

  test('a hook that is off, until it is on again', async () => {
    const hook = await createHook(tenant)
    await tenant.call('PATCH', hook.path, { enabled: false })
    const off = await send(service, hook, order('off', 'off@example.com'))
    expect([off.status, off.body.error.code]).toEqual([409, 'hook_disabled'])
    expect(await bodiesOf(tenant, hook)).toEqual([])
    await tenant.call('PATCH', hook.path, { enabled: true })
    expect((await send(service, hook, order('off', 'off@example.com'))).status).toBe(200)
  })
})

test('paths that lead to a prototype find nothing', async () => {
  const mapping = {
    event: {
      name: { value: 'e' },
      data: { a: { path: 'constructor.name' }, b: { path: 'x.length' }, c: { path: 'toString' } },
    },
    contact: { email: { path: 'email' } },
  }
  const hook = await createHook(tenant, { mapping })
  await send(service, hook, { email: 'proto@example.com', x: 'text' })
  expect((await eventsOf('proto@example.com')).events[0].data).toEqual({})
})
