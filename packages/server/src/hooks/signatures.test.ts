import { createHmac } from 'node:crypto'
import Stripe from 'stripe'
import { beforeAll, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, ORDERS, order, send, type TestHook } from '../../test/hooks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

const SECRET = 'whsec_test_secret_of_the_sender'
const MINUTE_S = 60

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const hmac = (text: string, encoding: 'hex' | 'base64', secret = SECRET) =>
  createHmac('sha256', secret).update(text).digest(encoding)
const nowSeconds = () => Math.floor(Date.now() / 1000)
const timed = (text: string, at = nowSeconds(), secret = SECRET) => `t=${at},v1=${hmac(`${at}.${text}`, 'hex', secret)}`
const readyMade = (kind: string, own = tenant) =>
  createHook(own, { kind, name: `${kind} ${Math.random()}`, signing_secret: SECRET, mapping: undefined })
const recorded = async (hook: TestHook, own = tenant) => {
  const [body] = await bodiesOf(own, hook)
  const event = body.event_id === null ? null : (await own.call('GET', `/v1/events/${body.event_id}`)).body.event
  const contact =
    body.contact_id === null ? null : (await own.call('GET', `/v1/contacts/${body.contact_id}`)).body.contact
  return { body, event, contact }
}

/** How each ready-made kind signs, and a body in the form that its sender documents. */
const KINDS = [
  {
    kind: 'stripe',
    header: 'Stripe-Signature',
    sign: (text: string, secret: string) => timed(text, nowSeconds(), secret),
    body: {
      id: 'evt_1Qx',
      object: 'event',
      api_version: '2026-01-28',
      created: 1_769_846_400,
      data: {
        object: {
          id: 'in_1Qx',
          object: 'invoice',
          amount_paid: 4_990,
          currency: 'eur',
          customer: 'cus_Qx1',
          customer_email: 'ada.stripe@example.com',
          number: 'A-0042',
          status: 'paid',
          hosted_invoice_url: 'https://invoice.stripe.com/i/acct_1/test',
        },
      },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type: 'invoice.paid',
    },
    event: {
      event: 'invoice.paid',
      timestamp: '2026-01-31T08:00:00.000Z',
      url: 'https://invoice.stripe.com/i/acct_1/test',
      data: {
        amount: 4_990,
        currency: 'eur',
        number: 'A-0042',
        object: 'invoice',
        object_id: 'in_1Qx',
        status: 'paid',
      },
    },
    properties: { email: 'ada.stripe@example.com', stripe_customer_id: 'cus_Qx1' },
  },
  {
    kind: 'calendly',
    header: 'Calendly-Webhook-Signature',
    sign: (text: string, secret: string) => timed(text, nowSeconds(), secret),
    body: {
      event: 'invitee.created',
      created_at: '2026-01-31T08:00:00.000000Z',
      created_by: 'https://api.calendly.com/users/AAAA',
      payload: {
        cancel_url: 'https://calendly.com/cancellations/BBBB',
        created_at: '2026-01-31T08:00:00.000000Z',
        email: 'ada.calendly@example.com',
        event: 'https://api.calendly.com/scheduled_events/CCCC',
        first_name: 'Ada',
        last_name: 'Lovelace',
        name: 'Ada Lovelace',
        questions_and_answers: [{ answer: 'Engines', position: 0, question: 'What about?' }],
        rescheduled: false,
        scheduled_event: {
          uri: 'https://api.calendly.com/scheduled_events/CCCC',
          name: '30 minutes',
          start_time: '2026-02-03T09:00:00.000000Z',
          end_time: '2026-02-03T09:30:00.000000Z',
        },
        status: 'active',
        text_reminder_number: null,
        timezone: 'Europe/London',
        uri: 'https://api.calendly.com/scheduled_events/CCCC/invitees/DDDD',
      },
    },
    event: {
      event: 'invitee.created',
      timestamp: '2026-01-31T08:00:00.000Z',
      data: {
        event_type: '30 minutes',
        status: 'active',
        answers: [{ answer: 'Engines', position: 0, question: 'What about?' }],
      },
    },
    properties: {
      email: 'ada.calendly@example.com',
      firstname: 'Ada',
      lastname: 'Lovelace',
      timezone: 'Europe/London',
    },
  },
  {
    kind: 'typeform',
    header: 'Typeform-Signature',
    sign: (text: string, secret: string) => `sha256=${hmac(text, 'base64', secret)}`,
    body: {
      event_id: '01HZX',
      event_type: 'form_response',
      form_response: {
        form_id: 'lT4Z3j',
        token: 'a3a12ec67a1365927098a606107fac15',
        landed_at: '2026-01-31T07:58:00Z',
        submitted_at: '2026-01-31T08:00:00Z',
        hidden: { utm: 'newsletter' },
        definition: { id: 'lT4Z3j', title: 'Webinar', fields: [] },
        answers: [
          { type: 'text', text: 'Ada', field: { id: 'f1', type: 'short_text', ref: 'name' } },
          { type: 'email', email: 'ada.typeform@example.com', field: { id: 'f2', type: 'email', ref: 'mail' } },
          {
            type: 'phone_number',
            phone_number: '+442071838750',
            field: { id: 'f3', type: 'phone_number', ref: 'tel' },
          },
        ],
      },
    },
    event: {
      event: 'form_response',
      timestamp: '2026-01-31T08:00:00.000Z',
      data: { form_id: 'lT4Z3j', form_title: 'Webinar', hidden: { utm: 'newsletter' } },
    },
    properties: { email: 'ada.typeform@example.com', phone: '+442071838750' },
  },
  {
    kind: 'cal.com',
    header: 'X-Cal-Signature-256',
    sign: (text: string, secret: string) => hmac(text, 'hex', secret),
    body: {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: '2026-01-31T08:00:00.000Z',
      payload: {
        type: 'demo',
        title: 'Demo between Grace and Ada',
        startTime: '2026-02-03T09:00:00Z',
        endTime: '2026-02-03T09:30:00Z',
        organizer: { id: 5, name: 'Grace', email: 'grace@vendor.example', timeZone: 'Europe/Paris' },
        attendees: [{ email: 'ada.cal@example.com', name: 'Ada', firstName: 'Ada', timeZone: 'Europe/London' }],
        location: 'integrations:daily',
        uid: 'bFJeNb2uX8ANpT3JL5EfXw',
        bookingId: 91,
        status: 'ACCEPTED',
      },
    },
    event: {
      event: 'BOOKING_CREATED',
      timestamp: '2026-01-31T08:00:00.000Z',
      data: { event_type: 'demo', title: 'Demo between Grace and Ada', status: 'ACCEPTED' },
    },
    properties: { email: 'ada.cal@example.com', firstname: 'Ada', timezone: 'Europe/London' },
  },
] as const

describe.each(KINDS)('$kind', ({ kind, header, sign, body, event, properties }) => {
  test('a signed body in the documented form becomes an event and a contact, once', async () => {
    const hook = await readyMade(kind)
    // The bytes count: the same JSON with other white space has another signature.
    const text = JSON.stringify(body, null, 2)
    for (const _ of [1, 2]) {
      const sent = await send(service, hook, text, { [header]: sign(text, SECRET) })
      expect([sent.status, sent.body]).toMatchObject([200, { state: 'recorded', event: event.event }])
    }
    const kept = await recorded(hook)
    expect(kept.event).toMatchObject(event)
    expect(kept.contact.properties).toMatchObject(properties)
    const listed = await tenant.call('GET', `/v1/events?contact_id=${kept.contact.contact_id}`)
    expect(listed.body.events).toHaveLength(1)
  })

  test('a wrong or missing signature is refused, and nothing is kept', async () => {
    const hook = await readyMade(kind)
    const text = JSON.stringify(body)
    const right = sign(text, SECRET)
    const wrong: Record<string, string>[] = [
      {},
      { [header]: sign(text, 'another secret') },
      { [header]: sign(`${text} `, SECRET) },
      { [header]: `${right.slice(0, -4)}AAA=` },
      { [header]: '' },
      { [header]: 'x'.repeat(5_000) },
      { [header]: right.replace(/v1=|sha256=/, 'v0=') + (kind === 'cal.com' ? '0' : '') },
      { 'X-Signature': right },
    ]
    for (const headers of wrong) {
      const response = await send(service, hook, text, headers)
      expect([headers, response.status, response.body.error.code]).toEqual([headers, 401, 'invalid_signature'])
    }
    expect(await bodiesOf(tenant, hook)).toEqual([])
  })

  test('it accepts no body before it has the secret', async () => {
    const { body: made } = await tenant.call('POST', '/v1/hooks', { name: `${kind} late`, kind })
    expect(made.hook).toMatchObject({
      enabled: false,
      has_signing_secret: false,
      signature_header: header.toLowerCase(),
    })
    const hook = { url: new URL(made.url).pathname }
    const text = JSON.stringify(body)
    expect((await send(service, hook, text, { [header]: sign(text, '') })).body.error.code).toBe('hook_disabled')
    const path = `/v1/hooks/${made.hook.hook_id}`
    expect((await tenant.call('PATCH', path, { enabled: true })).body.error.code).toBe('signing_secret_required')
    await tenant.call('PATCH', path, { enabled: true, signing_secret: SECRET })
    expect((await send(service, hook, text, { [header]: sign(text, SECRET) })).status).toBe(200)
    const kept = await tenant.call('PATCH', path, { signing_secret: null, signature_header: null })
    expect(kept.body).toMatchObject({ changed: [], hook: { has_signing_secret: true } })
  })
})

describe.each(['stripe', 'calendly'])('the time of a signature of %s', (kind) => {
  test.each([
    [-4.5, 200],
    [4.5, 200],
    [-5.5, 401],
    [5.5, 401],
  ])('%d minutes from now gets status %d', async (minutes, status) => {
    const { header, body } = KINDS.find((each) => each.kind === kind) ?? KINDS[0]
    const hook = await readyMade(kind)
    const text = JSON.stringify(body)
    const response = await send(service, hook, text, { [header]: timed(text, nowSeconds() + minutes * MINUTE_S) })
    expect(response.status).toBe(status)
  })
})

describe("Stripe's own library", () => {
  const stripe = new Stripe('sk_test_unused')

  test('signs what the hook accepts, also with an older secret beside the current one', async () => {
    const hook = await readyMade('stripe')
    const payload = JSON.stringify(KINDS[0].body)
    const header = stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET })
    expect((await send(service, hook, payload, { 'stripe-signature': header })).status).toBe(200)
    const [time = '', current = ''] = header.split(',')
    const [, old = ''] = stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_older' }).split(',')
    const both = await send(service, hook, payload, { 'stripe-signature': [time, old, 'v0=00', current].join(',') })
    expect(both.status).toBe(200)
    const stale = stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp: nowSeconds() - 301 })
    expect((await send(service, hook, payload, { 'stripe-signature': stale })).status).toBe(401)
  })

  test('accepts the signatures of these tests', () => {
    const payload = JSON.stringify(KINDS[0].body)
    const event = stripe.webhooks.constructEvent(payload, timed(payload), SECRET)
    expect(event.type).toBe('invoice.paid')
  })
})

test("Stripe's customer id finds the contact of events that have no email", async () => {
  const hook = await readyMade('stripe', tenant)
  const event = async (id: string, type: string, object: object) => {
    const text = JSON.stringify({ id, object: 'event', created: nowSeconds(), type, data: { object } })
    return send(service, hook, text, { 'stripe-signature': timed(text) })
  }
  const subscription = { id: 'sub_1', object: 'subscription', customer: 'cus_Sub1', status: 'active' }
  const early = await event('evt_0', 'customer.subscription.created', subscription)
  expect([early.status, early.body.error.code]).toEqual([200, 'hook_no_person'])
  await event('evt_1', 'customer.created', { id: 'cus_Sub1', object: 'customer', email: 'sub@example.com' })
  expect((await event('evt_2', 'customer.subscription.updated', subscription)).body.state).toBe('recorded')
  const charge = {
    id: 'ch_1',
    object: 'charge',
    customer: null,
    billing_details: { email: 'sub@example.com' },
    amount: 5,
  }
  await event('evt_3', 'charge.succeeded', charge)
  const { contact } = await recorded(hook)
  expect(contact.properties).toMatchObject({ email: 'sub@example.com', stripe_customer_id: 'cus_Sub1' })
  const { events } = (await tenant.call('GET', `/v1/events?contact_id=${contact.contact_id}`)).body
  expect(events.map(({ event }: { event: string }) => event).sort()).toEqual([
    'charge.succeeded',
    'customer.created',
    'customer.subscription.updated',
  ])
  expect((await event('evt_4', 'balance.available', { object: 'balance' })).body.error.code).toBe('hook_no_person')
})

const STRIPE = { id: 'evt_n', object: 'event', created: 1_769_846_400, type: 'a' }
test.each([
  ['calendly', { event: 'invitee.created', payload: { uri: 'u', email: 'n@example.com', first_name: null, last_name: null, name: 'Ada Lovelace' } }, { firstname: 'Ada Lovelace' }],
  ['cal.com', { triggerEvent: 'BOOKING_CREATED', payload: { uid: 'u', attendees: [{ email: 'n@example.com', name: 'Ada Lovelace', timeZone: 'UTC' }] } }, { firstname: 'Ada Lovelace' }],
  ['cal.com', { triggerEvent: 'MEETING_ENDED', uid: 'u', attendees: [{ email: 'n@example.com', name: 'Ada Lovelace', timeZone: 'UTC' }] }, { firstname: 'Ada Lovelace' }],
  ['stripe', { ...STRIPE, data: { object: { object: 'invoice', customer_email: 'n@example.com', customer_name: 'Ada Lovelace' } } }, { name: 'Ada Lovelace' }],
  ['stripe', { ...STRIPE, data: { object: { object: 'checkout.session', customer_details: { email: 'n@example.com', name: 'Ada Lovelace' } } } }, { name: 'Ada Lovelace' }],
  ['stripe', { ...STRIPE, data: { object: { object: 'customer', id: 'cus_n', email: 'n@example.com', name: 'Ada Lovelace' } } }, { name: 'Ada Lovelace' }],
  ['stripe', { ...STRIPE, data: { object: { object: 'charge', billing_details: { email: 'n@example.com', name: 'Ada Lovelace' } } } }, { name: 'Ada Lovelace' }],
] as const)('a single name that %s sends is kept', async (kind, body, named) => {
  const own = await createTestTenant(service)
  const hook = await readyMade(kind, own)
  const text = JSON.stringify(body)
  const { header, sign } = KINDS.find((each) => each.kind === kind) ?? KINDS[0]
  expect((await send(service, hook, text, { [header]: sign(text, SECRET) })).body.state).toBe('recorded')
  const { properties } = (await recorded(hook, own)).contact
  expect({ firstname: properties.firstname, lastname: properties.lastname, name: properties.name }).toEqual(named)
}) // biome-ignore format: a list

test("Cal.com's ping is skipped, and a cancelled booking is another event than the booking", async () => {
  const hook = await readyMade('cal.com')
  const { body } = KINDS[3]
  for (const [triggerEvent, state] of [
    ['PING', 'skipped'],
    ['BOOKING_CREATED', 'recorded'],
    ['BOOKING_CANCELLED', 'recorded'],
  ] as const) {
    const text = JSON.stringify({ ...body, triggerEvent })
    const sent = await send(service, hook, text, { 'x-cal-signature-256': hmac(text, 'hex') })
    expect([sent.status, sent.body.state]).toEqual([200, state])
  }
  const bodies = await bodiesOf(tenant, hook)
  expect(new Set(bodies.map(({ event_id }: { event_id: string }) => event_id)).size).toBe(3)
})

describe('a custom hook with a header of its own', () => {
  test.each([
    ['hexadecimal digits', (text: string) => hmac(text, 'hex')],
    ['upper case', (text: string) => hmac(text, 'hex').toUpperCase()],
    ['a prefix', (text: string) => `sha256=${hmac(text, 'hex')}`],
    ['base64', (text: string) => hmac(text, 'base64')],
  ])('accepts %s', async (_form, sign) => {
    const hook = await createHook(tenant, { signing_secret: SECRET, signature_header: 'X-Hub-Signature-256' })
    const text = JSON.stringify(order('1', 'signed@example.com'))
    expect((await send(service, hook, text, { 'x-hub-signature-256': sign(text) })).status).toBe(200)
    expect((await send(service, hook, `${text} `, { 'x-hub-signature-256': sign(text) })).status).toBe(401)
    expect((await send(service, hook, text)).status).toBe(401)
  })

  test('signs a form by its bytes', async () => {
    const mapping = { contact: { email: { path: 'email' } } }
    const hook = await createHook(tenant, { mapping, signing_secret: SECRET, signature_header: 'X-Sig' })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const text = 'email=signed%40example.com'
    expect((await send(service, hook, text, { ...form, 'x-sig': hmac(text, 'hex') })).status).toBe(200)
    expect((await send(service, hook, text.replace('%40', '@'), { ...form, 'x-sig': hmac(text, 'hex') })).status).toBe(
      401,
    )
  })

  test('needs the secret and the header together', async () => {
    const create = (more: object) =>
      tenant.call('POST', '/v1/hooks', { name: 'Half', kind: 'custom', mapping: ORDERS, ...more })
    expect((await create({ signing_secret: SECRET })).body.error.details[0].path).toBe('signature_header')
    expect((await create({ signature_header: 'X-Sig' })).body.error.details[0].path).toBe('signing_secret')
    expect((await create({ signing_secret: SECRET, signature_header: 'X Sig' })).status).toBe(400)
    const fixed = await tenant.call('POST', '/v1/hooks', {
      name: 'S',
      kind: 'stripe',
      signing_secret: SECRET,
      signature_header: 'X',
    })
    expect(fixed.body.error.details[0].path).toBe('signature_header')
    const hook = await createHook(tenant, { signing_secret: SECRET, signature_header: 'X-Sig' })
    const both = { signing_secret: SECRET, signature_header: null }
    expect((await tenant.call('PATCH', hook.path, both)).body.error.details[0].path).toBe('signature_header')
    const { body } = await tenant.call('PATCH', hook.path, { signature_header: null })
    expect(body.changed).toEqual(['signing_secret', 'signature_header'])
    expect((await send(service, hook, order('2', 'signed@example.com'))).status).toBe(200)
  })
})
