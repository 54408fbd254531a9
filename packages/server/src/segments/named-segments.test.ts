import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const is = (property: string, value: unknown, operator = 'equals') => ({ property, operator, value })
const all = (...conditions: object[]) => ({ match: 'all', conditions })

const send = (name: string, ...conditions: object[]) =>
  tenant.call('POST', '/v1/segments', { name, filter: all(...conditions) })
async function define(name: string, ...conditions: object[]): Promise<string> {
  const { status, body } = await send(name, ...conditions)
  expect([status, body.error]).toEqual([201, undefined])
  return body.segment.segment_id
}
async function membersOf(segmentId: string): Promise<string[] | null> {
  const { body } = await tenant.call('GET', `/v1/segments/${segmentId}/contacts?limit=100`)
  if (body.counting) return null
  return body.contacts.map((each: { properties: { email: string } }) => each.properties.email.split('@')[0]).sort()
}
/** Memberships follow within seconds. */
const eventually = (segmentId: string, members: string[]) =>
  expect.poll(() => membersOf(segmentId), { interval: 100, timeout: 60_000 }).toEqual(members)
const person = (name: string, more: Record<string, unknown> = {}) =>
  tenant.contact(`${name}@example.com`, more, { visitor_id: `${tenant.id}-${name}` })
const act = (name: string, event: string, data: object = {}) =>
  tenant.call('POST', '/v1/events', { events: [{ visitor_id: `${tenant.id}-${name}`, event, data }] })

describe('segments that name others', () => {
  test('follow what their members do, and what the other segment becomes', async () => {
    await person('ann', { city: 'Rome' })
    await person('bob', { city: 'Oslo' })
    const buyers = await define('Buyers', { event: { type: 'order_paid' }, operator: 'did' })
    const romans = await define('Romans', is('city', 'Rome'))
    const both = await define(
      'Buyers in Rome',
      is('segment', [buyers], 'in'),
      is('segment', [romans.toUpperCase()], 'in'),
    )
    const others = await define('Others', is('segment', [buyers, romans], 'not_in'))
    await eventually(both, [])
    await eventually(others, ['bob'])
    await act('ann', 'order_paid')
    await act('bob', 'order_paid')
    await eventually(both, ['ann'])
    await eventually(others, [])
    await tenant.call('PATCH', `/v1/segments/${buyers}`, {
      filter: all({ event: { type: 'refund' }, operator: 'did' }),
    })
    await eventually(both, [])
    await eventually(others, ['bob'])
    const { body } = await tenant.call('GET', `/v1/segments/${both}`)
    expect(body.segment.filter.conditions[0]).toEqual(is('segment', [buyers], 'in'))
  })

  test('never lead back to themselves, and are not deleted while others need them', async () => {
    const a = await define('A', is('city', 'Rome'))
    const b = await define('B', is('segment', [a], 'in'))
    const c = await define('C', { match: 'any', conditions: [is('segment', [b], 'not_in')] })
    for (const named of [a, b, c]) {
      const changed = await tenant.call('PATCH', `/v1/segments/${a}`, { filter: all(is('segment', [named], 'in')) })
      expect([changed.status, changed.body.error.code]).toEqual([400, 'segment_circle'])
    }
    const deleted = await tenant.call('DELETE', `/v1/segments/${a}`)
    expect([deleted.status, deleted.body.error.code]).toEqual([409, 'segment_in_use'])
    expect(deleted.body.error.message).toMatch(/“[BC]” uses this one/)
    for (const id of [c, b, a]) expect((await tenant.call('DELETE', `/v1/segments/${id}`)).status).toBe(200)
  })

  test('of another tenant, or of nobody, are unknown wherever a filter is sent', async () => {
    const stranger = await createTestTenant(service)
    const foreign = await stranger.call('POST', '/v1/segments', { name: 'S', filter: all() })
    for (const id of [foreign.body.segment.segment_id, newId()]) {
      const filter = all(is('segment', [id], 'in'))
      const inQuery = encodeURIComponent(JSON.stringify(filter))
      const answers = [
        await send('X', is('segment', [id], 'in')),
        await tenant.call('POST', '/v1/segments/preview', { filter }),
        await tenant.call('GET', `/v1/contacts?filter=${inQuery}`),
      ]
      for (const { status, body } of answers) expect([status, body.error.code]).toEqual([400, 'unknown_segment'])
    }
    const { status, body } = await send('X', is('segment', ['nonsense'], 'in'))
    expect([status, body.error.details[0].path]).toEqual([400, 'filter.conditions[0].value'])
  })
})

describe("the contact's company", () => {
  test('decides membership, also once the company changes', async () => {
    const created = await tenant.call('POST', '/v1/companies', {
      name: 'Alpha',
      domain: 'alpha.example',
      properties: { industry: 'Wool', seats: 5 },
    })
    const { company_id } = created.body.company
    await person('ann', {})
    await tenant.call('POST', '/v1/contacts', { email: 'joe@example.com', company_id })
    const steel = await define('Steel', is('company.industry', 'Steel'))
    const small = await define('Small', is('company.seats', 10, 'lt'), is('company.name', 'alp', 'starts_with'))
    const noSteel = await define('No steel', is('company.industry', 'Steel', 'not_equals'))
    await eventually(steel, [])
    await eventually(small, ['joe'])
    await eventually(noSteel, ['ann', 'joe'])
    await tenant.call('PUT', `/v1/companies/${company_id}`, { properties: { industry: 'Steel', seats: 50 } })
    await eventually(steel, ['joe'])
    await eventually(small, [])
    await eventually(noSteel, ['ann'])
  })
})

describe('conditions about events', () => {
  test('count, measure, order, and look into the data', async () => {
    await person('ann')
    await person('bob')
    await person('eve')
    const spent = { type: 'order_paid', where: [is('data.currency', 'EUR')] }
    const sum = { function: 'sum', property: 'data.amount', operator: 'gte', value: 100 }
    const segments = {
      big: await define('Big', { event: { ...spent, measure: sum }, operator: 'did' }),
      exact: await define('0.3', {
        event: { measure: { function: 'sum', property: 'data.part', operator: 'equals', value: 0.3 } },
        operator: 'did',
      }),
      never: await define('Never', {
        event: { type: 'order_paid', count: { operator: 'equals', value: 0 } },
        operator: 'did',
      }),
      once: await define('At most once', {
        event: { types: ['order_paid'], count: { operator: 'lte', value: 1 } },
        operator: 'did',
      }),
      inOrder: await define('Trial, then order', {
        sequence: [{ type: 'trial' }, { type: 'order_paid' }],
        within: { value: 1, unit: 'hour' },
        operator: 'did',
      }),
    }
    await eventually(segments.never, ['ann', 'bob', 'eve'])
    await act('ann', 'trial')
    await act('ann', 'order_paid', { currency: 'EUR', amount: 60, part: 0.1 })
    await act('ann', 'order_paid', { currency: 'EUR', amount: '40', part: 0.2 })
    await act('bob', 'order_paid', { currency: 'USD', amount: 500 })
    await act('bob', 'trial')
    await eventually(segments.big, ['ann'])
    await eventually(segments.exact, ['ann'])
    await eventually(segments.never, ['eve'])
    await eventually(segments.once, ['bob', 'eve'])
    await eventually(segments.inOrder, ['ann'])
  })

  test('follow one another in the order that serves, if they are of the same time', async () => {
    const within = { value: 1, unit: 'hour' }
    const [a, b, c] = [{ type: 'a' }, { type: 'b' }, { type: 'c' }]
    const repeats = await define('a or c, b, c', { sequence: [{ types: ['a', 'c'] }, b, c], within, operator: 'did' })
    const twice = await define('a, a or b, b', { sequence: [a, { types: ['a', 'b'] }, b], within, operator: 'did' })
    const at = (name: string, ...sent: [minute: number, event: string][]) =>
      tenant.call('POST', '/v1/events', {
        events: sent.map(([minute, event]) => ({
          ...{ visitor_id: `${tenant.id}-${name}`, event },
          timestamp: new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString(),
        })),
      })
    for (const name of ['ann', 'bob', 'eve']) await person(name)
    // Of the events at minute 1, b has to come before c, which is the first step, too.
    await at('ann', [0, 'a'], [1, 'c'], [1, 'b'])
    await at('bob', [0, 'a'], [0, 'b'])
    await at('eve', [0, 'b'], [0, 'a'], [0, 'b'])
    await eventually(repeats, ['ann'])
    await eventually(twice, ['eve'])
  })

  test('of their contact, as conditions of the contact itself', async () => {
    await person('ann', { plan: 'pro' })
    await person('bob', { plan: 'free' })
    const where = [is('contact.plan', 'pro')]
    const pro = await define('Pro', { event: { type: 'open', where }, operator: 'did' })
    const notPro = await define('Not pro', { event: { type: 'open', where }, operator: 'did_not' })
    await act('ann', 'open')
    await act('bob', 'open')
    await eventually(pro, ['ann'])
    await eventually(notPro, ['bob'])
  })
})

test('a date alone in a filter is a day in the time zone of the tenant, also once that changes', async () => {
  await person('ann', { renews: '2026-05-01T23:30:00Z' })
  const until = await define('Renewed by May 1', is('renews', '2026-05-01', 'before'))
  await eventually(until, ['ann'])
  await tenant.call('PATCH', '/v1/tenant', { time_zone: 'Europe/Berlin' })
  await eventually(until, [])
  await tenant.call('PATCH', '/v1/tenant', { time_zone: 'America/New_York' })
  await eventually(until, ['ann'])
})

test.each([
  [{ event: { min_count: 1, count: { operator: 'gt', value: 1 } }, operator: 'did' }, 'conditions[0].event.count'],
  [{ event: { count: { operator: 'gt', value: -1 } }, operator: 'did' }, 'conditions[0].event.count'],
  [
    { event: { measure: { function: 'mean', property: 'data.x', operator: 'gt', value: 1 } }, operator: 'did' },
    'conditions[0].event.measure.function',
  ],
  [
    { event: { measure: { function: 'sum', property: 'data.x', operator: 'contains', value: 'x' } }, operator: 'did' },
    'conditions[0].event.measure.operator',
  ],
  [
    { event: { measure: { function: 'sum', property: 'data.x', operator: 'equals', value: 'x' } }, operator: 'did' },
    'conditions[0].event.measure.value',
  ],
  [{ event: { after: '2026-02-30' }, operator: 'did' }, 'conditions[0].event.after'],
  [{ event: { types: [] }, operator: 'did' }, 'conditions[0].event.types'],
  [{ event: { where: {} }, operator: 'did' }, 'conditions[0].event.where'],
  [
    { event: { where: [{ match: 'any', conditions: [is('contact.x', 1)] }] }, operator: 'did' },
    'conditions[0].event.where[0].conditions[0].property',
  ],
  [
    { event: { where: [is('contact.segment', [newId()], 'in')] }, operator: 'did' },
    'conditions[0].event.where[0].property',
  ],
  [{ sequence: [{}], within: { value: 1, unit: 'day' }, operator: 'did' }, 'conditions[0].sequence'],
  [{ sequence: [{}, {}], within: { value: 1, unit: 'year' }, operator: 'did' }, 'conditions[0].within'],
  [
    { sequence: [{}, { min_count: 2 }], within: { value: 1, unit: 'day' }, operator: 'did' },
    'conditions[0].sequence[1].min_count',
  ],
  [{ sequence: [{}, {}], within: { value: 1, unit: 'day' } }, 'conditions[0].operator'],
  [is('segment', [newId()]), 'conditions[0].operator'],
  [is('company.domain', 5, 'gt'), 'conditions[0].operator'],
])('%j is refused', async (condition, path) => {
  const { status, body } = await send('X', condition)
  expect(status).toBe(400)
  expect(body.error.details[0].path).toBe(`filter.${path}`)
})
