import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time.ts'

let now = new Date('2026-03-02T12:00:00Z')
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

type Condition = Record<string, unknown>

const all = (...conditions: Condition[]) => ({ match: 'all', conditions })
const rule = (points: number, ...conditions: Condition[]) => ({ points, filter: all(...conditions) })
const has = (property: string, value: unknown): Condition => ({ property, operator: 'equals', value })
const did = (event: object): Condition => ({ event, operator: 'did' })
const PRICING = did({ type: 'page_view', url_contains: '/pricing', within_days: 7 })

const create = (score: unknown, name = 'lead_score', entity = 'contacts') =>
  tenant.call('POST', '/v1/computed-properties', { name, entity, score })

async function define(score: unknown, name = 'lead_score', entity = 'contacts'): Promise<string> {
  const { status, body } = await create(score, name, entity)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.computed_property.computed_property_id
}

const view = (visitor_id: string, path = '/pricing') =>
  tenant.track({ visitor_id, events: [{ event: 'page_view', url: `https://${tenant.site}${path}` }] })
const contactOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include=scores`)).body.contact
const eventually = (read: () => Promise<unknown>, value: unknown) =>
  expect.poll(read, { timeout: 30_000, interval: 200 }).toEqual(value)
const follows = (id: string, value: number, name = 'lead_score') =>
  eventually(async () => (await contactOf(id)).properties[name], value)

describe('a score', () => {
  test('is filled in for everybody, and says its reasons', async () => {
    const ada = await tenant.contact('ada@example.com', { jobtitle: 'Head of Growth' }, { visitor_id: 'v' })
    const bob = await tenant.contact('bob@example.com')
    await view('v')
    const segment = { name: 'Heads', filter: all({ property: 'jobtitle', operator: 'contains', value: 'head' }) }
    const { segment_id: id } = (await tenant.call('POST', '/v1/segments', segment)).body.segment
    await define([
      rule(20, PRICING),
      rule(15, { property: 'segment', operator: 'in', value: [id] }),
      rule(-5, has('country', 'France')),
    ])
    await follows(ada, 35)
    await follows(bob, 0)
    const scores = {
      lead_score: {
        value: 35,
        reasons: [
          { points: 20, text: 'Has viewed a page at a URL containing “/pricing” in the last 7 days' },
          { points: 15, text: 'Is in “Heads”' },
        ],
      },
    }
    expect((await contactOf(ada)).scores).toEqual(scores)
    const listed = (await tenant.call('GET', '/v1/contacts?include=scores&fields=email&sort_by=email&sort_dir=asc'))
      .body
    expect(listed.contacts.map((each: { scores: unknown }) => each.scores)).toEqual([
      scores,
      { lead_score: { value: 0, reasons: [] } },
    ])
    expect((await tenant.call('GET', `/v1/contacts/${ada}`)).body.contact.scores).toBeUndefined()
  })

  test('follows events, changes, the company, other scores and segments', async () => {
    const { segment_id: paris } = (
      await tenant.call('POST', '/v1/segments', { name: 'Paris', filter: all(has('city', 'Paris')) })
    ).body.segment
    await define([
      rule(10, PRICING),
      rule(20, has('plan', 'pro')),
      rule(100, has('company.tier', 'gold')),
      rule(1_000, { property: 'segment', operator: 'in', value: [paris] }),
    ])
    await define([rule(1, { property: 'lead_score', operator: 'gte', value: 30 })], 'is_warm')
    const { company_id } = (await tenant.call('POST', '/v1/companies', { domain: 'acme.example' })).body.company
    const ada = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    await follows(ada, 0)
    await view('v')
    await follows(ada, 10)
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { plan: 'pro', city: 'Lyon' }, company_id })
    await follows(ada, 30)
    await follows(ada, 1, 'is_warm')
    await tenant.call('PUT', `/v1/companies/${company_id}`, { properties: { tier: 'gold' } })
    await follows(ada, 130)
    await tenant.call('PATCH', `/v1/segments/${paris}`, { filter: all(has('city', 'Lyon')) })
    await follows(ada, 1_130)
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { city: null } })
    await follows(ada, 130)
    await tenant.call('DELETE', `/v1/companies/${company_id}`)
    await follows(ada, 30)
  })

  test('follows time that passes, and a change of its rules', async () => {
    const ada = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    const id = await define([rule(20, PRICING)])
    await view('v')
    await follows(ada, 20)
    now = new Date(now.getTime() + 7 * DAY_MS - 30_000)
    await expect
      .poll(() => tenant.handle.db.selectFrom('computed_expirations').select('due_at').execute())
      .not.toEqual([])
    await follows(ada, 20)
    now = new Date(now.getTime() + 31_000)
    await follows(ada, 0)
    await tenant.call('PATCH', `/v1/computed-properties/${id}`, { score: [rule(7, has('email', 'ada@example.com'))] })
    await follows(ada, 7)
    await tenant.call('DELETE', `/v1/computed-properties/${id}`)
    await eventually(async () => (await contactOf(ada)).properties.lead_score, undefined)
    expect((await contactOf(ada)).scores).toEqual({})
  })

  test('of a company follows it and the events of its contacts', async () => {
    const { company_id } = (await tenant.call('POST', '/v1/companies', { domain: 'acme.example' })).body.company
    await tenant.contact('ada@acme.example', {}, { visitor_id: 'v', company_id })
    await define([rule(5, has('tier', 'gold')), rule(9, PRICING)], 'fit', 'companies')
    const fit = async () => (await tenant.call('GET', `/v1/companies/${company_id}`)).body.company.properties.fit
    await eventually(fit, 0)
    await tenant.call('PUT', `/v1/companies/${company_id}`, { properties: { tier: 'gold' } })
    await eventually(fit, 5)
    await view('v')
    await eventually(fit, 14)
    now = new Date(now.getTime() + 8 * DAY_MS)
    await eventually(fit, 5)
  })
})

describe('rules are refused', () => {
  const refusal = async (score: unknown, name?: string, entity?: string) => {
    const { status, body } = await create(score, name, entity)
    return [status, body.error?.code, body.error?.details?.map(({ path }: { path: string }) => path)]
  }

  test.each<[string, unknown[], string]>([
    ['more than 20', Array.from({ length: 21 }, () => rule(1, PRICING)), 'score'],
    ['none', [], 'score'],
    ['too many points', [rule(1_001, PRICING)], 'score[0].points'],
    ['half a point', [rule(0.5, PRICING)], 'score[0].points'],
    [
      'an unknown operator',
      [rule(1, PRICING), rule(1, { ...has('plan', 'pro'), operator: 'resembles' })],
      'score[1].filter.conditions[0].operator',
    ],
    ['the score itself', [rule(1, { property: 'lead_score', operator: 'gte', value: 5 })], 'score[0].filter'],
    [
      'the people of an insight',
      [
        rule(1, {
          insight: 'trend',
          question: { last: { value: 1, unit: 'day' }, interval: 'day', series: [{ metric: 'count' }] },
          at: { series: 'A' },
          operator: 'did',
        }),
      ],
      'score[0].filter',
    ],
  ])('%s', async (_, score, path) => {
    const [status, , paths] = await refusal(score)
    expect([status, paths]).toEqual([400, expect.arrayContaining([path])])
  })

  test('a company that is asked for what only contacts have, and a segment that is not there', async () => {
    expect(await refusal([rule(1, has('company.tier', 'gold'))], 'fit', 'companies')).toEqual([
      201,
      undefined,
      undefined,
    ])
    const gone = '00000000-0000-7000-8000-000000000000'
    const [status, code] = await refusal([rule(1, { property: 'segment', operator: 'in', value: [gone] })])
    expect([status, code]).toEqual([400, 'unknown_segment'])
  })

  test('circles through scores and segments; one that a segment makes later matches nobody', async () => {
    const id = await define([rule(1, has('plan', 'pro'))])
    const other = await define([rule(1, { property: 'lead_score', operator: 'gte', value: 1 })], 'other')
    const warm = { name: 'Warm', filter: all({ property: 'other', operator: 'gte', value: 1 }) }
    const { segment_id } = (await tenant.call('POST', '/v1/segments', warm)).body.segment
    const circle = { score: [rule(1, { property: 'segment', operator: 'in', value: [segment_id] })] }
    const response = await tenant.call('PATCH', `/v1/computed-properties/${id}`, circle)
    expect([response.status, response.body.error?.details?.[0]?.path]).toEqual([400, 'score[0].filter'])
    await tenant.call('PATCH', `/v1/segments/${segment_id}`, { filter: all(has('plan', 'pro')) })
    expect((await tenant.call('PATCH', `/v1/computed-properties/${id}`, circle)).status).toBe(200)
    const ada = await tenant.contact('ada@example.com', { plan: 'pro' })
    await follows(ada, 1)
    await follows(ada, 1, 'other')
    await tenant.call('PATCH', `/v1/segments/${segment_id}`, { filter: warm.filter })
    await follows(ada, 0)
    await follows(ada, 0, 'other')
    expect((await tenant.call('DELETE', `/v1/computed-properties/${other}`)).status).toBe(200)
  })
})

/** Rules and, in words of their own, what they say of what the service shows of a contact. */
const RULES: { points: number; filter: (segment: string) => Condition; holds: (facts: Facts) => boolean }[] = [
  { points: 10, filter: () => has('plan', 'pro'), holds: ({ plan }) => plan === 'pro' },
  {
    points: 20,
    filter: () => did({ type: 'purchase', within_days: 3, min_count: 2 }),
    holds: ({ purchases }) => purchases.filter(({ at }) => at >= now.getTime() - 3 * DAY_MS).length >= 2,
  },
  {
    points: -5,
    filter: () => ({ event: { type: 'purchase' }, operator: 'did_not' }),
    holds: ({ purchases }) => purchases.length === 0,
  },
  { points: 7, filter: () => has('company.tier', 'gold'), holds: ({ tier }) => tier === 'gold' },
  {
    points: 3,
    filter: (segment) => ({ property: 'segment', operator: 'not_in', value: [segment] }),
    holds: ({ city }) => city !== 'Paris',
  },
  {
    points: 11,
    filter: () =>
      did({ type: 'purchase', measure: { function: 'sum', property: 'data.amount', operator: 'gte', value: 100 } }),
    holds: ({ purchases }) => purchases.length > 0 && purchases.reduce((sum, { amount }) => sum + amount, 0) >= 100,
  },
]

interface Shown {
  contact_id: string
  company_id: string | null
  properties: Record<string, unknown>
  scores: Record<string, { value: number }>
}

interface Facts {
  plan: unknown
  city: unknown
  tier: unknown
  purchases: { at: number; amount: number }[]
}

test('is what a reference says of random changes, events, merges and time', { timeout: 240_000 }, async () => {
  let seed = 20_260_302
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const pick = <T>(of: readonly T[]): T => of[random(of.length)] as T
  const segment = { name: 'Paris', filter: all(has('city', 'Paris')) }
  const { segment_id } = (await tenant.call('POST', '/v1/segments', segment)).body.segment
  const companies: string[] = []
  for (const name of ['a', 'b'])
    companies.push((await tenant.call('POST', '/v1/companies', { domain: `${name}.example` })).body.company.company_id)
  const emails = ['ada', 'bob', 'cyd', 'dan', 'eve'].map((name) => `${name}@example.com`)
  for (const email of emails) await tenant.contact(email)
  await define(RULES.map(({ points, filter }) => rule(points, filter(segment_id))))
  await define([rule(1, { property: 'lead_score', operator: 'gte', value: 20 })], 'is_warm')

  const contacts = async (): Promise<Shown[]> =>
    (await tenant.call('GET', '/v1/contacts?limit=100&include=scores')).body.contacts
  const merged: string[] = []
  const steps: Record<string, () => Promise<unknown>> = {
    change: async () =>
      tenant.call('PUT', `/v1/contacts/${pick(await contacts()).contact_id}`, {
        properties: { [pick(['plan', 'city'])]: pick(['pro', 'free', 'Paris', 'Lyon', null]) },
      }),
    purchase: () =>
      tenant.track({
        visitor_id: `v${random(8)}`,
        events: [
          {
            event: 'purchase',
            url: `https://${tenant.site}/`,
            timestamp: new Date(now.getTime() - random(80) * HOUR_MS).toISOString(),
            data: { amount: 10 + random(90) },
          },
        ],
      }),
    identify: () => tenant.call('POST', '/v1/identify', { visitor_id: `v${random(8)}`, email: pick(emails) }),
    move: async () =>
      tenant.call('PUT', `/v1/contacts/${pick(await contacts()).contact_id}`, {
        company_id: pick([...companies, null]),
      }),
    company: () =>
      tenant.call('PUT', `/v1/companies/${pick(companies)}`, { properties: { tier: pick(['gold', 'tin']) } }),
    merge: async () => {
      const [from, into] = [pick(await contacts()), pick(await contacts())]
      if (from.contact_id === into.contact_id) return
      const { status } = await tenant.call('POST', `/v1/contacts/${from.contact_id}/merge`, { into: into.contact_id })
      if (status === 200) merged.push(from.contact_id)
    },
    unmerge: async () => {
      const contactId = merged.pop()
      if (contactId) await tenant.call('POST', `/v1/contacts/${contactId}/unmerge`)
    },
    wait: async () => {
      now = new Date(now.getTime() + random(40) * HOUR_MS)
    },
  }

  async function factsOf(contact: Shown): Promise<Facts> {
    const { plan, city } = contact.properties
    const path = `/v1/events?contact_id=${contact.contact_id}&event_type=purchase&limit=100`
    const { events } = (await tenant.call('GET', path)).body
    const company = contact.company_id && (await tenant.call('GET', `/v1/companies/${contact.company_id}`)).body.company
    const purchases = events.map(({ timestamp, data }: { timestamp: string; data: { amount: number } }) => ({
      at: Date.parse(timestamp),
      amount: data.amount,
    }))
    return { plan, city, tier: company ? company.properties.tier : undefined, purchases }
  }

  for (let round = 0; round < 8; round++) {
    for (let step = 0; step < 10; step++) await steps[pick(Object.keys(steps))]?.()
    const wanted = new Map<string, number>()
    for (const contact of await contacts()) {
      const facts = await factsOf(contact)
      wanted.set(
        contact.contact_id,
        RULES.reduce((sum, { points, holds }) => sum + (holds(facts) ? points : 0), 0),
      )
    }
    const shown = async () =>
      (await contacts()).map(({ contact_id, properties, scores }: Shown) => ({
        contact_id,
        lead_score: properties.lead_score,
        is_warm: properties.is_warm,
        value: scores.lead_score?.value,
      }))
    const reference = [...wanted].map(([contact_id, value]) => ({
      contact_id,
      lead_score: value,
      is_warm: value >= 20 ? 1 : 0,
      value,
    }))
    await eventually(shown, reference)
  }
})
