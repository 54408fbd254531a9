import { describe, expect, test } from 'vitest'
import { applyMapping } from './apply-mapping.ts'
import { guessMapping } from './guess-mapping.ts'

const NOBODY = new Set<string>()

/** What the guess for a body records from that body. */
function recorded(body: object, name = 'Shop orders') {
  const mapping = guessMapping(body, name)
  return { mapping, records: applyMapping(mapping, body, NOBODY as never) }
}

describe('a guess', () => {
  test('finds the person, what happened and the rest in an order of a shop', () => {
    const { mapping, records } = recorded({
      id: 'evt_1',
      type: 'order.paid',
      created_at: '2026-11-03T10:00:00Z',
      order: {
        id: 1815,
        total: 49.9,
        currency: 'EUR',
        items: [{ name: 'Engine' }, { name: 'Card' }],
        status_token: 'x',
      },
      customer: { id: 'c_7', email: 'Ada@Example.com', first_name: 'Ada', lastName: 'Lovelace', plan: 'pro' },
      company: { name: 'Engines', website: 'https://www.engines.example/about' },
      assignee: { email: 'colleague@shop.example' },
    })
    expect(records).toMatchObject({
      event: {
        name: 'order.paid',
        id: 'evt_1',
        timestamp: '2026-11-03T10:00:00.000Z',
        data: { total: 49.9, currency: 'EUR' },
      },
      contact: {
        email: 'ada@example.com',
        external_id: 'c_7',
        properties: { firstname: 'Ada', lastname: 'Lovelace', plan: 'pro', company: 'Engines' },
      },
      company: { domain: 'engines.example', name: 'Engines' },
    })
    // The property is named as ours, whatever the sender calls it; secrets stay where they are.
    expect(mapping.contact?.properties?.firstname).toEqual({ path: 'customer.first_name' })
    expect(JSON.stringify(mapping)).not.toContain('token')
  })

  test('reads a flat form, and names its event after the hook', () => {
    const { records } = recorded(
      {
        'Your e-mail': 'grace@example.com',
        'Contact name': 'Grace Hopper',
        'Phone #': '+1 555 0100',
        'How can we help?': 'Send the compiler.',
        submitted: '2026-11-03T10:00:00+01:00',
      },
      'Contact form',
    )
    expect(records).toMatchObject({
      event: { name: 'contact_form', data: { 'How can we help?': 'Send the compiler.' } },
      contact: { email: 'grace@example.com', properties: { name: 'Grace Hopper' } },
    })
  })

  test('goes by the name of the field before the value, and never takes the address of someone else', () => {
    const { mapping } = recorded({
      owner_email: 'owner@shop.example',
      note: 'write@elsewhere.example',
      lead: { contact: { email_address: 'lead@example.com', title: 'CTO', state: 'Ohio' } },
      title: 'A new lead',
    })
    expect(mapping.contact).toMatchObject({
      email: { path: 'lead.contact.email_address' },
      properties: { jobtitle: { path: 'lead.contact.title' }, state: { path: 'lead.contact.state' } },
    })
    expect(mapping.event?.data).toMatchObject({ title: { path: 'title' }, note: { path: 'note' } })
    expect(guessMapping({ owner: { email: 'owner@shop.example' } }, 'x').contact).toBeUndefined()
  })

  test('reads a list by its first item, and quotes names that are no words', () => {
    const { records, mapping } = recorded([{ 'e-mail address': 'a@b.example', 'a.b': 1, at: 1_767_225_600 }])
    expect(mapping.contact?.email).toEqual({ path: '[0]["e-mail address"]' })
    expect(records).toMatchObject({
      contact: { email: 'a@b.example' },
      event: { name: 'shop_orders', timestamp: '2026-01-01T00:00:00.000Z', data: { 'a.b': 1 } },
    })
  })

  test.each([{}, [], [[]], { a: null }, { a: { b: { c: { d: { e: { f: { g: 'a@b.example' } } } } } } }])(
    'of a body that says nothing is an event named after the hook: %j',
    (body) => expect(guessMapping(body, '!')).toEqual({ event: { name: { value: 'webhook_received' } } }),
  )

  test('of a body with thousands of fields stays small, and its names cannot reach a prototype', () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field_${index}`, index]))
    expect(Object.keys(guessMapping(body, 'x').event?.data ?? {})).toHaveLength(20)
    const hostile = JSON.parse('{"__proto__": {"email": "a@b.example"}, "constructor": 1, "toString": "x"}')
    const { event } = guessMapping(hostile, 'x')
    expect(Object.keys(event?.data ?? {}).sort()).toEqual(['constructor', 'toString'])
  })
})
