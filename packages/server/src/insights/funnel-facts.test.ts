import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService } from '../../test/service.ts'
import { visitorEvent, writeEvents } from '../../test/streams.ts'
import { newId } from '../platform/ids.ts'

/*
 * What another product's public tests say about funnels (PostHog, posthog/hogql_queries/insights/funnels/test): who did what
 * when, and which counts follow. Where it discards whoever did an excluded event, an attempt here keeps the steps before it.
 */

let service: TestService

beforeAll(async () => {
  service = await sharedService()
})

/** Events an hour apart, or with the hours since the start. */
type Journey = string | [hours: number, event: string, data?: object][]

interface Fact {
  name: string
  steps: (string | object)[]
  more?: object
  people: Journey[]
  counts: number[]
  medians?: (number | null)[]
}

const START = Date.UTC(2024, 2, 1)
const HOUR = 3_600_000
const is = (property: string, value: unknown, operator = 'equals') => ({ property, operator, value })

const TOOLS: Journey[] = [
  'signup',
  'view signup',
  'signup view other insight',
  'insight other view signup',
  'view signup other view insight',
  'other signup other view',
  'other signup view insight other',
  'insight view',
]

const FACTS: Fact[] = [
  {
    name: 'whoever does a step before the first one does not reach it',
    steps: ['signup', 'pay', 'movie'],
    people: ['signup', 'signup pay', 'signup pay movie', 'movie', 'pay signup movie'],
    counts: [4, 2, 1],
  },
  {
    name: 'two steps in the wrong order are not two steps',
    steps: ['signup', 'movie'],
    people: ['signup', 'signup', 'signup movie', 'movie', 'movie signup'],
    counts: [4, 1],
  },
  {
    name: 'steps of any event need as many events',
    steps: [{}, {}, {}],
    people: ['signup', 'signup movie', 'signup movie', 'movie', 'movie signup movie'],
    counts: [5, 3, 1],
  },
  {
    name: 'a step cannot be skipped',
    steps: ['signup', 'pay', 'movie'],
    people: ['signup movie'],
    counts: [1, 0, 0],
    medians: [null, null, null],
  },
  {
    name: 'conditions on every event leave steps out',
    steps: ['signup', 'pay', 'movie'],
    more: { where: [is('data.browser', 'Safari')] },
    people: [
      [
        [0, 'signup', { browser: 'Safari' }],
        [1, 'pay', { browser: 'Safari' }],
      ],
      'signup pay',
      [
        [0, 'signup', { browser: 'Safari' }],
        [1, 'pay'],
      ],
    ],
    counts: [2, 1, 0],
  },
  {
    name: 'steps of one event differ by their conditions',
    steps: ['one', { event: 'two', where: [is('data.x', 'a')] }, { event: 'two', where: [is('data.x', 'c')] }],
    people: [
      [
        [0, 'one'],
        [1, 'two', { x: 'a' }],
      ],
    ],
    counts: [1, 1, 0],
  },
  {
    name: 'incomplete tries after a complete one do not count',
    steps: ['signup', 'view', 'else'],
    more: { window: { value: 1, unit: 'day' } },
    people: [
      [
        ...([
          [1, 'signup'],
          [2, 'view'],
          [3, 'else'],
        ] as [number, string][]),
        ...([
          [52, 'signup'],
          [53, 'view'],
          [79, 'signup'],
          [82, 'view'],
        ] as [number, string][]),
      ],
    ],
    counts: [1, 1, 1],
    medians: [null, 3600, 3600],
  },
  {
    name: 'the time between two steps is the median of those who did both',
    steps: ['signup', 'movie', 'buy'],
    people: [
      [
        [12, 'signup'],
        [13, 'movie'],
        [15, 'buy'],
      ],
      [
        [14, 'signup'],
        [16, 'movie'],
      ],
      [
        [14, 'signup'],
        [16, 'movie'],
        [17, 'buy'],
      ],
    ],
    counts: [3, 3, 2],
    medians: [null, 7200, 5400],
  },
  ...(
    [
      [{ value: 14, unit: 'day' }, 2, 600],
      [{ value: 5, unit: 'minute' }, 1, 300],
    ] as const
  ).map(
    ([window, count, median]): Fact => ({
      name: `a window of ${window.value} ${window.unit}s`,
      steps: ['signup', 'view'],
      more: { window },
      people: [
        [
          [14, 'signup'],
          [14 + 5 / 60, 'view'],
        ],
        [[14.05, 'signup']],
        [
          [12, 'signup'],
          [12.25, 'view'],
        ],
      ],
      counts: [3, count],
      medians: [null, median],
    }),
  ),
  {
    name: 'excluded events end an attempt',
    steps: ['signup', 'paid'],
    more: { exclude: [{ event: 'x' }] },
    people: ['signup paid', 'signup x paid', 'signup paid'],
    counts: [3, 2],
  },
  {
    name: 'an excluded event with a condition ends an attempt where it is true',
    steps: ['signup', 'paid'],
    more: { exclude: [{ event: 'x', where: [is('data.key', 'val')] }] },
    people: [
      'signup paid',
      [
        [0, 'signup'],
        [1, 'x', { key: 'val' }],
        [2, 'paid'],
      ],
      [
        [0, 'signup'],
        [1, 'x'],
        [2, 'paid'],
      ],
    ],
    counts: [3, 2],
  },
  {
    name: 'another attempt may begin after an excluded event',
    steps: ['one', 'two'],
    more: { exclude: [{ event: 'x' }], window: { value: 1, unit: 'minute' } },
    people: ['one x one', 'one one x', 'one x one two'],
    counts: [3, 0],
  },
  {
    name: 'many events of one time',
    steps: ['one', 'two', 'three'],
    people: [[...Array.from({ length: 30 }, (): [number, string] => [12, 'one']), [12, 'two'], [12, 'three']]],
    counts: [1, 1, 1],
    medians: [null, 0, 0],
  },
  {
    name: 'strict: no other event between two steps',
    steps: ['signup', 'view', 'insight'],
    more: { order: 'strict' },
    people: TOOLS,
    counts: [7, 2, 1],
  },
  {
    name: 'strict: with conditions, which other events of the same name do not meet',
    steps: [
      'user signup',
      { event: 'signup', where: [is('data.key', 'val')] },
      '$view',
      { event: 'view', where: [is('data.key', 'val')] },
    ],
    more: { order: 'strict' },
    people: [
      'user_signup',
      'user_signup $view',
      'user_signup signup=val signup=val2 $view other insight',
      'other user_signup signup=val $view=val other',
      'other user_signup signup=val $view other',
      'other user_signup signup=val $view view=val1',
      'other user_signup signup=val $view user_signup view=val',
      'other user_signup user_signup signup=val $view view=val',
    ].map((journey) =>
      journey.split(' ').map((each, hours): [number, string, object] => {
        const [event = '', key] = each.replace('_', ' ').split('=')
        return [hours, event, key === undefined ? {} : { key }]
      }),
    ),
    counts: [8, 6, 5, 1],
  },
  {
    name: 'strict: times',
    steps: ['signup', 'view', 'insight'],
    more: { order: 'strict' },
    people: [
      [[0, 'signup']],
      [
        [0, 'signup'],
        [1, 'view'],
      ],
      [
        [0, 'signup'],
        [2, 'view'],
        [4, 'insight'],
      ],
    ],
    counts: [3, 2, 1],
    medians: [null, 5400, 7200],
  },
  {
    name: 'any order: step k counts who did k of the steps',
    steps: ['signup', 'view', 'insight'],
    more: { order: 'any' },
    people: [
      ...['signup', 'view signup', 'signup view other insight', 'insight view signup'],
      ...['view signup other insight', 'other insight', 'view other', 'insight view'],
    ],
    counts: [8, 5, 3],
  },
  {
    name: 'any order: four steps',
    steps: ['signup', 'view', 'insight', 'crying'],
    more: { order: 'any' },
    people: [
      ...['signup', 'view crying', 'signup view other insight', 'insight crying signup'],
      ...['view signup crying insight', 'other insight', 'view other', 'insight view'],
    ],
    counts: [8, 5, 3, 1],
  },
  {
    name: 'any order: the first of two complete attempts counts',
    steps: ['signup', 'view', 'insight'],
    more: { order: 'any', window: { value: 1, unit: 'day' } },
    people: [
      [[0, 'signup']],
      [
        [0, 'view'],
        [1, 'signup'],
      ],
      [
        [0, 'insight'],
        [2, 'signup'],
        [4, 'view'],
        [24, 'view'],
        [27, 'insight'],
        [30, 'signup'],
      ],
    ],
    counts: [3, 2, 1],
    medians: [null, 5400, 7200],
  },
  {
    name: 'any order: an event of any name with a property',
    steps: ['signup', { where: [is('data.is_saved', true)] }],
    more: { order: 'any' },
    people: [
      [
        [0, 'signup'],
        [1, 'added', { is_saved: true }],
      ],
    ],
    counts: [1, 1],
  },
  {
    name: 'any order: two steps of one event by its properties',
    steps: [
      { event: 'signup', where: [is('data.a', 'some value')] },
      { event: 'signup', where: [is('data.b', 'another', 'contains')] },
    ],
    more: { order: 'any' },
    people: [
      [
        [0, 'signup', { a: 'some value' }],
        [1, 'signup', { b: 'another value' }],
      ],
    ],
    counts: [1, 1],
  },
  ...['UTC', 'America/Los_Angeles'].map(
    (time_zone): Fact => ({
      name: `any order: a window is not moved by the clocks, in ${time_zone}`,
      steps: ['view', 'signup'],
      more: { order: 'any', time_zone },
      people: [
        [
          [15 + 10 / 60, 'view'],
          [14 * 24 + 14 + 27 / 60, 'signup'],
        ],
      ],
      counts: [1, 1],
      medians: [null, 1_207_020],
    }),
  ),
  {
    name: 'any order: an excluded event ends an attempt, which keeps its steps',
    steps: ['one', 'two', 'three'],
    more: { order: 'any', exclude: [{ event: 'x' }], window: { value: 6, unit: 'hour' } },
    people: ['one two x three', 'one two three'],
    counts: [2, 2, 1],
  },
]

test.each(FACTS)('$name', async ({ steps, more = {}, people, counts, medians }) => {
  const tenant = await createTestTenant(service)
  const events = people.flatMap((journey) => {
    const owner = newId()
    const done =
      typeof journey === 'string' ? journey.split(' ').map((event, hours) => [hours, event] as const) : journey
    return done.map(([hours, event, data = {}]) =>
      visitorEvent(owner, event, Math.round(START + hours * HOUR), { data: data as Record<string, unknown> }),
    )
  })
  await writeEvents(service, tenant.id, events, [])
  const { status, body } = await tenant.call('POST', '/v1/insights/funnel', {
    ...{ date_from: '2024-02-17', date_to: '2024-03-20', window: { value: 14, unit: 'day' } },
    ...more,
    steps: steps.map((step) => (typeof step === 'string' ? { event: step } : step)),
  })
  expect([status, body.error]).toEqual([200, undefined])
  expect(body.steps.map(({ count }: { count: number }) => count)).toEqual(counts)
  const found = body.steps.map(({ median_seconds: seconds }: { median_seconds: number | null }) => seconds)
  if (medians) expect(found).toEqual(medians)
})

test('each value of a breakdown has the attempts that began with it', async () => {
  const tenant = await createTestTenant(service)
  const owner = newId()
  const done = [
    ['first', 'one'],
    ['first', 'two'],
    ['other', 'one'],
    ['other', 'two'],
    ['second', 'one'],
  ] as const
  const events = done.map(([event, bd], hours) => visitorEvent(owner, event, START + hours * HOUR, { data: { bd } }))
  await writeEvents(service, tenant.id, events, [])
  const { body } = await tenant.call('POST', '/v1/insights/funnel', {
    ...{ date_from: '2024-03-01', window: { value: 14, unit: 'day' }, order: 'strict', breakdown: ['data.bd'] },
    steps: [{ event: 'first' }, { event: 'second' }],
  })
  expect(body.groups).toMatchObject([{ breakdown: ['one'], steps: [{ count: 1 }, { count: 0 }] }])
  expect(body.groups).toHaveLength(1)
})
