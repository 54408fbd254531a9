import { beforeAll, expect, test } from 'vitest'
import { callMcp, expectDeclared, textOf } from '../../test/mcp.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let keyThatSeesAll: string
let contactId: string

const QUESTION = { series: [{ event: 'signup', metric: 'unique_people' }], last: { value: 2, unit: 'day' } }

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  keyThatSeesAll = await tenant.keyThatSeesAll()
  contactId = await tenant.contact('ada@example.com', { plan: 'pro', phone: '+49 171 5550123' })
  const events = [
    { event: 'signup', email: 'ada@example.com', data: { plan: 'pro' } },
    { event: 'signup', email: 'bob@example.com', data: { plan: 'free' } },
  ]
  expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
})

async function use(name: string, args: object, key = tenant.key) {
  const { body } = await callMcp(service, key, 'tools/call', { name, arguments: args })
  expectDeclared(name, body.result)
  return body.result
}

const save = async (question: object) =>
  (await tenant.call('POST', '/v1/reports', { name: 'Signups', kind: 'trend', question })).body.report.report_id

test('an answer is that of the operation', async () => {
  const question = { ...QUESTION, breakdown: ['event'] }
  const { structuredContent } = await use('run_insight', { kind: 'trend', question }, keyThatSeesAll)
  const { body } = await tenant.call('POST', '/v1/insights/trend', question)
  expect({ status: 'success', ...structuredContent.answer }).toEqual(body)
  expect(structuredContent.answer.series[0].total).toBe(2)
})

test('reports are listed by name, and have their answers', async () => {
  const report_id = await save(QUESTION)
  await tenant.call('POST', '/v1/reports', { name: 'Other', kind: 'trend', question: QUESTION })
  const { structuredContent: listed } = await use('list_reports', { query: 'SIGN' })
  expect(listed).toMatchObject({ total: 1, reports: [{ report_id, name: 'Signups', kind: 'trend' }] })
  const { structuredContent: got } = await use('get_report', { report_id })
  expect(got).toMatchObject({ report: { report_id, question: QUESTION }, answer: { series: [{ total: 2 }] } })
})

test('a misspelled property is a warning', async () => {
  const where = [{ property: 'data.plam', operator: 'is_set' }]
  const { structuredContent } = await use('run_insight', { kind: 'trend', question: { ...QUESTION, where } })
  expect(structuredContent.warnings.join()).toContain('data.plan')
})

test.each([
  [{ series: [{ metric: 'sum' }] }, 'series[0].property'],
  [{ series: [{ where: [{ property: 'country', operator: 'is' }] }] }, 'series[0].where[0].operator'],
  [{ colour: 'red' }, 'colour'],
])('the question %j is an error that names %s', async (wrong, path) => {
  const result = await use('run_insight', { kind: 'trend', question: { ...QUESTION, ...wrong } })
  expect(result.isError).toBe(true)
  expect(textOf(result)).toContain(path)
})

test.each([
  ['an order', { property: 'contact.phone', operator: 'gt', value: '+4' }],
  ['a part', { property: 'contact.email', operator: 'starts_with', value: 'a' }],
  ['an order of data', { property: 'data.email', operator: 'gt', value: 1 }],
])('%s of a hidden value is refused, at any depth, and allowed to who may see it', async (_, condition) => {
  const nested = { match: 'any', conditions: [condition] }
  for (const question of [
    { ...QUESTION, where: [condition] },
    { ...QUESTION, series: [{ where: [nested] }] },
  ]) {
    const refused = await use('run_insight', { kind: 'trend', question })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toContain('hidden_property')
  }
  const insight = { insight: 'trend', question: { ...QUESTION, where: [condition] }, at: { series: 'A' } }
  for (const inFilter of [{ event: { type: 'signup', where: [nested] } }, insight]) {
    const filter = { match: 'all', conditions: [{ ...inFilter, operator: 'did' }] }
    expect(textOf(await use('search_contacts', { filter }))).toContain('hidden_property')
  }
  const seen = await use(
    'run_insight',
    { kind: 'trend', question: { ...QUESTION, where: [condition] } },
    keyThatSeesAll,
  )
  expect(seen.isError).toBeFalsy()
})

test('a pseudonym is refused, and a list of candidates is limited', async () => {
  const ask = (value: unknown, operator: string) => {
    const where = [{ property: 'contact.phone', operator, value }]
    return use('run_insight', { kind: 'trend', question: { ...QUESTION, where } })
  }
  expect(textOf(await ask(`phone:${contactId}`, 'equals'))).toContain('pseudonym_not_allowed')
  const many = Array.from({ length: 51 }, (_, n) => `+49 171 55501${n}`)
  expect(textOf(await ask(many, 'in'))).toContain('hidden_property')
})

test('a city is not a filter for who may not see it', async () => {
  const at = { list: 'city', value: 'Bielefeld' }
  const ofCity = { kind: 'web', question: { lists: ['city'], visit: [at] } }
  const country = { list: 'country', value: 'DE' }
  for (const [name, args] of [
    ['run_insight', ofCity],
    ['insight_people', { ...ofCity, at: {} }],
    ['insight_people', { kind: 'web', question: {}, at }],
  ] as const) {
    expect(textOf(await use(name, args))).toContain('hidden_property')
    expect((await use(name, args, keyThatSeesAll)).isError).toBeFalsy()
  }
  const shown = await use('insight_people', { kind: 'web', question: { visit: [country] }, at: country })
  expect(shown.isError).toBeFalsy()
})

test('a report compares only what an AI agent sees, whoever saved it', async () => {
  const where = [{ property: 'contact.email', operator: 'starts_with', value: 'ada@' }]
  const report_id = await save({ ...QUESTION, where })
  const seen = await use('get_report', { report_id }, keyThatSeesAll)
  expect(seen.structuredContent.answer.series[0].total).toBe(1)
  const hidden = await use('get_report', { report_id })
  expect(hidden.structuredContent.answer.series[0].total).toBe(0)
  expect(JSON.stringify(hidden)).not.toContain('ada@')
})

test('conditions on contacts need their scope, and a stranger finds no report', async () => {
  const where = [{ property: 'contact.plan', operator: 'equals', value: 'pro' }]
  const key = await tenant.keyWith('events:read')
  const refused = await use('run_insight', { kind: 'trend', question: { ...QUESTION, where } }, key)
  expect(textOf(refused)).toContain('insufficient_scope')
  const stranger = await createTestTenant(service)
  const { isError } = await use('get_report', { report_id: await save(QUESTION) }, stranger.key)
  expect(isError).toBe(true)
})

test('whoever is behind a number can be listed, and those who did most first', async () => {
  const at = { series: 'A' }
  const { structuredContent: behind } = await use('insight_people', { kind: 'trend', question: QUESTION, at })
  expect(behind).toMatchObject({ contacts: 2, anonymous: 0 })
  const events = [{ event: 'signup', email: 'bob@example.com', data: { plan: 'free' } }]
  expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
  const { structuredContent: listed } = await use('search_contacts', { filter: behind.filter })
  expect(listed.total).toBe(2)
  const most = { entity: 'events', group_by: 'contact_id', people: behind.filter }
  const { structuredContent: active } = await use('aggregate', most)
  expect(active.buckets.map(({ value }: { value: number }) => value)).toEqual([2, 1])
  expect(active.buckets[1].key).toBe(contactId)
  expect(JSON.stringify(active)).not.toContain('@example.com')
})
