import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

const is = (property: string, value: unknown, operator = 'equals') => ({ property, operator, value })
const aggregate = (body: object, key?: string) => tenant.call('POST', '/v1/aggregate', body, key)
async function bucketsOf(body: object): Promise<[unknown, unknown][]> {
  const { status, body: answer } = await aggregate(body)
  expect([status, answer.error]).toEqual([200, undefined])
  return answer.buckets.map(({ key, value }: { key: unknown; value: unknown }) => [key, value])
}

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const company = { name: 'Alpha', domain: 'alpha.example', properties: { industry: 'Steel', size: 5 } }
  const { company_id } = (await tenant.call('POST', '/v1/companies', company)).body.company
  await tenant.call('POST', '/v1/companies', { name: 'Beta', domain: 'beta.example', properties: { industry: 'Wool' } })
  const create = async (name: string, more: object) =>
    (await tenant.call('POST', '/v1/contacts', { email: `${name}@example.com`, ...more })).body.contact.contact_id
  const ann = await create('ann', { company_id, properties: { city: 'Rome', plan: 'pro' } })
  const bob = await create('bob', { properties: { city: 'Rome' } })
  const event = (contact_id: string, name: string, data: object) => ({ contact_id, event: name, data })
  const events = [
    event(ann, 'paid', { amount: 0.1, currency: 'EUR' }),
    event(ann, 'paid', { amount: 0.2, currency: 'EUR' }),
    event(bob, 'paid', { amount: 7, currency: 'USD' }),
    event(bob, 'opened', {}),
  ]
  expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
})

test('events, contacts and companies are grouped among those that meet conditions', async () => {
  const paid = { entity: 'events', group_by: 'event_type' }
  expect(await bucketsOf({ ...paid, where: [is('data.currency', 'EUR')] })).toEqual([['paid', 2]])
  const sum = { metric: 'sum', metric_field: 'amount' }
  expect(await bucketsOf({ ...paid, ...sum, where: [is('contact.plan', 'pro')] })).toEqual([['paid', 0.3]])
  expect(await bucketsOf({ ...paid, where: [is('company.industry', 'Steel', 'not_equals')] })).toEqual([
    ['opened', 1],
    ['paid', 1],
  ])
  const contacts = { entity: 'contacts', group_by: 'city' }
  const rich = {
    event: { measure: { function: 'sum', property: 'data.amount', operator: 'gt', value: 1 } },
    operator: 'did',
  }
  expect(await bucketsOf({ ...contacts, where: [rich] })).toEqual([['Rome', 1]])
  expect(await bucketsOf({ ...contacts, where: [is('company.size', 5, 'lte')] })).toEqual([['Rome', 1]])
  const companies = { entity: 'companies', group_by: 'industry' }
  expect(await bucketsOf({ ...companies, where: [is('name', 'b', 'starts_with')] })).toEqual([['Wool', 1]])
})

test('events are those of some people, anonymous ones left out', async () => {
  const byEvent = { entity: 'events', group_by: 'event_type' }
  const pro = { match: 'all', conditions: [is('plan', 'pro')] }
  expect(await bucketsOf({ ...byEvent, people: pro })).toEqual([['paid', 2]])
  const opened = { match: 'all', conditions: [{ event: { type: 'opened' }, operator: 'did' }] }
  expect(await bucketsOf({ ...byEvent, people: opened, where: [is('event_type', 'paid')] })).toEqual([['paid', 1]])
  expect(await bucketsOf({ ...byEvent, people: { match: 'all', conditions: [is('plan', 'none')] } })).toEqual([])
  const insight = {
    insight: 'funnel',
    question: { steps: [{ event: 'paid' }, { event: 'opened' }], window: { value: 1, unit: 'day' } },
    at: { step: 1, dropped: true },
    operator: 'did',
  }
  const most = { entity: 'events', group_by: 'contact_id', people: { match: 'all', conditions: [insight] } }
  expect((await aggregate(most)).body.buckets).toMatchObject([{ value: 2, contact: { email: 'ann@example.com' } }])
  const wrong = await aggregate({ ...byEvent, people: { match: 'some' } })
  expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'people.match'])
  expect((await aggregate({ entity: 'contacts', group_by: 'city', people: pro })).status).toBe(400)
  const key = await tenant.keyWith('events:read')
  expect((await aggregate({ ...byEvent, people: pro }, key)).status).toBe(403)
})

test('a name that nothing has is told, with the nearest one, wherever conditions are sent', async () => {
  const where = [is('data.curency', 'EUR')]
  const { body } = await aggregate({ entity: 'events', group_by: 'event_type', where })
  expect(body).toMatchObject({ buckets: [], total: 0 })
  expect(body.warnings.join()).toMatch(/data\.curency.*Did you mean .*data\.currency/)
  const filter = {
    match: 'all',
    conditions: [is('company.industri', 'Steel'), { event: { where }, operator: 'did_not' }],
  }
  const query = encodeURIComponent(JSON.stringify(filter))
  const answers = [
    await tenant.call('POST', '/v1/segments', { name: 'Misspelt', filter }),
    await tenant.call('POST', '/v1/segments/preview', { filter }),
    await tenant.call('GET', `/v1/contacts?filter=${query}`),
  ]
  for (const { body: answer } of answers) {
    expect(answer.warnings.join()).toMatch(/Did you mean .*company\.industry/)
    expect(answer.warnings.join()).toMatch(/Did you mean .*data\.currency/)
  }
  const ofEvents = encodeURIComponent(JSON.stringify({ match: 'all', conditions: where }))
  const { body: listed } = await tenant.call('GET', `/v1/events?filter=${ofEvents}`)
  expect(listed.warnings.join()).toMatch(/data\.currency/)
  const people = { match: 'all', conditions: [is('plann', 'pro')] }
  const ofPeople = [
    await aggregate({ entity: 'events', group_by: 'event_type', people }),
    await tenant.call('POST', '/v1/insights/trend', { series: [{}], people }),
  ]
  for (const { body: answer } of ofPeople) expect(answer.warnings.join()).toMatch(/Did you mean .*plan/)
  const known = await aggregate({ entity: 'events', group_by: 'event_type', where: [is('data.currency', 'GBP')] })
  expect(known.body.warnings).toBeUndefined()
})

test('conditions on contacts or events need their scopes', async () => {
  const [events, contacts] = [await tenant.keyWith('events:read'), await tenant.keyWith('contacts:read')]
  const ofContact = { entity: 'events', group_by: 'event_type', where: [is('contact.plan', 'pro')] }
  expect((await aggregate(ofContact, events)).status).toBe(403)
  const ofEvents = { entity: 'contacts', group_by: 'city', where: [{ event: {}, operator: 'did' }] }
  expect((await aggregate(ofEvents, contacts)).status).toBe(403)
})

test.each([
  ['events', { match: 'all', conditions: [] }, 'where'],
  ['events', [{ event: {}, operator: 'did' }], 'where[0]'],
  ['contacts', [{ property: 'city', operator: 'is' }], 'where[0].operator'],
  ['companies', [{ property: 'contact_count', operator: 'contains', value: '1' }], 'where[0].operator'],
])('of %s, %j is refused', async (entity, where, path) => {
  const { status, body } = await aggregate({ entity, group_by: 'country', where })
  expect([status, body.error.details[0].path]).toEqual([400, path])
})
