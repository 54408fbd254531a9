import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp } from '../../test/mcp.ts'
import { daysAgo } from '../../test/mcp-workspace.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'

/*
 * An agent from which personal data is hidden must not find a value by its parts, whatever it asks. What it knows already,
 * such as a whole address that a person typed, it may look up.
 */

const EMAIL = 'xanthe.vorbis@quillmark.example'
const PHONE = '+49 171 5557788'
let service: TestService
let tenant: TestTenant
let key: string
let xanthe: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const { body } = await tenant.call('POST', '/v1/api-keys', {
    name: 'Agent',
    scopes: ['all'],
    redact_personal_data: true,
  })
  key = body.api_key
  xanthe = await tenant.contact(EMAIL, {
    firstname: 'Xanthe',
    lastname: 'Vorbis Lund',
    phone: PHONE,
    score: 77,
    birth_year: 1984,
    jobtitle: 'Assistant of Xanthe Vorbis Lund, engineering',
    company: 'Quellwerk',
    about_her: `Reach Xanthe at ${EMAIL} or ${PHONE}`,
  })
  await tenant.contact('other@plain.example', { firstname: 'Otto', jobtitle: 'Engineer', company: 'Plainworks' })
  const events = [
    {
      event: 'page_view',
      email: EMAIL,
      url: `https://${tenant.site}/pricing/team?email=${EMAIL}&token=zedsecret#frag`,
      title: `Welcome Xanthe Vorbis Lund (${EMAIL})`,
      timestamp: daysAgo(1),
    },
    {
      event: 'click',
      email: EMAIL,
      url: `https://${tenant.site}/people/xanthe-vorbis`,
      data: { text: `Call ${PHONE} of Xanthe`, element_type: 'a', class: 'btn buy-now' },
      timestamp: daysAgo(1),
    },
  ]
  expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
})

// biome-ignore lint/suspicious/noExplicitAny: results of every shape
async function use(name: string, args: object): Promise<any> {
  const { body } = await callMcp(service, key, 'tools/call', { name, arguments: args })
  const { isError, content, structuredContent } = body.result
  return isError ? { error: content[0].text as string } : structuredContent
}

const totalOf = async (args: object) => (await use('search_contacts', { ...args, count_only: true })).total
const filterOf = (property: string, operator: string, value: unknown) => ({
  match: 'all',
  conditions: [{ property, operator, value }],
})

/** Parts of a text from its start, every short one and some longer ones, and some from its middle. */
function partsOf(text: string): string[] {
  const lengths = Array.from({ length: text.length - 1 }, (_, index) => index + 1)
  const starts = lengths.filter((length) => length < 8 || length % 5 === 0).map((length) => text.slice(0, length))
  return [...starts, text.slice(1), text.slice(3, -2), text.slice(-4)].filter((part) => !/\s/.test(part))
}

describe('a search', () => {
  test.each([
    ['email', EMAIL],
    ['first name', 'Xanthe'],
    ['last name', 'Vorbis'],
  ])('finds nobody by a part of a hidden %s, in results and in counts', async (_what, value) => {
    for (const part of partsOf(value)) {
      // A letter stands in visible fields too, and the whole first name may be looked up.
      if (/^(.?|ex.*|xanthe)$/i.test(part)) continue
      const { contacts = [], total } = await use('search_contacts', { query: part })
      const ids = contacts.map(({ contact_id }: { contact_id: string }) => contact_id)
      expect([part, ids.includes(xanthe), total > 1]).toEqual([part, false, false])
      expect([part, await totalOf({ query: `${part} quellwerk` })]).toEqual([part, 0])
    }
  })

  test('finds a contact by a whole address, name or pseudonym, in any case', async () => {
    for (const query of [
      EMAIL,
      EMAIL.toUpperCase(),
      'xanthe',
      'Xanthe Vorbis Lund',
      'vorbis lund',
      `Vorbis  Lund\tXANTHE`,
      `email:${xanthe}`,
      `firstname:${xanthe}`,
    ]) {
      expect([query, await totalOf({ query })]).toEqual([query, 1])
    }
    // One word of a last name of two is a part of it.
    expect(await totalOf({ query: 'lund' })).toBe(0)
  })

  test('finds a contact by parts of what the agent sees: the company and the job title without names', async () => {
    for (const query of ['quell', 'QUELLW', 'ssistant', 'engineering xanthe', 'quell engin']) {
      expect([query, await totalOf({ query })]).toEqual([query, 1])
    }
    expect(await totalOf({ query: 'engin' })).toBe(2)
  })

  test('compares a property that the tenant marks as a whole too', async () => {
    const own = await createTestTenant(service)
    const { apiKey } = { apiKey: own.key }
    await own.contact('a@b.example', { company: 'Secretworks', jobtitle: 'Librarian' })
    await own.call('PATCH', '/v1/tenant', { personal_properties: ['company', 'jobtitle'] })
    const count = async (query: string) => {
      const args = { query, count_only: true }
      const { body } = await callMcp(service, apiKey, 'tools/call', { name: 'search_contacts', arguments: args })
      return body.result.structuredContent.total
    }
    expect(await Promise.all(['secret', 'libra', 'Secretworks', 'librarian'].map(count))).toEqual([0, 0, 1, 1])
  })
})

describe('a condition', () => {
  test.each([
    ['email', 'contains', 'xan'],
    ['email', 'not_contains', 'xan'],
    ['email', 'gt', '1'],
    ['phone', 'gte', 49],
    ['phone', 'lt', 50],
    ['birth_year', 'lte', 1985],
    ['firstname', 'contains', 'X'],
    ['email', 'before', '2026-01-01'],
    ['birth_year', 'within_days', 30],
  ])('on a hidden property cannot compare a part or an order: %s %s %j', async (property, operator, value) => {
    const filter = filterOf(property, operator, value)
    for (const [name, args] of [
      ['search_contacts', { filter }],
      ['search_contacts', { filter: { match: 'any', conditions: [filter] }, count_only: true }],
      ['preview_segment', { filter }],
      ['create_segment', { name: 'Probe', filter }],
    ] as const) {
      expect([name, (await use(name, args)).error]).toEqual([name, expect.stringMatching(/^hidden_property: /)])
    }
  })

  test('on a hidden property compares whole values, so a list of characters or of prefixes finds nobody', async () => {
    const characters = [...'abcdefghijklmnopqrstuvwxyz0123456789']
    for (const value of [characters, partsOf(EMAIL)]) {
      expect(await totalOf({ filter: filterOf('email', 'in', value) })).toBe(0)
    }
    for (const value of partsOf('Xanthe'))
      expect(await totalOf({ filter: filterOf('firstname', 'equals', value) })).toBe(0)
    expect(await totalOf({ filter: filterOf('email', 'in', [EMAIL]) })).toBe(1)
    expect(await totalOf({ filter: filterOf('email', 'equals', `email:${xanthe}`) })).toBe(1)
  })

  test('on a visible text compares what the agent sees of it', async () => {
    const contains = (property: string, value: string) => totalOf({ filter: filterOf(property, 'contains', value) })
    for (const part of ['xanthe.', 'vorbis@', '5557788', '+49', 'xanth', 'quillmark']) {
      expect([part, await contains('about_her', part)]).toEqual([part, 0])
    }
    for (const part of ['xanth', 'vorb', 'of xan']) {
      expect([part, await contains('jobtitle', part)]).toEqual([part, 0])
      const preview = await use('preview_segment', { filter: filterOf('jobtitle', 'contains', part) })
      expect([part, preview.count]).toEqual([part, 0])
    }
    expect([await contains('about_her', 'each'), await contains('jobtitle', 'ssist')]).toEqual([1, 1])
  })
})

test('a segment that an agent saves compares what the agent sees, whoever evaluates it', async () => {
  const create = async (filter: object) => {
    const { segment, error } = await use('create_segment', { name: 'Probe', filter })
    expect(error).toBeUndefined()
    await until(async () => {
      const { body } = await tenant.call('GET', `/v1/segments/${segment.segment_id}`)
      if (body.segment.counting) throw new Error('The segment is still being counted.')
    })
    const { body } = await tenant.call('GET', `/v1/segments/${segment.segment_id}`)
    return body.segment
  }
  const event = (match: object) => ({ match: 'all', conditions: [{ event: match, operator: 'did' }] })
  for (const [filter, count] of [
    [filterOf('jobtitle', 'contains', 'xan'), 0],
    [filterOf('jobtitle', 'contains', 'engin'), 2],
    [event({ url_contains: 'email=xan' }), 0],
    [event({ url_contains: 'people/xan' }), 0],
    [event({ url_contains: '/pricing' }), 1],
    [event({ text_contains: '5557' }), 0],
  ] as const) {
    const segment = await create(filter)
    expect([filter, segment.contact_count]).toEqual([filter, count])
    expect(JSON.stringify(segment.filter)).toContain('"visible_only":true')
    // The filter that was read can be sent again.
    const again = await tenant.call('PATCH', `/v1/segments/${segment.segment_id}`, { filter: segment.filter })
    expect([again.status, again.body.changed]).toEqual([200, []])
  }
  const wrong = filterOf('jobtitle', 'contains', 'x')
  const sent = { match: 'all', conditions: [{ ...wrong.conditions[0], visible_only: false }] }
  const { status, body } = await tenant.call('POST', '/v1/segments', { name: 'x', filter: sent })
  expect([status, body.error.details[0].path]).toEqual([400, 'filter.conditions[0].visible_only'])
})

describe('texts of events', () => {
  const HIDDEN_PARTS: [string, string][] = [
    ['url_contains', 'email=x'],
    ['url_contains', 'zedsec'],
    ['url_contains', 'xanthe.vorbis@quill'],
    ['url_contains', '#fra'],
    ['url_contains', '/people/xan'],
    ['url_contains', 'xanthe-vor'],
    ['title_contains', 'Xan'],
    ['title_contains', 'quillmark'],
    ['title_contains', 'Welcome Xanthe Vor'],
    ['text_contains', '171 555'],
    ['text_contains', '+49'],
    ['text_contains', 'xant'],
  ]
  test.each(HIDDEN_PARTS)('are not found by a hidden part: %s %j', async (name, value) => {
    expect((await use('query_events', { [name]: value, count_only: true })).total).toBe(0)
    const aggregated = await use('aggregate', { entity: 'events', group_by: 'event_type', filters: { [name]: value } })
    expect(aggregated.total).toBe(0)
    if (name === 'title_contains') return
    const filter = { match: 'all', conditions: [{ event: { [name]: value }, operator: 'did' }] }
    expect(await totalOf({ filter })).toBe(0)
    expect((await use('preview_segment', { filter })).count).toBe(0)
    const opposite = { match: 'all', conditions: [{ event: { [name]: value }, operator: 'did_not' }] }
    expect(await totalOf({ filter: opposite })).toBe(2)
  })

  test.each([
    ['url_contains', '/pricing'],
    ['url_contains', 'PRICING/team'],
    ['title_contains', 'welcome'],
    ['text_contains', 'Call'],
    ['text_contains', 'OF'],
  ])('are found by whole words of what the agent sees: %s %j', async (name, value) => {
    expect((await use('query_events', { [name]: value })).events).toHaveLength(1)
    const aggregated = await use('aggregate', { entity: 'events', group_by: 'event_type', filters: { [name]: value } })
    expect(aggregated.total).toBe(1)
  })

  test('compare parts for a caller who sees personal data', async () => {
    const { body } = await tenant.call('GET', `/v1/events?url_contains=zedsec&count_only=true`)
    expect(body.count).toBe(1)
    expect((await tenant.call('GET', '/v1/contacts?search=xan&count_only=true')).body.count).toBe(1)
  })
})

test('contacts cannot be sorted by a hidden property, nor its numbers added up or compared', async () => {
  for (const sort_by of ['email', 'firstname', 'lastname']) {
    expect((await use('search_contacts', { sort_by })).error).toMatch(/^hidden_property: /)
  }
  for (const metric of ['min', 'max', 'avg', 'sum']) {
    for (const [entity, field] of [
      ['contacts', 'phone'],
      ['contacts', 'birth_year'],
      ['events', 'phone'],
    ] as const) {
      const args = { entity, group_by: entity === 'events' ? 'event_type' : 'country', metric, metric_field: field }
      expect([field, (await use('aggregate', args)).error]).toEqual([
        field,
        expect.stringMatching(/^hidden_property: /),
      ])
    }
  }
})

test('neither the order of the buckets of hidden values nor which of them come first tells the values', async () => {
  const own = await createTestTenant(service)
  const cities = ['Aachen', 'Berlin', 'Celle', 'Dresden', 'Emden', 'Fulda', 'Gera', 'Hamm']
  const ids: string[] = []
  for (const [index, city] of cities.entries()) ids.push(await own.contact(`c${index}@cities.example`, { city }))
  const bucketsOf = async (args: object): Promise<string[]> => {
    const sent = { name: 'aggregate', arguments: { group_by: 'city', entity: 'contacts', ...args } }
    const { body } = await callMcp(service, own.key, 'tools/call', sent)
    return body.result.structuredContent.buckets.map(({ key: bucket }: { key: string }) => bucket)
  }
  const keys = await bucketsOf({})
  expect(keys).toHaveLength(cities.length)
  expect(keys).toEqual(keys.toSorted())
  // Of each two neighbors in the alphabet, neither always comes first: that is as likely as a sorted deck of 8 cards.
  const first: boolean[] = []
  for (const [index, one] of ids.slice(0, -1).entries()) {
    const [bucket] = await bucketsOf({ limit: 1, filters: { contact_ids: [one, ids[index + 1]] } })
    first.push(bucket?.includes(one) ?? false)
  }
  expect([...new Set(first)].sort()).toEqual([false, true])
})

test('names with any characters are compared as they are', async () => {
  const own = await createTestTenant(service)
  const names = [
    'Jörg',
    'İpek',
    '李小龙',
    'O’Neil-Smith',
    '(a+)+$',
    '\\d\\',
    '[x',
    '^',
    'A  B',
    '👩‍🚀',
    "x'); --",
    '%_',
  ]
  const created: [string, string][] = []
  for (const [index, firstname] of names.entries()) {
    const properties = { firstname, jobtitle: `Chief of ${firstname}, plainly${index}x` }
    created.push([await own.contact(`odd${index}@names.example`, properties), firstname])
  }
  const found = async (args: object): Promise<string[]> => {
    const sent = { name: 'search_contacts', arguments: { limit: 50, ...args } }
    const { body } = await callMcp(service, own.key, 'tools/call', sent)
    expect([args, body.result.isError ? body.result.content : null]).toEqual([args, null])
    return body.result.structuredContent.contacts.map(({ contact_id }: { contact_id: string }) => contact_id)
  }
  for (const [index, [id, name]] of created.entries()) {
    expect([name, await found({ query: name })]).toEqual([name, [id]])
    expect([name, await found({ query: `plainly${index}x ${name}` })]).toEqual([name, [id]])
    expect([name, await found({ filter: filterOf('jobtitle', 'contains', `plainly${index}x`) })]).toContainEqual([id])
  }
})

test('an address is found as a whole in any of its spellings, and not by a part of one', async () => {
  const own = await createTestTenant(service)
  await own.contact('ada@bücher.example', {})
  const total = async (query: string): Promise<number> => {
    const sent = { name: 'search_contacts', arguments: { query, count_only: true } }
    return (await callMcp(service, own.key, 'tools/call', sent)).body.result.structuredContent.total
  }
  for (const whole of ['ada@bücher.example', 'ADA@BÜCHER.example', 'ada@xn--bcher-kva.example']) {
    expect([whole, await total(whole)]).toEqual([whole, 1])
  }
  for (const part of ['bücher', 'ada@b', 'xn--bch', 'da@bücher.example']) {
    expect([part, await total(part)]).toEqual([part, 0])
  }
})

test('a name of another contact in a text is found as a whole only, in contacts, companies and segments', async () => {
  const own = await createTestTenant(service)
  await own.contact('xanthe@quillmark.example', { firstname: 'Xanthe', lastname: 'Vorbis Lund' })
  const about = 'Aide of Xanthe Vorbis Lund, finance'
  await own.contact('bodo@plain.example', { jobtitle: about, company: 'Xanthe Vorbis Lund Consulting', topic: about })
  const company = { name: 'Xanthe Vorbis Lund Consulting', domain: 'consulting.example', properties: { topic: about } }
  expect((await own.call('POST', '/v1/companies', company)).status).toBe(201)
  const found = async (name: string, args: object): Promise<number> => {
    const { body } = await callMcp(service, own.key, 'tools/call', { name, arguments: args })
    expect([args, body.result.isError ? body.result.content : null]).toEqual([args, null])
    const { total, count } = body.result.structuredContent
    return total ?? count
  }
  for (const part of ['xan', 'anthe', 'vorb', 'lun', 'the vor']) {
    for (const property of ['jobtitle', 'company', 'topic']) {
      const filter = filterOf(property, 'contains', part)
      expect([part, property, await found('search_contacts', { filter })]).toEqual([part, property, 0])
      expect([part, property, await found('preview_segment', { filter })]).toEqual([part, property, 0])
    }
    for (const property of ['name', 'topic']) {
      const filter = filterOf(property, 'contains', part)
      expect([part, property, await found('search_companies', { filter })]).toEqual([part, property, 0])
    }
    expect([part, await found('search_contacts', { query: `${part} consulting` })]).toEqual([part, 0])
    expect([part, await found('search_companies', { query: part })]).toEqual([part, 0])
  }
  for (const part of ['aid', 'financ']) {
    for (const tool of ['search_contacts', 'search_companies']) {
      expect([part, tool, await found(tool, { filter: filterOf('topic', 'contains', part) })]).toEqual([part, tool, 1])
    }
  }
  for (const query of ['consult', 'CONSULTING', 'consulting.ex']) {
    expect([query, await found('search_companies', { query })]).toEqual([query, 1])
  }
  expect(await found('search_contacts', { query: 'consult' })).toBe(1)
})

test('a phone number under another name is not shown as a number, compared by order, or added up', async () => {
  const own = await createTestTenant(service)
  const numbers = { kontakt: '+491715557788', digits: '491715557788', wa: 491715557788, budget: 12_500_000 }
  const id = await own.contact('phone@numbers.example', { phone: PHONE, ...numbers })
  const get = async (name: string, args: object) =>
    (await callMcp(service, own.key, 'tools/call', { name, arguments: args })).body.result.structuredContent
  const { contact } = await get('get_contact', { contact_id: id })
  expect(contact.properties).toMatchObject({ kontakt: `phone:${id}`, digits: `phone:${id}`, wa: `phone:${id}` })
  expect(contact.properties.budget).toBe(12_500_000)
  for (const property of ['kontakt', 'digits', 'wa']) {
    for (const [operator, value] of [
      ['gt', 1],
      ['lte', '999999999999999'],
    ] as const) {
      const filter = filterOf(property, operator, value)
      expect([property, operator, (await get('search_contacts', { filter, count_only: true })).total]).toEqual([
        property,
        operator,
        0,
      ])
    }
    const args = { entity: 'contacts', group_by: 'country', metric: 'max', metric_field: property }
    expect([property, (await get('aggregate', args)).buckets]).toEqual([property, [{ key: null }]])
  }
  const filter = filterOf('budget', 'gt', 12_000_000)
  expect((await get('search_contacts', { filter, count_only: true })).total).toBe(1)
  const args = { entity: 'contacts', group_by: 'country', metric: 'max', metric_field: 'budget' }
  expect((await get('aggregate', args)).buckets).toEqual([{ key: null, value: 12_500_000 }])
})

test('a filter may compare hidden values with 50 candidates at most, however it lists them', async () => {
  const phones = Array.from({ length: 51 }, (_, index) => `+49 30 ${1_000_000 + index}`)
  const single = phones.map((value) => ({ property: 'phone', operator: 'equals', value }))
  const filters = [
    filterOf('phone', 'in', phones),
    filterOf('phone', 'not_in', phones),
    { match: 'any', conditions: [...filterOf('phone', 'in', phones.slice(1)).conditions, single[0]] },
    {
      match: 'any',
      conditions: [
        { match: 'any', conditions: single.slice(0, 26) },
        ...filterOf('phone', 'in', phones.slice(0, 25)).conditions,
      ],
    },
  ]
  for (const filter of filters) {
    for (const name of ['search_contacts', 'preview_segment']) {
      expect([name, (await use(name, { filter })).error]).toEqual([name, expect.stringMatching(/^hidden_property: /)])
    }
  }
  expect(await totalOf({ filter: filterOf('phone', 'in', [...phones.slice(2), PHONE]) })).toBe(1)
  expect(await totalOf({ filter: filterOf('jobtitle', 'in', phones) })).toBe(0)
})
