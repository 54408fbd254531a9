import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { type Stream, type StreamEvent, writeStream } from '../../test/streams.ts'

let service: TestService
let tenant: TestTenant
let stream: Stream

const FROM = Date.parse('2026-03-27T00:00:00Z')
const UNTIL = Date.parse('2026-03-31T00:00:00Z')
const RANGE = { date_from: '2026-03-28', date_to: '2026-03-30', time_zone: 'Europe/Berlin' }
/** The range in milliseconds: the clocks were put forward on the 29th. */
const [FIRST, LAST] = [Date.parse('2026-03-27T23:00:00Z'), Date.parse('2026-03-30T22:00:00Z') - 1]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  stream = await writeStream(service, tenant, { seed: 7, events: 600, from: FROM, until: UNTIL })
})

async function ask(body: object) {
  const { status, body: answer } = await tenant.call('POST', '/v1/insights/trend', { ...RANGE, ...body })
  expect([status, answer.error]).toEqual([200, undefined])
  return answer
}

const counted = (event: StreamEvent) => !event.isBot && !event.isSystem && event.at >= FIRST && event.at <= LAST
const dayOf = (at: number) =>
  new Date(at + (at < Date.parse('2026-03-29T01:00:00Z') ? 1 : 2) * 3_600_000).toISOString().slice(0, 10)
const DAYS = ['2026-03-28', '2026-03-29', '2026-03-30']

/** What events are divided by, as a naive computation finds it. */
const BY: Record<string, (event: StreamEvent) => unknown> = {
  'data.plan': ({ data }) => data.plan,
  // No list is among its values.
  'data.amount': ({ data }) => data.amount,
  'contact.tags': ({ person }) => stream.valueOf(person, 'contact.tags'),
  'company.industry': ({ person }) => stream.valueOf(person, 'company.industry'),
}

const COUNTERS: Record<string, (events: StreamEvent[]) => number | null> = {
  count: (events) => events.length,
  unique_people: (events) => new Set(events.flatMap(({ person }) => person ?? [])).size,
  unique_contacts: (events) =>
    new Set(events.flatMap(({ person, isContact }) => (isContact ? (person ?? []) : []))).size,
  unique_sessions: (events) => new Set(events.flatMap(({ session }) => session || [])).size,
  sum: (events) =>
    Number(
      events
        .map(({ data }) => Number(data.amount) || 0)
        .reduce((a, b) => a + b, 0)
        .toFixed(6),
    ),
}

describe.each(Object.keys(COUNTERS))('%s', (metric) => {
  const count = COUNTERS[metric] as (events: StreamEvent[]) => number | null
  const property = metric === 'sum' ? { property: 'data.amount' } : {}

  test('is that of each day, and of the whole range', async () => {
    const { intervals, series } = await ask({ series: [{ event: 'view', metric, ...property }] })
    const views = stream.events.filter((event) => counted(event) && event.name === 'view')
    expect(views.length).toBeGreaterThan(50)
    expect(intervals).toEqual(DAYS)
    expect(series).toEqual([
      {
        label: 'view',
        total: count(views),
        points: DAYS.map((day) => count(views.filter(({ at }) => dayOf(at) === day))),
      },
    ])
  })

  test.each(Object.keys(BY))('is divided by %s, with the smallest values together', async (by) => {
    const answer = await ask({ series: [{ metric, ...property }], breakdown: [by], limit: 2 })
    const { series, others } = answer
    expect(answer.breakdown_by).toEqual([by])
    const all = stream.events.filter(counted)
    const groups = Map.groupBy(
      all.flatMap((event) => keysOf(BY[by]?.(event)).map((key) => ({ key, event }))),
      ({ key }) => key,
    )
    const ranked = [...groups].map(([key, members]) => ({ key, events: members.map(({ event }) => event) }))
    ranked.sort(
      (a, b) =>
        Number(count(b.events)) - Number(count(a.events)) ||
        Number(a.key === '') - Number(b.key === '') ||
        (a.key < b.key ? -1 : 1),
    )
    const [largest, rest] = [ranked.slice(0, 2), new Set(ranked.slice(2).flatMap(({ events }) => events))]
    const figures = (events: StreamEvent[]) => ({
      total: count(events),
      points: DAYS.map((day) => count(events.filter(({ at }) => dayOf(at) === day))),
    })
    expect(series).toEqual(
      largest.map(({ key, events }) => ({
        label: 'Any event',
        breakdown: [key === '' ? null : key.startsWith('{') ? key : JSON.parse(key)],
        ...figures(events),
      })),
    )
    expect(others).toEqual([{ label: 'Any event', ...figures([...rest]) }])
  })
})

/** The JSON of each different item; an empty text is missing. */
function keysOf(value: unknown): string[] {
  const items = [value].flat().filter((item) => item !== null && item !== undefined && item !== '')
  return items.length === 0 ? [''] : [...new Set(items.map((item) => JSON.stringify(item)))]
}

test('a formula combines series, and is null where it divides by 0', async () => {
  const series = [{ event: 'view' }, { event: 'paid' }, { event: 'never' }]
  const share = await ask({ series, formula: '(B * 100) / A' })
  const of = (name: string) => stream.events.filter((event) => counted(event) && event.name === name).length
  expect(share.series).toMatchObject([
    { label: '(B * 100) / A', total: Number(((of('paid') * 100) / of('view')).toPrecision(15)) },
  ])
  expect((await ask({ series, formula: 'A / C' })).series).toMatchObject([{ total: null, points: [null, null, null] }])
})

test('the same question is answered anew once there is another event', async () => {
  const other = await createTestTenant(service)
  const question = { series: [{ event: 'ordered', metric: 'unique_people' }], last: { value: 2, unit: 'day' } }
  const total = async () => (await other.call('POST', '/v1/insights/trend', question)).body.series[0].total
  const order = (visitor_id: string) => other.call('POST', '/v1/events', { events: [{ visitor_id, event: 'ordered' }] })
  const visitors = [crypto.randomUUID(), crypto.randomUUID()] as const
  expect(await total()).toBe(0)
  expect((await order(visitors[0])).status).toBeLessThan(300)
  expect([await total(), await total()]).toEqual([1, 1])
  await order(visitors[1])
  expect(await total()).toBe(2)
  // Both visitors turn out to be one person.
  for (const visitor_id of visitors) {
    const identified = await other.call('POST', '/v1/identify', { visitor_id, email: 'ann@example.com' })
    expect(identified.status).toBeLessThan(300)
  }
  expect(await total()).toBe(1)
})
