import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService } from '../../test/service.ts'

/*
 * Facts that the public tests of PostHog's retention state, as data. There, each interval has a row of who was active in it,
 * whenever else they were: here, a question about that interval alone. A number is the interval of an event.
 */

let service: TestService

beforeAll(async () => {
  service = await sharedService()
})

interface Example {
  unit?: 'hour' | 'day' | 'week' | 'month'
  zone?: string
  /** When each person did what, in intervals after the first. */
  did: Record<string, Record<string, number[]>>
  start?: object
  return?: object | 'any'
  mode?: 'on_or_after'
  /** For each interval: who started in it, and who came back in each interval after. Of the last, nobody is followed. */
  rows: number[][]
  /** Whether only a person's first start counts: one question about the whole range. */
  isFirstTime?: true
}

const TWO_PEOPLE = { person1: { view: [0, 1, 2, 5, 5.2, 6] }, person2: { view: [1, 2, 3, 6] } }
const ROWS_OF_TWO = [
  [1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0],
  [2, 2, 1, 0, 1, 2, 0, 0, 0, 0],
  [2, 1, 0, 1, 2, 0, 0, 0, 0],
  [1, 0, 0, 1, 0, 0, 0, 0],
  [0, 0, 0, 0, 0, 0, 0],
  [1, 1, 0, 0, 0, 0],
  [2, 0, 0, 0, 0],
  [0, 0, 0, 0],
  [0, 0, 0],
]
const MONTHS = { person1: { view: [0, 1, 2, 4, 5, 8] }, person2: { view: [0, 1, 2, 5, 6, 10] } }
const ROWS_OF_MONTHS = [
  [2, 2, 2, 0, 1, 2, 1, 0, 1, 0, 1],
  [2, 2, 0, 1, 2, 1, 0, 1, 0, 1],
  [2, 0, 1, 2, 1, 0, 1, 0, 1],
  [0, 0, 0, 0, 0, 0, 0, 0],
  [1, 1, 0, 0, 1, 0, 0],
  [2, 1, 0, 1, 0, 1],
  [1, 0, 0, 0, 1],
  [0, 0, 0, 0],
  [1, 0, 0],
]
const WEEKS = { person1: { view: [0, 0.1, 1, 2, 3, 4] }, person2: { view: [0, 0.1, 1, 3, 4, 6] } }
const ROWS_OF_WEEKS = [
  [2, 2, 1, 2, 2, 0, 1],
  [2, 1, 2, 2, 0, 1],
  [1, 1, 1, 0, 0],
  [2, 2, 0, 1],
  [2, 0, 1],
]
const BEFORE_VIEWS = { person1: { begin: [0, 1, 2, 3], view: [5, 6] }, person2: { begin: [0, 1, 2, 3], view: [5] } }

const EXAMPLES: Record<string, Example> = {
  'nobody did the event': { did: TWO_PEOPLE, start: { event: 'other' }, rows: [[0, 0, 0, 0]] },
  days: { did: TWO_PEOPLE, start: { event: 'view' }, return: { event: 'view' }, rows: ROWS_OF_TWO },
  'any event at first, a named one later': { did: TWO_PEOPLE, start: {}, return: { event: 'view' }, rows: ROWS_OF_TWO },
  months: { unit: 'month', did: MONTHS, rows: ROWS_OF_MONTHS },
  hours: { unit: 'hour', did: MONTHS, rows: ROWS_OF_MONTHS },
  'hours in a zone': { unit: 'hour', zone: 'US/Pacific', did: MONTHS, rows: ROWS_OF_MONTHS },
  weeks: { unit: 'week', did: WEEKS, rows: ROWS_OF_WEEKS },
  'in an interval or later': {
    did: {
      ...{ person1: { view: [0, 3, 4] }, person2: { view: [0, 1] }, person3: { view: [1, 2, 3] } },
      ...{ person4: { view: [3, 4] }, person5: { view: [4] } },
    },
    mode: 'on_or_after',
    rows: [
      [2, 2, 1, 1, 1, 0],
      [2, 1, 1, 0, 0],
      [1, 1, 0, 0],
      [3, 2, 0],
    ],
  },
  'one event at first, another later': {
    did: BEFORE_VIEWS,
    start: { event: 'begin' },
    return: { event: 'view' },
    rows: [
      [2, 0, 0, 0, 0, 2, 1],
      [2, 0, 0, 0, 2, 1],
      [2, 0, 0, 2, 1],
      [2, 0, 2, 1],
    ],
  },
  'the first time alone': {
    did: { person1: { event1: [0, 1, 2], event2: [2, 3] } },
    start: { event: 'event2' },
    return: { event: 'event2' },
    isFirstTime: true,
    rows: [
      [0, 0, 0],
      [0, 0, 0],
      [1, 1, 0],
    ],
  },
}

/** The beginning of an interval, and of a day for those of months and weeks. */
function momentOf(unit: Example['unit'], interval: number): Date {
  if (unit === 'month') return new Date(Date.UTC(2020, interval, 10, 5))
  const length = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }[unit ?? 'day']
  return new Date(Date.UTC(2020, 5, 10, 5, 10) + Math.round(interval * length))
}

test.each(Object.entries(EXAMPLES))('%s', async (_, { unit = 'day', did, rows, start = {}, zone, ...example }) => {
  const tenant = await createTestTenant(service)
  const events = Object.entries(did).flatMap(([visitor_id, named]) =>
    Object.entries(named).flatMap(([event, intervals]) =>
      intervals.map((each) => ({ visitor_id, event, timestamp: momentOf(unit, each).toISOString() })),
    ),
  )
  expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
  const ask = async (first: number, last: number, intervals: number) => {
    const question = {
      ...{ start, interval: unit, intervals, time_zone: zone ?? 'UTC' },
      ...{ date_from: momentOf(unit, first).toISOString().slice(0, 10), date_to: momentOf(unit, last).toISOString() },
      ...(unit === 'hour' ? { date_from: momentOf(unit, first).toISOString() } : {}),
      ...(example.return ? { return: example.return } : {}),
      ...(example.mode ? { mode: example.mode } : {}),
    }
    const { status, body } = await tenant.call('POST', '/v1/insights/retention', question)
    expect([status, body.error]).toEqual([200, undefined])
    return body.cohorts.map(({ size, returned }: { size: number; returned: number[] }) => [size, ...returned])
  }
  if (example.isFirstTime) {
    expect(await ask(0, rows.length - 1, 2)).toEqual(rows)
    return
  }
  for (const [index, row] of rows.entries())
    expect([index, await ask(index, index, row.length - 1)]).toEqual([index, [row]])
})
