import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp } from '../../test/mcp.ts'
import { daysAgo } from '../../test/mcp-workspace.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'

/*
 * An agent from which personal data is hidden must not find a value by its place among values that it wrote itself, by
 * calculating, or by counts that change later than what it sees.
 */

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

// biome-ignore lint/suspicious/noExplicitAny: results of every shape
async function use(name: string, args: object, key = tenant.key): Promise<any> {
  const { body } = await callMcp(service, key, 'tools/call', { name, arguments: args })
  const { isError, content, structuredContent } = body.result
  return isError ? { error: content[0].text as string } : structuredContent
}

describe('a list', () => {
  test.each([
    ['search_contacts', 'email'],
    ['search_contacts', 'firstname'],
    ['search_contacts', 'lastname'],
    // A company may be called like a person, whose name the agent does not see.
    ['search_contacts', 'company'],
    ['search_companies', 'name'],
  ])('of %s cannot be sorted by %s, and the error says what it can be sorted by', async (tool, sort_by) => {
    const { error } = await use(tool, { sort_by })
    expect(error).toMatch(/^hidden_property: .*sort_by: createdate/)
    expect((await use(tool, { sort_by }, await tenant.keyThatSeesAll())).error).toBeUndefined()
  })

  test.each(['search_contacts', 'search_companies'])('of %s can be sorted by time', async (tool) => {
    for (const sort_dir of ['asc', 'desc']) {
      expect((await use(tool, { sort_by: 'createdate', sort_dir })).error).toBeUndefined()
    }
  })
})

test('which of two equal buckets comes first does not tell what a name in them hides', async () => {
  const own = await createTestTenant(service)
  await own.contact('owner@buckets.example', { firstname: 'Xanthe', lastname: 'Vorbis' })
  const ids: string[] = []
  for (const letter of 'AFHMQTWZ') {
    ids.push(
      await own.contact(`${letter}@buckets.example`, { company: `${letter}, not Xanthe Vorbis`, jobtitle: letter }),
    )
  }
  for (const group_by of ['company', 'job_title']) {
    const first: boolean[] = []
    for (const [index, one] of ids.slice(0, -1).entries()) {
      const filters = { contact_ids: [one, ids[index + 1]] }
      const { buckets } = await use('aggregate', { entity: 'contacts', group_by, limit: 1, filters }, own.key)
      first.push(buckets[0].key.startsWith('AFHMQTWZ'[index]))
    }
    expect([group_by, [...new Set(first)].sort()]).toEqual([group_by, [false, true]])
  }
})

describe('numbers of events', () => {
  const PHONE = 491_715_557_788
  let known: string

  beforeAll(async () => {
    known = await tenant.contact('caller@numbers.example', { phone: '+49 171 5557788' })
    const company = await tenant.call('POST', '/v1/companies', { domain: 'numbers.example', name: 'Numbers' })
    await tenant.call('PUT', `/v1/contacts/${known}`, { company_id: company.body.company.company_id })
    const call = (data: object, person: object = { contact_id: known }) => ({
      event: 'call',
      ...person,
      timestamp: daysAgo(1),
      data,
    })
    const events = [
      call({ wa: PHONE, amount: 12_500_000, national: 1_715_557_788, dial: 5_557_000 }),
      call({ wa: 30, amount: 7, national: 4, dial: 8 }),
      call({ wa: 50 }, { visitor_id: 'anonymous-caller' }),
    ]
    expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
  })

  const figure = async (metric: string, metric_field: string, group_by = 'event_type') => {
    const { buckets, error } = await use('aggregate', {
      entity: 'events',
      group_by,
      metric,
      metric_field,
      filters: { event_type: 'call' },
    })
    expect(error).toBeUndefined()
    return buckets.map(({ value }: { value: number }) => value)
  }

  test.each([
    ['wa', { min: 30, max: 50, sum: 80, avg: 40 }],
    ['national', { min: 4, max: 4, sum: 4, avg: 4 }],
  ])('that are phone numbers of the contact under the name %s are left out', async (field, figures) => {
    for (const [metric, value] of Object.entries(figures)) {
      expect([metric, await figure(metric, field)]).toEqual([metric, [value]])
    }
    const ofContact = [field === 'wa' ? 30 : 4]
    expect(await figure('max', field, 'contact_id')).toEqual(ofContact)
    expect(await figure('max', field, 'company_id')).toEqual(ofContact)
  })

  test('that are large but no phone numbers count', async () => {
    expect([await figure('max', 'amount'), await figure('sum', 'amount')]).toEqual([[12_500_000], [12_500_007]])
    expect(await figure('max', 'dial')).toEqual([5_557_000])
    expect(await figure('max', 'amount', 'company_id')).toEqual([12_500_000])
  })

  test('that are negative come before groups that have none', async () => {
    const of = (event: string, data: object) => ({
      event,
      contact_id: known,
      timestamp: daysAgo(1),
      title: 'Balance',
      data,
    })
    const events = [of('pos', { balance: 3 }), of('none', {}), of('neg', { balance: -5 })]
    expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
    const by = { entity: 'events', group_by: 'event_type', metric: 'sum', metric_field: 'balance' }
    const { buckets } = await use('aggregate', { ...by, filters: { title: 'Balance' } })
    expect(buckets.map(({ key }: { key: string }) => key)).toEqual(['pos', 'neg', 'none'])
  })

  test('are all there for a caller who sees personal data', async () => {
    const sent = { entity: 'events', group_by: 'event_type', metric: 'max', metric_field: 'wa' }
    const { body } = await tenant.call('POST', '/v1/aggregate', { ...sent, filters: { event_type: 'call' } })
    expect(body.buckets).toEqual([{ key: 'call', value: PHONE }])
  })
})

describe('a segment that an agent saves', () => {
  const filter = {
    match: 'all',
    conditions: [{ property: 'jobtitle', operator: 'contains', value: 'yseul' }],
  }
  const members = (own: TestTenant, segmentId: string) =>
    own.call('GET', `/v1/segments/${segmentId}`).then(({ body }) => body.segment.contact_count as number)
  const hasMembers = (own: TestTenant, segmentId: string, count: number) =>
    until(async () => {
      const found = await members(own, segmentId)
      if (found !== count) throw new Error(`The segment has ${found} members.`)
    })

  test("does not keep a contact whose text is hidden since the contact's own name is known", async () => {
    const own = await createTestTenant(service)
    const { segment } = await use('create_segment', { name: 'Probe', filter }, own.key)
    const id = await own.contact('aide@segments.example', { jobtitle: 'Yseult, founder' })
    await hasMembers(own, segment.segment_id, 1)
    await own.call('PUT', `/v1/contacts/${id}`, { properties: { firstname: 'Yseult' } })
    await hasMembers(own, segment.segment_id, 0)
  })

  test("does not keep a contact whose text is hidden since another contact's name is known", async () => {
    const own = await createTestTenant(service)
    const { segment } = await use('create_segment', { name: 'Probe', filter }, own.key)
    await own.contact('aide@segments.example', { jobtitle: 'Aide of Yseult Ombrage' })
    await hasMembers(own, segment.segment_id, 1)
    await own.contact('yseult@segments.example', { firstname: 'Yseult', lastname: 'Ombrage' })
    // As if a quarter of an hour had passed.
    await own.handle.db
      .updateTable('segments')
      .set({ evaluated_at: sql`evaluated_at - interval '15 minutes'` })
      .execute()
    await hasMembers(own, segment.segment_id, 0)
  })
})

test('a key that may only write segments learns no counts of contacts or of events', async () => {
  const filter = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'FR' }] }
  const ofEvents = { match: 'all', conditions: [{ event: { type: 'call' }, operator: 'did' }] }
  const within = (levels: number): object =>
    levels === 1 ? ofEvents : { match: 'any', conditions: [within(levels - 1)] }
  const nested = within(5)
  const created = await tenant.call('POST', '/v1/segments', { name: 'France', filter })
  const path = `/v1/segments/${created.body.segment.segment_id}`
  const writer = await tenant.keyWith('segments:write')
  const withContacts = await tenant.keyWith('segments:read', 'segments:write', 'contacts:read')
  for (const [method, at, body, lack, key] of [
    ['POST', '/v1/segments', { name: 'Probe', filter }, 'contacts:read', writer],
    ['PATCH', path, { filter: ofEvents }, 'contacts:read', writer],
    ['PATCH', path, { name: 'Other' }, 'contacts:read', writer],
    ['POST', '/v1/segments', { name: 'Probe', filter: ofEvents }, 'events:read', withContacts],
    ['POST', '/v1/segments', { name: 'Probe', filter: nested }, 'events:read', withContacts],
    ['PATCH', path, { filter: nested }, 'events:read', withContacts],
    ['POST', '/v1/segments/preview', { filter: nested }, 'events:read', withContacts],
  ] as const) {
    const refused = await tenant.call(method, at, body, key)
    expect([method, at, refused.status, refused.body.error?.code]).toEqual([method, at, 403, 'insufficient_scope'])
    expect(refused.body.error.message).toContain(lack)
  }
  expect((await tenant.call('POST', '/v1/segments', { name: 'Probe', filter }, withContacts)).status).toBe(201)
  const { body } = await callMcp(service, await tenant.keyWith('segments:write'), 'tools/list', {})
  expect(body.result.tools.map(({ name }: { name: string }) => name)).not.toContain('create_segment')
})
