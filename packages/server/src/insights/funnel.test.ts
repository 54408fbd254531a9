import { beforeAll, describe, expect, test } from 'vitest'
import { attemptOf, type ReferenceFunnel, stepsOf } from '../../test/funnel-reference.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { randomFrom, type StreamEvent, visitorEvent, writeEvents, writeStream } from '../../test/streams.ts'
import { newId } from '../platform/ids.ts'

import { backgroundContext } from '../segments/events.ts'
import type { FunnelQuestion } from './funnel.ts'
import { type FunnelNumber, funnelPeople } from './funnel-people.ts'

let service: TestService

beforeAll(async () => {
  service = await sharedService()
})

const START = Date.parse('2026-05-01T12:00:00Z')
const MINUTE = 60_000
const RANGE = { date_from: '2026-05-01', date_to: '2026-05-01', time_zone: 'UTC' }

async function ask(tenant: TestTenant, body: object) {
  const { status, body: answer } = await tenant.call('POST', '/v1/insights/funnel', { ...RANGE, ...body })
  expect([status, answer.error]).toEqual([200, undefined])
  return answer
}

/** Steps and exclusions as they are sent; most of them have events in common. */
const MEANT = [
  { event: 'a' },
  { event: 'b' },
  { event: 'c' },
  { types: ['a', 'b'] },
  { types: ['b', 'c'], label: 'b or c' },
  { types: ['a', 'c'] },
  { where: [{ property: 'url_path', operator: 'equals', value: '/1' }] },
  { event: 'b', where: [{ property: 'data.plan', operator: 'equals', value: 'pro' }] },
  {},
]
type Meant = (typeof MEANT)[number]

function isMeant({ event, types, where }: { event?: string; types?: string[]; where?: { property: string }[] }) {
  return ({ name, path, data }: StreamEvent) =>
    (event === undefined || name === event) &&
    (types === undefined || types.includes(name)) &&
    (where ?? []).every(({ property }) =>
      property === 'url_path' ? path === '/1' : [data.plan].flat().includes('pro'),
    )
}
const labelOf = ({ label, event, types }: { label?: string; event?: string; types?: string[] }) =>
  label ?? event ?? types?.join(', ') ?? 'Any event'

/** The keys of a breakdown, as JSON; '' for a missing value. */
function keysOf(value: unknown): string[] {
  const items = [value].flat().filter((item) => item !== null && item !== undefined && item !== '')
  return items.length === 0 ? [''] : [...new Set(items.map((item) => JSON.stringify(item)))]
}

const BREAKDOWNS: Record<string, (event: StreamEvent) => unknown> = {
  country: ({ country }) => country,
  'data.plan': ({ data }) => data.plan,
}

interface Question {
  steps: Meant[]
  exclude?: Meant[]
  order: ReferenceFunnel['order']
  window: { value: number; unit: 'minute' }
  count_by: 'people' | 'sessions'
  breakdown?: string[]
  limit?: number
}

function expected(events: readonly StreamEvent[], question: Question, by = BREAKDOWNS) {
  const { steps, exclude = [], order, window, count_by: countBy, breakdown, limit = 10 } = question
  const isExcluded = (event: StreamEvent) => exclude.some((each) => isMeant(each)(event))
  const reference = { steps: steps.map(isMeant), isExcluded, order, windowMs: window.value * MINUTE }
  const counted = events.filter(({ person, session }) => (countBy === 'people' ? person !== null : session !== ''))
  const lists = Map.groupBy(counted, ({ person, session }) => (countBy === 'people' ? String(person) : session))
  const attempts = [...lists.values()].flatMap((list) => attemptOf(list, reference) ?? [])
  const labels = steps.map(labelOf)
  const all = stepsOf(attempts, labels)
  const propertyOf = breakdown && by[String(breakdown)]
  if (!propertyOf) return { steps: all }
  const keyed = attempts.flatMap((attempt) => keysOf(propertyOf(attempt.first)).map((key) => ({ key, attempt })))
  const groups = [...Map.groupBy(keyed, ({ key }) => key)]
  groups.sort(
    ([a, ofA], [b, ofB]) =>
      ofB.length - ofA.length || Number(a === '') - Number(b === '') || (a < b ? -1 : a > b ? 1 : 0),
  )
  const rest = new Set(groups.slice(limit).flatMap(([, members]) => members.map(({ attempt }) => attempt)))
  return {
    steps: all,
    breakdown_by: breakdown,
    groups: [
      ...groups.slice(0, limit).map(([key, members]) => ({
        breakdown: [key === '' ? null : key.startsWith('{') ? key : JSON.parse(key)],
        steps: stepsOf(
          members.map(({ attempt }) => attempt),
          labels,
        ),
      })),
      ...(rest.size > 0 ? [{ steps: stepsOf([...rest], labels) }] : []),
    ],
  }
}

describe('a funnel is that of a naive computation', () => {
  let tenant: TestTenant
  let events: StreamEvent[]

  beforeAll(async () => {
    tenant = await createTestTenant(service)
    const random = randomFrom(11)
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const people = Array.from({ length: 200 }, newId)
    events = people.flatMap((owner, index) => {
      // Few moments, so that events are of the same time, at the edge of windows.
      const [count, moments] = [1 + Math.floor(random() * 6), 1 + Math.floor(random() * 5)]
      return Array.from({ length: count }, () =>
        visitorEvent(
          owner,
          pick(['a', 'b', 'c', 'a', 'b', 'c', 'd']),
          START + pick([...Array(moments).keys()]) * MINUTE,
          {
            session: random() < 0.1 ? '' : `${index}-${Math.floor(random() * 2)}`,
            path: pick(['/1', '/2']),
            country: pick(['DE', 'FR', 'US', '']),
            data: { plan: pick(['pro', 'free', 5, null, ['pro', 'team'], { a: 1 }]) },
          },
        ),
      )
    })
    await writeEvents(service, tenant.id, events, [])
  })

  const random = randomFrom(5)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const questions = Array.from(
    { length: 60 },
    (_, index): Question => ({
      steps: Array.from({ length: pick([2, 2, 3, 3, 4, 5]) }, () => pick(MEANT.slice(0, pick([3, 8, 9])))),
      order: (['ordered', 'strict', 'any'] as const)[index % 3] ?? 'ordered',
      window: { value: pick([1, 2, 3, 10]), unit: 'minute' },
      count_by: pick(['people', 'people', 'sessions']),
      ...(random() < 0.4 ? { exclude: [pick([...MEANT.slice(0, 8), { event: 'd' }])] } : {}),
      ...(random() < 0.6 ? { breakdown: [pick(['country', 'data.plan'])], limit: pick([1, 2, 10]) } : {}),
    }),
  )

  test.each(questions.map((question) => [JSON.stringify(question), question] as const))('%s', async (_, question) => {
    expect(await ask(tenant, question)).toEqual({ status: 'success', ...expected(events, question) })
  })
})

describe('people and sessions', () => {
  const steps = [{ event: 'view' }, { event: 'click' }, { event: 'paid' }]
  const window = { value: 3, unit: 'hour' } as const

  test.each(['people', 'sessions'] as const)(
    '%s are counted once across merges and identifications',
    async (countBy) => {
      const tenant = await createTestTenant(service)
      const range = { from: START - 24 * 60 * MINUTE, until: START + 24 * 60 * MINUTE }
      const { events } = await writeStream(service, tenant, { seed: 3, events: 700, moments: 2_000, ...range })
      const isCounted = ({ at, isBot, isSystem }: StreamEvent) =>
        !isBot && !isSystem && new Date(at).toISOString().startsWith('2026-05-01')
      for (const order of ['ordered', 'strict', 'any'] as const) {
        const body = { steps, window, order, count_by: countBy }
        const reference = { steps: steps.map(isMeant), isExcluded: () => false, order, windowMs: 180 * MINUTE }
        const counted = events
          .filter(isCounted)
          .filter(({ person, session }) => (countBy === 'people' ? person : session))
        const lists = Map.groupBy(counted, ({ person, session }) => (countBy === 'people' ? person : session))
        const attempts = [...lists.values()].flatMap((list) => attemptOf(list, reference) ?? [])
        expect(attempts.length).toBeGreaterThan(20)
        const previous = { compare: 'previous_period' }
        const { compare, ...answer } = await ask(tenant, { ...body, ...previous })
        expect(answer).toEqual({ status: 'success', steps: stepsOf(attempts, ['view', 'click', 'paid']) })
        expect(compare).toEqual(expect.objectContaining({ steps: expect.any(Array) }))
        const day = { date_from: '2026-04-30', date_to: '2026-04-30' }
        expect(await ask(tenant, { ...body, ...day })).toEqual({ status: 'success', ...compare })
      }
    },
  )

  test('are divided by what their contact and its company are', async () => {
    const tenant = await createTestTenant(service)
    const range = { from: START, until: START + 11 * 60 * MINUTE }
    const { events, valueOf: valueNamed } = await writeStream(service, tenant, {
      seed: 17,
      events: 500,
      moments: 300,
      ...range,
    })
    const counted = events.filter(({ isBot, isSystem }) => !isBot && !isSystem)
    const names = ['contact.tags', 'company.industry'] as const
    const by = Object.fromEntries(names.map((name) => [name, ({ person }: StreamEvent) => valueNamed(person, name)]))
    const context = backgroundContext(tenant.handle, new Date())
    for (const [index, name] of [...names, ...names].entries()) {
      const order = index < 2 ? ('ordered' as const) : ('any' as const)
      const question: Question = {
        ...{ steps: [{ event: 'view' }, { event: 'click' }], window: { value: 180, unit: 'minute' }, order },
        ...{ count_by: index === 1 ? 'sessions' : 'people', breakdown: [name], limit: 2 },
      }
      const answer = await ask(tenant, question)
      expect(answer).toEqual({ status: 'success', ...expected(counted, question, by) })
      if (question.count_by === 'sessions') continue
      const [{ breakdown, steps: reached }] = answer.groups
      const people = await funnelPeople(context, { ...RANGE, ...question }, { step: 2, breakdown })
      expect(await tenant.handle.events.select(people)).toHaveLength(reached[1].count)
    }
  })

  test('another tenant sees none of them', async () => {
    const [tenant, stranger] = [await createTestTenant(service), await createTestTenant(service)]
    await writeEvents(service, tenant.id, [visitorEvent(newId(), 'view', START)], [])
    const counts = async (of: TestTenant) =>
      (await ask(of, { steps, window })).steps.map(({ count }: { count: number }) => count)
    expect(await counts(tenant)).toEqual([1, 0, 0])
    expect(await counts(stranger)).toEqual([0, 0, 0])
  })
})

test('bots count where they are asked for, and events of the service where they are named', async () => {
  const tenant = await createTestTenant(service)
  const [bot, contact] = [newId(), newId()]
  const events = [
    visitorEvent(bot, 'view', START, { isBot: true }),
    visitorEvent(contact, 'contact_created', START, { isSystem: true }),
    visitorEvent(contact, 'segment_entered', START + 1, { isSystem: true }),
    visitorEvent(contact, 'paid', START + 2),
  ]
  await writeEvents(service, tenant.id, events, [])
  const window = { value: 1, unit: 'hour' }
  const counts = async (steps: object[], more: object = {}) =>
    (await ask(tenant, { steps, window, ...more })).steps.map(({ count }: { count: number }) => count)
  expect(await counts([{ event: 'view' }, {}])).toEqual([0, 0])
  expect(await counts([{ event: 'view' }, {}], { include_bots: true })).toEqual([1, 0])
  expect(await counts([{}, { event: 'paid' }])).toEqual([1, 0])
  const named = [{ event: 'contact_created', label: 'Created' }, { event: 'paid' }]
  // The other event of the service is between them, but nobody asked for it.
  expect(await counts(named, { order: 'strict' })).toEqual([1, 1])
  const { steps } = await ask(tenant, { steps: named, window })
  expect(steps[0].label).toBe('Created')
})

describe('the people of each number', () => {
  test.each(['people', 'sessions'] as const)('are as many as it says, counted by %s', async (countBy) => {
    const tenant = await createTestTenant(service)
    const range = { from: START, until: START + 600 * MINUTE }
    const { events, contacts } = await writeStream(service, tenant, { seed: 9, events: 500, moments: 100, ...range })
    const context = backgroundContext(tenant.handle, new Date())
    const peopleAt = async (question: FunnelQuestion, at: FunnelNumber) =>
      tenant.handle.events.select<{ person: string; is_contact: number }>(await funnelPeople(context, question, at))
    const window = { value: 4, unit: 'hour' } as const
    for (const order of ['ordered', 'strict', 'any'] as const) {
      const question = {
        ...{
          steps: [{ event: 'view' }, { types: ['view', 'click'] }, { event: 'paid' }],
          window,
          order,
          count_by: countBy,
        },
        ...{ ...RANGE, breakdown: ['country'] },
      }
      const answer = await ask(tenant, question)
      for (const [index, { count }] of answer.steps.entries()) {
        const step = index + 1
        const reached = await peopleAt(question, { step })
        const people = reached.map(({ person }) => person)
        expect(new Set(people).size).toBe(people.length)
        for (const { person, is_contact: isContact } of reached) expect(contacts.includes(person)).toBe(isContact === 1)
        // Several sessions may be of one person.
        if (countBy === 'people') expect(people).toHaveLength(count)
        else expect(people.length).toBeLessThanOrEqual(count)
        const known = new Set(events.flatMap(({ person }) => person ?? []))
        expect(people.every((person) => known.has(person))).toBe(true)
        if (step === answer.steps.length || countBy === 'sessions') continue
        const dropped = (await peopleAt(question, { step, dropped: true })).map(({ person }) => person)
        expect(dropped).toHaveLength(count - answer.steps[index + 1].count)
        for (const { breakdown, steps } of answer.groups) {
          expect(await peopleAt(question, { step, breakdown })).toHaveLength(steps[index].count)
        }
      }
    }
  })

  test('are refused for a number that there is not', async () => {
    const tenant = await createTestTenant(service)
    const context = backgroundContext(tenant.handle, new Date())
    const question = { steps: [{ event: 'a' }, { event: 'b' }], window: { value: 1, unit: 'day' as const } }
    for (const at of [{ step: 0 }, { step: 3 }, { step: 2, dropped: true }, { step: 1, breakdown: ['DE'] }]) {
      await expect(funnelPeople(context, question, at)).rejects.toMatchObject({ code: 'validation_error' })
    }
  })
})

test('10 steps, and an answer about nobody', async () => {
  const tenant = await createTestTenant(service)
  const owner = newId()
  const names = Array.from({ length: 10 }, (_, index) => `step ${index}`)
  const window = { value: 10, unit: 'minute' }
  const empty = await ask(tenant, { steps: names.map((event) => ({ event })), window })
  expect(empty.steps[9]).toEqual({
    ...{ label: 'step 9', count: 0, from_first: null, from_previous: null, median_seconds: null },
  })
  await writeEvents(
    service,
    tenant.id,
    names.map((name, index) => visitorEvent(owner, name, START + index * MINUTE)),
    [],
  )
  for (const order of ['ordered', 'strict', 'any']) {
    const { steps } = await ask(tenant, { steps: names.map((event) => ({ event })), window, order })
    expect(steps.map(({ count }: { count: number }) => count)).toEqual(names.map(() => 1))
    const same = await ask(tenant, { steps: names.map(() => ({ types: names })), window, order: 'strict' })
    expect(same.steps[9]).toMatchObject({ count: 1, median_seconds: 60 })
  }
  const { status, body } = await tenant.call('POST', '/v1/insights/funnel', {
    ...{ ...RANGE, window, order: 'any', steps: names.map(() => ({ types: names })) },
  })
  expect([status, body.error.code]).toEqual([400, 'query_too_expensive'])
})

test('conditions on contacts, and a breakdown by what they are, need their scope', async () => {
  const tenant = await createTestTenant(service)
  const key = await tenant.keyWith('events:read')
  const ask = (step: object) =>
    tenant.call('POST', '/v1/insights/funnel', { steps: [step, {}], window: { value: 1, unit: 'day' } }, key)
  expect((await ask({ event: 'a' })).status).toBe(200)
  const { status, body } = await ask({ where: [{ property: 'contact.plan', operator: 'equals', value: 'pro' }] })
  expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
  for (const name of ['contact.plam', 'company.sector']) {
    const question = { ...VALID, breakdown: [name] }
    const refused = await tenant.call('POST', '/v1/insights/funnel', question, key)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    const { body: allowed } = await tenant.call('POST', '/v1/insights/funnel', question)
    expect([allowed.groups, allowed.warnings.join()]).toEqual([[], expect.stringContaining(name)])
  }
})

const VALID = { steps: [{ event: 'a' }, { event: 'b' }], window: { value: 1, unit: 'day' } }
test.each([
  [{ steps: [{ event: 'a' }] }, 'steps'],
  [{ steps: Array(11).fill({}) }, 'steps'],
  [{ steps: [{ event: 'a' }, { event: 'b', types: ['c'] }] }, 'steps[1].types'],
  [
    { steps: [{ event: 'a' }, { where: [{ property: 'country', operator: 'nonsense', value: 1 }] }] },
    'steps[1].where[0].operator',
  ],
  [{ steps: [{ event: 'a' }, { count: 1 }] }, 'steps[1].count'],
  [{ window: undefined }, 'window'],
  [{ window: { value: 0, unit: 'day' } }, 'window.value'],
  [{ window: { value: 1, unit: 'month' } }, 'window.unit'],
  [{ order: 'random' }, 'order'],
  [{ count_by: 'visitors' }, 'count_by'],
  [{ exclude: [{ event: 'x', types: ['y'] }] }, 'exclude[0].types'],
  [{ exclude: Array(11).fill({ event: 'x' }) }, 'exclude'],
  [{ breakdown: ['nonsense'] }, 'breakdown[0]'],
  [{ breakdown: ['country', 'city', 'region'] }, 'breakdown'],
  [{ limit: 0 }, 'limit'],
  [{ limit: 101 }, 'limit'],
  [{ where: [{}] }, 'where[0]'],
  [{ time_zone: 'Mars' }, 'time_zone'],
  [{ last: { value: 1, unit: 'day' }, date_from: '2026-01-01' }, 'last'],
])('%j is refused', async (more, path) => {
  const tenant = await createTestTenant(service)
  const { status, body } = await tenant.call('POST', '/v1/insights/funnel', { ...VALID, ...more })
  expect([status, body.error?.code]).toEqual([400, 'validation_error'])
  expect(body.error.details.map((detail: { path: string }) => detail.path).join()).toContain(path)
})
