import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { writeStream } from '../../test/streams.ts'

let service: TestService
let tenant: TestTenant

const RANGE = { date_from: '2026-03-02', date_to: '2026-03-15' }
const FUNNEL = { ...RANGE, steps: [{ event: 'view' }, { event: 'click' }], window: { value: 2, unit: 'day' } }
const RETENTION = { ...RANGE, start: { event: 'view' }, interval: 'week', intervals: 2 }
const PATHS = { ...RANGE, kind: 'events', depth: 3 }

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const span = { from: Date.parse('2026-03-02'), until: Date.parse('2026-03-16') - 1 }
  await writeStream(service, tenant, { seed: 3, events: 400, moments: 300, ...span })
})

async function ask(path: string, body: object) {
  const { status, body: answer } = await tenant.call('POST', `/v1/insights/${path}`, body)
  expect([status, answer.error]).toEqual([200, undefined])
  return answer
}

async function listed(filter: unknown): Promise<number> {
  const query = `count_only=true&filter=${encodeURIComponent(JSON.stringify(filter))}`
  return (await tenant.call('GET', `/v1/contacts?${query}`)).body.count
}

test('each number of a funnel leads to as many people as it says, and to a list of the contacts', async () => {
  const { steps } = await ask('funnel', FUNNEL)
  expect(steps[1].count).toBeGreaterThan(3)
  for (const [index, { count }] of steps.entries()) {
    const { contacts, anonymous, filter } = await ask('people', {
      kind: 'funnel',
      question: FUNNEL,
      at: { step: index + 1 },
    })
    expect(contacts + anonymous).toBe(count)
    expect(await listed(filter)).toBe(contacts)
  }
  const { contacts, anonymous } = await ask('people', {
    kind: 'funnel',
    question: FUNNEL,
    at: { step: 1, dropped: true },
  })
  expect(contacts + anonymous).toBe(steps[0].count - steps[1].count)
})

test('so does each number of a retention', async () => {
  const { cohorts } = await ask('retention', RETENTION)
  expect(cohorts[0].size).toBeGreaterThan(3)
  for (const { from: cohort, size, returned } of cohorts) {
    for (const [interval, expected] of [
      [undefined, size],
      [1, returned[0]],
    ] as const) {
      if (expected === null) continue
      const at = interval === undefined ? { cohort } : { cohort, interval }
      const { contacts, anonymous, filter } = await ask('people', { kind: 'retention', question: RETENTION, at })
      expect([cohort, interval, contacts + anonymous]).toEqual([cohort, interval, expected])
      expect(await listed(filter)).toBe(contacts)
    }
  }
})

test('a link and a node of paths lead to the people of their sessions', async () => {
  const { links, nodes } = await ask('paths', PATHS)
  const { step, from, to } = links[0]
  const ofLink = await ask('people', { kind: 'paths', question: PATHS, at: { step, from, to } })
  expect(ofLink.contacts + ofLink.anonymous).toBeGreaterThan(0)
  expect(ofLink.contacts + ofLink.anonymous).toBeLessThanOrEqual(links[0].count)
  expect(await listed(ofLink.filter)).toBe(ofLink.contacts)
  const { step: first, name } = nodes[0]
  const ofNode = await ask('people', { kind: 'paths', question: PATHS, at: { step: first, name } })
  expect(await listed(ofNode.filter)).toBe(ofNode.contacts)
})

describe('every kind of question', () => {
  const people = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value: 'pro' }] }
  const where = [{ property: 'contact.plan', operator: 'equals', value: 'pro' }]

  test.each([
    ['trend', { ...RANGE, series: [{ metric: 'unique_people' }] }],
    ['funnel', FUNNEL],
    ['retention', RETENTION],
    ['paths', PATHS],
    ['web', { ...RANGE, goals: [{}] }],
  ])(
    'such as a %s counts the events of some people alone, as a condition on the contact of events does',
    async (kind, question) => {
      const { warnings, ...answer } = await ask(kind, { ...question, people })
      expect(answer).toEqual(await ask(kind, { ...question, where }))
      expect(answer).not.toEqual(await ask(kind, question))
    },
  )

  test('counts bots if it is asked to', async () => {
    const total = async (more: object) => (await ask('trend', { ...RANGE, series: [{}], ...more })).series[0].total
    const isBot = [{ property: 'is_bot', operator: 'equals', value: true }]
    const bots = await total({ include_bots: true, where: isBot })
    expect(bots).toBeGreaterThan(0)
    expect(await total({ where: isBot })).toBe(0)
    expect(await total({ include_bots: true })).toBe((await total({})) + bots)
  })

  test('ends its days in the time zone, such as paths', async () => {
    const day = { kind: 'events', date_from: '2026-03-03', date_to: '2026-03-03', limit: 500 }
    const moments = { ...day, date_from: '2026-03-02T15:00:00Z', date_to: '2026-03-03T14:59:59.999Z' }
    const inTokyo = await ask('paths', { ...day, time_zone: 'Asia/Tokyo' })
    expect(inTokyo.links.length).toBeGreaterThan(0)
    expect(inTokyo).toEqual(await ask('paths', moments))
    expect(inTokyo).not.toEqual(await ask('paths', day))
  })
})

test.each([
  ['funnel', FUNNEL, { step: 3 }, 'at.step'],
  ['funnel', FUNNEL, { step: 0 }, 'at.step'],
  ['funnel', { ...FUNNEL, steps: [] }, { step: 1 }, 'question.steps'],
  ['retention', RETENTION, { cohort: '2026-W01' }, 'at.cohort'],
  ['retention', RETENTION, {}, 'at.cohort'],
  ['paths', PATHS, { step: 1, from: 'a' }, undefined],
  ['web', RANGE, { interval: '2025' }, 'at.interval'],
  ['web', RANGE, { goal: 1 }, 'at.goal'],
  ['web', RANGE, { list: 'source' }, undefined],
])('of a %s, %j at %j is refused', async (kind, question, at, path) => {
  const { status, body } = await tenant.call('POST', '/v1/insights/people', { kind, question, at })
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
  if (path !== undefined) expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
})
