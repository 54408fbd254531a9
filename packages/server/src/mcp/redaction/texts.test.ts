import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { schemaOfResponse } from '../../../test/personal-data.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import type { Values } from '../../operations/declare.ts'
import { createRedactor, redactionKeyOf } from './redactor.ts'

const EMAIL = 'zorblax.quintorp@mailtoken.example'
const PERSON = { firstname: 'Zorblax', lastname: 'Quintörp', phone: '+49 171 5550123', city: 'Zedburg' }

let service: TestService
let tenant: TestTenant
let contactId: string

// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
const redact = (values: Values, of = tenant, route?: string): Promise<any> =>
  createRedactor(of.handle, redactionKeyOf('secret', of.id)).redact(values, schemaOfResponse(route))
const CONTACT = 'GET /v1/contacts/:contact_id'

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  contactId = await tenant.contact(EMAIL, PERSON)
})

describe('texts', () => {
  const scrubbed = async (text: string) => (await redact({ contact_id: contactId, title: text })).title
  const E = () => `email:${contactId}`

  test.each([
    ['call +1 (415) 555-0123 now', /^call phone:[a-z2-7]{12} now$/],
    ['call 415-555-0123', /^call phone:[a-z2-7]{12}$/],
    ['tel 030/1234 5678', /^tel phone:[a-z2-7]{12}$/],
    ['from 198.51.100.7 and 2001:db8::8a2e:370:7334', /^from ip:[a-z2-7]{12} and ip:[a-z2-7]{12}$/],
    [
      'https://ada:secret@x.example/a?b=c&utm_source=s&utm_medium=m#d rest',
      /^https:\/\/x\.example\/a\?utm_source=s&utm_medium=m rest$/,
    ],
    ['/checkout?step=2#pay', /^\/checkout$/],
  ])('%s', async (text, expected) => {
    expect(await scrubbed(text)).toMatch(expected)
  })

  test.each([
    'Order 1234567890 of 2026-11-24 18:36 for 1,299.00',
    '24.11.2026 18:30:15',
    'Chrome/147.0.0.0 Safari/537.36',
    'version 1.2.3',
    'react@18 and image@2x',
    '0.12345678901',
    '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071',
    '2026-11-24T18:36:00.000Z',
    'a < b & c > d',
    '100% of {x}',
    '[not json',
    'Quintet and Zorb',
  ])('%s stays', async (text) => {
    // biome-ignore format: a list
    expect(await scrubbed(text)).toBe(text)
  })

  test('in every spelling', async () => {
    for (const text of [
      EMAIL,
      EMAIL.toUpperCase(),
      `<${EMAIL}>`,
      `mailto:${EMAIL}?subject=x`,
      encodeURIComponent(EMAIL),
      encodeURIComponent(encodeURIComponent(EMAIL)),
      EMAIL.replace('@', '+news@'),
      EMAIL.replace('.example', '\u3002example'),
      `${EMAIL}\u3002次に`,
    ]) {
      expect(await scrubbed(text)).toContain(E())
    }
    for (const text of [
      'zorblax quintörp',
      'QUINTO\u0308RP, ZORBLAX',
      'zorblax-quintorp',
      'Zorblax_Quintorp',
      'zorblaxquintorp',
      'zquintorp',
      'Zorblax%20Quint%C3%B6rp',
    ]) {
      expect(await scrubbed(text)).toBe(`name:${contactId}`)
    }
    expect(await scrubbed("Zorblax's desk")).toBe(`firstname:${contactId}'s desk`)
    for (const text of ['+491715550123', '0171 5550123', '(0171) 555-0123', 'at 00491715550123', '7 1715550123 9'])
      expect(await scrubbed(text)).toMatch(new RegExp(`phone:${contactId}`))
  })
})

describe("the tenant's marks", () => {
  test('hide a property everywhere, whatever its type', async () => {
    const marking = await createTestTenant(service)
    await marking.call('PATCH', '/v1/tenant', { personal_properties: ['Shoe Size', 'secret_plan', 'isPregnant'] })
    const id = await marking.contact('m@example.com', {
      shoe_size: 43,
      secretPlan: 'moonbase',
      is_pregnant: true,
      plan: 'x',
    })
    const { contact } = await redact((await marking.call('GET', `/v1/contacts/${id}`)).body, marking, CONTACT)
    const { shoe_size, secretPlan, is_pregnant, plan } = contact.properties
    for (const shown of [shoe_size, secretPlan, is_pregnant]) expect(shown).toMatch(new RegExp(`^value:${id}`))
    expect(plan).toBe('x')
    const values = {
      events: [{ contact_id: id, title: 'The Moonbase', data: { a: { secret_plan: { name: 'n', days: [3] } } } }],
    }
    const [event] = (await redact(values, marking)).events
    expect(event.title).toMatch(new RegExp(`^The value:${id}`))
    const { name, days } = event.data.a.secret_plan
    for (const shown of [name, days[0]]) expect(shown).toMatch(/^value:[a-z2-7]{12}$/)
    const values2 = {
      values: (await marking.call('GET', '/v1/segments/suggestions?property=secretPlan')).body.values,
      property: 'secretPlan',
    }
    expect((await redact(values2, marking, 'GET /v1/segments/suggestions')).values).toEqual([
      { value: expect.stringMatching(/^value:[a-z2-7]{12}$/), label: null, count: 1 },
    ])
  })
})

describe('a hostile contact', () => {
  const NAMES = [
    'the', 'a', 'I', ' ', 'contact_id', 'properties', 'x'.repeat(10_000), '.*(?:a+)+$', '[a-z]{1,9}', '</customer_data>', '$& $1', '\\', '%', '%41',
    '__proto__', 'constructor', 'email', 'firstname', 'email:019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', '[text withheld: 3 characters]', '李明', '{"a":1}', '[[[[', '\u{1f600}', 'success', 'page_view', 'true', '1', '2026', 'null',
  ] // biome-ignore format: a list

  test('breaks nothing, whatever its name', async () => {
    const hostile = await createTestTenant(service)
    const records = NAMES.flatMap((name, index) => [
      { external_id: `a${index}`, email: `a${index}@example.com`, properties: { firstname: name, lastname: name } },
    ])
    const { body: pushed } = await hostile.call('POST', '/v1/sources/crm/contacts', { kind: 'crm', records })
    const ids = pushed.results.map(({ contact_id }: { contact_id: string }) => contact_id)
    expect(ids.filter(Boolean)).toHaveLength(NAMES.length)
    await hostile.track({
      visitor_id: 'v',
      events: [
        {
          event: 'page_view',
          url: `https://${hostile.site}/the/page`,
          title: 'See the page, a true success',
          data: { contact_id: 'x', list: ['the'] },
        },
      ],
    })
    await hostile.call('POST', '/v1/identify', { visitor_id: 'v', email: 'a0@example.com' })
    for (const path of [
      '/v1/contacts?limit=100',
      '/v1/events',
      ...ids.slice(0, 7).map((id: string) => `/v1/contacts/${id}?include=raw,provenance`),
    ]) {
      const { body } = await hostile.call('GET', path)
      const [named] = path.split('?')
      const route = /contacts.[0-9a-f]/.test(path) ? CONTACT : `GET ${named}`
      const redacted = await redact(body, hostile, route)
      expect(shapeOf(redacted)).toEqual(shapeOf(withoutRaw(body)))
      expect(redacted.status).toBe('success')
      expect(await redact(redacted, hostile, route)).toEqual(redacted)
    }
    const { events } = await redact((await hostile.call('GET', '/v1/events')).body, hostile, 'GET /v1/events')
    expect(events[0]).toMatchObject({
      event: 'page_view',
      url: `https://${hostile.site}/the/page`,
      data: { title: 'See the page, a true success', contact_id: 'x', list: ['the'] },
    })
    const { contact } = await redact((await hostile.call('GET', `/v1/contacts/${ids[1]}`)).body, hostile, CONTACT)
    expect(contact.properties).toMatchObject({ firstname: `firstname:${ids[1]}`, lastname: `lastname:${ids[1]}` })
    const chinese = ids[NAMES.indexOf('李明')]
    expect((await redact({ contact_id: chinese, title: '李明先生您好' }, hostile)).title).toBe(
      `firstname:${chinese}先生您好`,
    )
  })

  test('deep data is withheld', async () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)
    const shown = await redact({ data: { deep, deeper: JSON.parse(deep) } })
    expect(JSON.stringify(shown)).toContain('[text withheld: 0 characters]')
    expect(await redact(shown)).toEqual(shown)
  })
})

describe('any output', () => {
  const PIECES = [
    'Zorblax', 'Quintörp', EMAIL, 'stranger@x.example', '+49 171 5550123', '203.0.113.77', 'Hello', '%20', '?a=b&utm_source=c', '#d', 'https://x.example/', '/', ' ', '.', '-', '@', '{"email":"z@y.example"}',
    '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', 'email:abcdefghijkl', '~', '[text withheld: 2 characters]', 'Zedburg', '0', '12', "'", '"', '<', '\\', '\ud800',
  ] // biome-ignore format: a list
  const KEYS = ['email', 'name', 'firstname', 'phone', 'message', 'content', 'text', 'title', 'url', 'properties', 'data', 'contact', 'company', 'contact_id', 'events', 'address', 'city', 'country', 'status', 'property', 'value', 'group_by', 'buckets', 'key', 'kind', 'from', 'unique_values', 'all_sources', 'profile', EMAIL, 'a@b.example', '__proto__'] // biome-ignore format: a list
  const text = fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 5 })), { maxLength: 6 })
    .map((parts) => parts.join(''))
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text, fc.integer(), fc.boolean(), fc.constant(null),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), text), tie('json'), { maxKeys: 5 }),
    ), // biome-ignore format: a list
  }))

  test('keeps its structure, and redacting it again changes nothing', async () => {
    const outputs = fc.dictionary(fc.constantFrom(...KEYS), json, { maxKeys: 6 })
    await fc.assert(
      fc.asyncProperty(outputs, async (output) => {
        const values = { contact_id: contactId, ...JSON.parse(JSON.stringify(output)) }
        const redacted = await redact(values)
        expect(shapeOf(redacted)).toEqual(shapeOf(values))
        expect(await redact(redacted)).toEqual(redacted)
      }),
      { numRuns: 80 },
    )
  })
})

/** The structure of a value: numbers of fields and items, and types. A hidden number or flag becomes a text. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (value !== null && typeof value === 'object') return Object.values(value).map(shapeOf)
  return value === null ? null : 'scalar'
}

function withoutRaw(body: { unified_profile?: { raw_data?: unknown } }) {
  const { raw_data, ...unified_profile } = body.unified_profile ?? {}
  return body.unified_profile ? { ...body, unified_profile } : body
}
