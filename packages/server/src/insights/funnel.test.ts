import { beforeAll, describe, expect, test } from 'vitest'
import { attemptOf, type ReferenceFunnel, stepsOf } from '../../test/funnel-reference.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { randomFrom, type StreamEvent, writeEvents, writeStream } from '../../test/streams.ts'
import { newId } from '../platform/ids.ts'

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

/** An event of an anonymous visitor. */
function visitorEvent(owner: string, name: string, at: number, more: Partial<StreamEvent> = {}): StreamEvent {
  const event = { id: newId(), name, at, person: owner, isContact: false, owner, session: '', path: '/', country: '' }
  return { ...event, isBot: false, isSystem: false, data: {}, ...more }
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

function expected(events: readonly StreamEvent[], question: Question) {
  const { steps, exclude = [], order, window, count_by: countBy, breakdown, limit = 10 } = question
  const isExcluded = (event: StreamEvent) => exclude.some((each) => isMeant(each)(event))
  const reference = { steps: steps.map(isMeant), isExcluded, order, windowMs: window.value * MINUTE }
  const counted = events.filter(({ person, session }) => (countBy === 'people' ? person !== null : session !== ''))
  const lists = Map.groupBy(counted, ({ person, session }) => (countBy === 'people' ? String(person) : session))
  const attempts = [...lists.values()].flatMap((list) => attemptOf(list, reference) ?? [])
  const labels = steps.map(labelOf)
  const all = stepsOf(attempts, labels)
  const valueOf = breakdown && BREAKDOWNS[String(breakdown)]
  if (!valueOf) return { steps: all }
  const keyed = attempts.flatMap((attempt) => keysOf(valueOf(attempt.first)).map((key) => ({ key, attempt })))
  const groups = [...Map.groupBy(keyed, ({ key }) => key)]
  groups.sort(
    ([a, ofA], [b, ofB]) =>
      ofB.length - ofA.length || Number(a === '') - Number(b === '') || (a < b ? -1 : a > b ? 1 : 0),
  )
  const rest = new Set(groups.slice(limit).flatMap(([, members]) => members.map(({ attempt }) => attempt)))
  return {
    steps: all,
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
    const people = Array.from({ length: 250 }, newId)
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
    { length: 90 },
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
