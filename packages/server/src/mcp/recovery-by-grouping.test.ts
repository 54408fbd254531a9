import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp } from '../../test/mcp.ts'
import { daysAgo } from '../../test/mcp-workspace.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

/*
 * An agent from which personal data is hidden must not read a value as the key of a group, however it names the property.
 */

let service: TestService
let tenant: TestTenant
let ada: string

const PHONE = 491_715_557_788
const SALARY = 84_321

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  await tenant.call('PATCH', '/v1/tenant', { personal_properties: ['salary'] })
  const { body } = await tenant.call('POST', '/v1/companies', {
    name: 'Engines',
    domain: 'engines.example',
    properties: { salary: SALARY, phone: '+49 30 5550101' },
  })
  const { company_id } = body.company
  const properties = {
    ...{ firstname: 'Zorblax', lastname: 'Quintörp', phone: '+49 171 5557788', salary: SALARY },
    ...{ wa: PHONE, digits: String(PHONE), spelled: '0171 / 555 77 88', reachable: [PHONE, 'by mail'], plan: 'pro' },
  }
  ada = await tenant.contact('zorblax@mailtoken.example', properties, { company_id })
  const data = {
    ...{ wa: PHONE, digits: String(PHONE), spelled: '0171 / 555 77 88', caller: { wa: PHONE }, plan: 'pro' },
    ...{ salary: SALARY, order: { salary: SALARY, email: 'zorblax@mailtoken.example' }, who: 'Zorblax Quintörp' },
    ...{ address: { floor: 'Penthouse 9' }, user: { plan: 'team' }, list: [PHONE, 'x'] },
  }
  const event = { event: 'call', contact_id: ada, timestamp: daysAgo(1), data }
  expect((await tenant.call('POST', '/v1/events', { events: [event] })).status).toBe(200)
})

// biome-ignore lint/suspicious/noExplicitAny: results of every shape
async function use(args: object, key = tenant.key, name = 'aggregate'): Promise<any> {
  const { body } = await callMcp(service, key, 'tools/call', { name, arguments: args })
  const { isError, content, structuredContent } = body.result
  return isError ? { error: content[0].text as string } : structuredContent
}

async function keysOf(entity: string, group_by: string, key = tenant.key): Promise<unknown[]> {
  const filters = entity === 'events' ? { event_type: 'call' } : {}
  const { buckets, error } = await use({ entity, group_by, filters }, key)
  expect(error).toBeUndefined()
  return buckets.map((bucket: { key: unknown }) => bucket.key)
}

/** The values by which insights break down the same events. */
async function valuesOf(name: string, key = tenant.key): Promise<unknown[]> {
  const breakdown = [name, 'event']
  const trend = { series: [{ event: 'call' }], breakdown }
  const { answer } = await use({ kind: 'trend', question: trend }, key, 'run_insight')
  const window = { value: 1, unit: 'day' }
  const funnel = { steps: [{ event: 'call' }, { event: 'call' }], window, breakdown }
  const { answer: other } = await use({ kind: 'funnel', question: funnel }, key, 'run_insight')
  const valuesIn = (parts: { breakdown: unknown[] }[]) =>
    parts.map((part) => {
      expect(part.breakdown[1]).toBe('call')
      return part.breakdown[0]
    })
  expect(valuesIn(other.groups)).toEqual(valuesIn(answer.series))
  return valuesIn(answer.series)
}

describe.each([
  ['contacts', ['wa', 'digits', 'spelled', 'properties.wa', 'properties.digits']],
  [
    'events',
    ['data.wa', 'data.digits', 'data.spelled', 'data.caller', 'data.caller.wa', 'contact.wa', 'contact.digits'],
  ],
])('of %s', (entity, names) => {
  test.each(names)('%s shows no phone number of the contact', async (name) => {
    expect(await keysOf(entity, name)).toEqual([null])
    expect(await keysOf(entity, name, await tenant.keyThatSeesAll())).not.toEqual([null])
    if (entity !== 'events') return
    expect(await valuesOf(name)).toEqual([null])
    expect(await valuesOf(name, await tenant.keyThatSeesAll())).not.toEqual([null])
  })
})

test('a list shows what else is in it', async () => {
  expect(await keysOf('contacts', 'reachable')).toEqual(['by mail'])
  expect(await keysOf('events', 'contact.reachable')).toEqual(['by mail'])
  expect(await keysOf('events', 'data.list')).toEqual(['x'])
})

describe.each([
  ['contacts', ['salary', 'properties.salary', 'company.salary', 'company.properties.salary', 'firstname', 'email']],
  ['contacts', ['properties.phone', 'company.phone']],
  ['companies', ['salary', 'properties.salary', 'phone']],
  ['events', ['data.salary', 'data.order.salary', 'data.order.email', 'data.who']],
  [
    'events',
    ['data.address.floor', 'contact.salary', 'contact.properties.salary', 'contact.email', 'contact.lastname'],
  ],
  ['events', ['company.salary', 'company.properties.phone']],
])('of %s', (entity, names) => {
  test.each(names)('%s shows a pseudonym', async (name) => {
    const keys = await keysOf(entity, name)
    if (entity === 'events') expect(await valuesOf(name)).toEqual(keys)
    const shown = JSON.stringify(keys)
    expect(shown).not.toMatch(/84321|Zorblax|Quintörp|mailtoken|5557788|5550101|Penthouse/)
    expect(shown).not.toBe('[null]')
  })
})

test('what is not personal is legible, with its type', async () => {
  expect(await keysOf('contacts', 'plan')).toEqual(['pro'])
  expect(await keysOf('contacts', 'company.name')).toEqual(['Engines'])
  expect(await keysOf('companies', 'contact_count')).toEqual([1])
  expect(await keysOf('events', 'data.plan')).toEqual(['pro'])
  expect(await keysOf('events', 'data.user.plan')).toEqual(['team'])
  expect(await keysOf('events', 'company.name')).toEqual(['Engines'])
  for (const name of ['data.plan', 'data.user.plan', 'data.list', 'contact.plan', 'company.name']) {
    expect(await valuesOf(name)).toEqual(await keysOf('events', name))
  }
})

test.each([
  ['contacts', 'properties.salary'],
  ['contacts', 'company.salary'],
  ['companies', 'properties.salary'],
  ['events', 'data.salary'],
  ['events', 'data.order.salary'],
])('numbers of %s under %s are not added up', async (entity, metric_field) => {
  for (const metric of ['sum', 'median', 'p90']) {
    const { error } = await use({ entity, group_by: 'plan', metric, metric_field })
    expect(error).toMatch(/^hidden_property: /)
  }
})

test('phone numbers are no numbers, and people can be counted', async () => {
  const of = (args: object) =>
    use({ entity: 'events', group_by: 'data.plan', filters: { event_type: 'call' }, ...args })
  expect((await of({ metric: 'median', metric_field: 'data.wa' })).buckets).toEqual([{ key: 'pro' }])
  expect((await of({ metric: 'unique_people' })).buckets).toEqual([{ key: 'pro', value: 1 }])
})
