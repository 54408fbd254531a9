import { beforeAll, expect, test } from 'vitest'
import { callMcp, dataOf, expectDeclared, textOf } from '../../test/mcp.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { fitted, listResult } from './results.ts'

const CHARACTERS_MAX = 24_000
/** Six characters each in the text that a model reads. */
const HOSTILE = '<'.repeat(1_500)
const MANY = Array.from({ length: 60 }, (_, index) => index)

let service: TestService
let tenant: TestTenant
let contactId: string
let companyId: string

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const properties = Object.fromEntries(MANY.map((index) => [`field_${index}`, HOSTILE]))
  const { body } = await tenant.call('POST', '/v1/companies', { domain: 'large.example', properties })
  companyId = body.company.company_id
  contactId = await tenant.contact('large@example.com', properties, { company_id: companyId })
  await tenant.call('POST', '/v1/events', {
    events: MANY.map((index) => ({
      event: `${index}${HOSTILE.slice(0, 190)}`,
      email: 'large@example.com',
      url: `https://${tenant.site}/${index}?${'x'.repeat(1_500)}`,
      data: { [`${HOSTILE}${index}`]: { deep: { deeper: { deepest: MANY.map(() => HOSTILE.slice(0, 200)) } } } },
    })),
  })
})

test.each([
  ['get_contact', () => ({ contact_id: contactId, include_sources: true })],
  ['search_contacts', () => ({ fields: MANY.map((index) => `field_${index}`).join() })],
  ['search_companies', () => ({})],
  ['get_company', () => ({ company_id: companyId })],
  ['aggregate', () => ({ entity: 'events', group_by: 'url', limit: 50 })],
  ['event_stats', () => ({})],
  ['describe_schema', () => ({})],
  ['query_events', () => ({ limit: 50 })],
  ['contact_timeline', () => ({ contact_id: contactId, limit: 50 })],
])('the result of %s is bounded, whatever strangers sent', async (name, args) => {
  const { body } = await callMcp(service, await tenant.keyThatSeesAll(), 'tools/call', { name, arguments: args() })
  expect(body.result.isError).toBeUndefined()
  expectDeclared(name, body.result)
  expect(textOf(body.result).length).toBeLessThanOrEqual(CHARACTERS_MAX)
  const { notice: _, ...data } = dataOf(body.result)
  expect(JSON.stringify(data).length).toBeLessThanOrEqual(CHARACTERS_MAX)
  expect(Object.keys(data).length).toBeGreaterThan(1)
})

test('a result that fits stays as it is, and one that does not keeps its own fields', () => {
  const small = { total: 1, rows: [{ a: 'x'.repeat(500) }] }
  expect(fitted(small)).toBe(small)
  const large = fitted({ total: 99, next_cursor: 'p2x1', rows: MANY.map(() => ({ a: { b: ['x'.repeat(900)] } })) })
  expect(large).toMatchObject({ total: 99, next_cursor: 'p2x1', shortened: expect.any(String) })
  const kept = large.rows as unknown[]
  expect(kept[0]).toEqual({ a: { b: [expect.stringMatching(/^x+… \(\d+ more characters\)$/)] } })
})

test('a single row that is too large is shortened, and the list continues after it', () => {
  const rows = [Object.fromEntries(MANY.map((index) => [`field_${index}`, 'x'.repeat(400)])), { field_0: 'small' }]
  const result = listResult('rows', rows, { page: 1, limit: 2 }, 2)
  expect(JSON.stringify(result).length).toBeLessThan(CHARACTERS_MAX)
  expect(result).toMatchObject({ total: 2, rows: [{ shortened: expect.any(String) }], next_cursor: 'p2x1' })
})

test('describe_schema says how much it leaves out', async () => {
  const other = await createTestTenant(service)
  const events = MANY.map((index) => ({ event: `event_${index}`, visitor_id: 'v' }))
  await other.call('POST', '/v1/events', { events })
  const { body } = await callMcp(service, other.key, 'tools/call', { name: 'describe_schema', arguments: {} })
  const described = dataOf(body.result).events
  expect([Object.keys(described.event_types).length, described.more_event_types]).toEqual([50, 10])
})

test('a group_by that nothing has is said, so that a model does not take it for one without values', async () => {
  const warningsOf = async (group_by: string) => {
    const sent = { name: 'aggregate', arguments: { entity: 'events', group_by } }
    const { body } = await callMcp(service, tenant.key, 'tools/call', sent)
    expectDeclared('aggregate', body.result)
    return dataOf(body.result).warnings
  }
  expect(await warningsOf('page')).toEqual([expect.stringMatching(/^No event has the property page\./)])
  expect(await warningsOf('url')).toBeUndefined()
})

test('a filter is shown as it can be sent again, and records without a value have a group of their own', async () => {
  const own = await createTestTenant(service)
  const key = await own.keyThatSeesAll()
  const use = async (name: string, args: object) => {
    const { body } = await callMcp(service, key, 'tools/call', { name, arguments: args })
    expectDeclared(name, body.result)
    return dataOf(body.result)
  }
  const never = { event: {}, operator: 'did_not' }
  const filter = { match: 'all', conditions: [never, { property: 'plan', operator: 'not_equals', value: '' }] }
  const { segment } = await use('create_segment', { name: 'No visits', filter })
  expect(segment.filter).toEqual(filter)
  expect((await use('list_segments', {})).segments[0].filter).toEqual(filter)
  await own.contact('a@example.com', { country: 'France' })
  await own.contact('b@example.com')
  await own.contact('c@example.com')
  const { buckets } = await use('aggregate', { entity: 'contacts', group_by: 'country' })
  expect(buckets).toEqual([
    { key: null, value: 2 },
    { key: 'France', value: 1 },
  ])
})
