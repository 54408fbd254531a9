import { describe, expect, test } from 'vitest'
import { axisOf, formatFigure, formatLength, formatShare, labelEvery } from '../src/insights/axis.ts'
import { csvText } from '../src/insights/csv.ts'
import { trendDraft, trendQuestion } from '../src/insights/draft.ts'
import { funnelDraft, funnelQuestion, isFunnel } from '../src/insights/funnel-question.ts'
import { wentOn } from '../src/insights/funnel-rows.ts'
import { longInterval, shortInterval, stateOfInterval, unitOf } from '../src/insights/interval-keys.ts'
import { layoutOf } from '../src/insights/paths-layout.ts'
import { isPaths, pathsDraft, pathsQuestion } from '../src/insights/paths-question.ts'
import { isTrend, parseQuestion, trendRequest } from '../src/insights/question.ts'
import { retentionDraft, retentionQuestion } from '../src/insights/retention-draft.ts'
import { isRetention } from '../src/insights/retention-question.ts'
import { funnelSummary, pathsSummary, retentionSummary, trendSummary } from '../src/insights/summary.ts'
import { purchaseIn, templatesFor } from '../src/insights/templates.ts'
import { rowsOf } from '../src/insights/trend-rows.ts'
import { rowName } from '../src/insights/web-lists.ts'
import { conditionsOf, isWeb, siteOf, toggleRow, withSite } from '../src/insights/web-question.ts'

const NO_TYPES = { records: new Map(), events: new Map() }
const SHARED = {
  date_from: '2026-01-01',
  date_to: '2026-02-01',
  time_zone: 'Europe/Berlin',
  where: [{ property: 'data.plan', operator: 'equals' as const, value: 5 }],
  people: { match: 'all' as const, conditions: [{ property: 'country', operator: 'equals' as const, value: 'FR' }] },
  include_bots: true,
  compare: { date_from: '2025-01-01' },
}
const MEANT = { event: 'order_paid', where: [{ property: 'data.n', operator: 'gt' as const, value: 3 }], label: 'Paid' }

describe('a question survives its form unchanged, and its URL', () => {
  test('of a trend', () => {
    const question = {
      ...SHARED,
      series: [
        { ...MEANT, metric: 'sum' as const, property: 'data.amount' },
        { types: ['a', 'b'], metric: 'count' as const },
        { metric: 'per_person' as const },
      ],
      formula: 'B / A',
      interval: 'week' as const,
      breakdown: ['country', 'data.plan'],
      limit: 3,
    }
    expect(trendQuestion(trendDraft(question), NO_TYPES)).toEqual(question)
    expect(parseQuestion(JSON.stringify(question), isTrend)).toEqual(question)
  })

  test('of a funnel', () => {
    const question = {
      ...SHARED,
      steps: [MEANT, {}, { types: ['x'] }],
      window: { value: 3, unit: 'hour' as const },
      order: 'strict' as const,
      count_by: 'sessions' as const,
      exclude: [{ event: 'left' }],
      breakdown: ['country'],
      limit: 4,
    }
    expect(funnelQuestion(funnelDraft(question), NO_TYPES)).toEqual(question)
    expect(parseQuestion(JSON.stringify(question), isFunnel)).toEqual(question)
  })

  test('of a retention', () => {
    const rest = { interval: 'month' as const, intervals: 12, mode: 'on_or_after' as const }
    for (const question of [
      { ...SHARED, start: MEANT, return: { event: 'came_back' }, ...rest },
      { ...SHARED, start: 'first_seen' as const, return: 'any' as const, ...rest },
    ]) {
      expect(retentionQuestion(retentionDraft(question), NO_TYPES)).toEqual(question)
      expect(parseQuestion(JSON.stringify(question), isRetention)).toEqual(question)
    }
  })

  test('of paths', () => {
    for (const end of [{}, { from: '/a' }, { to: '/b' }]) {
      const question = { ...SHARED, kind: 'pages' as const, ...end, depth: 6, limit: 20 }
      expect(pathsQuestion(pathsDraft(question), NO_TYPES)).toEqual(question)
      expect(parseQuestion(JSON.stringify(question), isPaths)).toEqual(question)
    }
    expect(pathsQuestion({ ...pathsDraft({ kind: 'pages' }), end: 'from', name: ' ' }, NO_TYPES)).toBeNull()
  })

  test('what the form cannot show is refused', () => {
    const window = { value: 1, unit: 'day' }
    for (const [broken, isQuestion] of [
      [{ series: [{ event: 5 }] }, isTrend],
      [{ series: [{}], interval: 'year' }, isTrend],
      [{ series: [{}], compare: 'next' }, isTrend],
      [{ series: [{}], last: { value: '7', unit: 'day' } }, isTrend],
      [{ steps: [{}, {}] }, isFunnel],
      [{ steps: [{}, 'a'], window }, isFunnel],
      [{ steps: [{}, {}], window: { value: 1, unit: 'year' } }, isFunnel],
      [{ start: 'any' }, isRetention],
      [{ start: {}, return: 'first_seen' }, isRetention],
      [{ kind: 'clicks' }, isPaths],
      [{ kind: 'pages', from: 5 }, isPaths],
      [{ interval: 'year' }, isWeb],
      [{ goals: [{ event: 5 }] }, isWeb],
      [{ visit: [{ list: 'nobody', value: 'x' }] }, isWeb],
      [{ visit: [{ list: 'source' }] }, isWeb],
    ] as const) {
      expect([broken, parseQuestion<unknown>(JSON.stringify(broken), isQuestion)]).toEqual([broken, undefined])
    }
  })
})

test('a question of web analytics is narrowed to rows and sites, and no longer', () => {
  const question = { ...SHARED, goals: [MEANT], visit: [{ list: 'country' as const, value: 'DE' }] }
  expect(parseQuestion(JSON.stringify(question), isWeb)).toEqual(question)
  expect(toggleRow(question, 'source', null).visit).toEqual([...question.visit, { list: 'source', value: null }])
  expect(toggleRow(question, 'country', 'FR').visit).toEqual([{ list: 'country', value: 'FR' }])
  expect(toggleRow(question, 'country', 'DE')).toEqual({ visit: undefined })
  const { where } = withSite(conditionsOf(question), 'shop.example.com')
  expect([where?.length, siteOf(conditionsOf({ where: where ?? [] }))]).toEqual([2, 'shop.example.com'])
  expect(withSite(conditionsOf({ where: where ?? [] }), undefined)).toEqual({ where: SHARED.where })
  const names = [
    rowName('source', null),
    rowName('country', 'DE'),
    rowName('city', null),
    rowName('device_type', 'mobile'),
  ]
  expect(names).toEqual(['Direct', 'Germany', 'Not known', 'Phone'])
})

test('rows are named by their series and values, and paired with the period before', () => {
  const question = {
    series: [{ event: 'page_view' }, { event: 'order_paid', metric: 'sum' as const, property: 'data.amount' }],
    breakdown: ['data.plan'],
  }
  expect(trendRequest(question).series.map(({ label }) => label)).toEqual(['A', 'B'])
  const figures = { total: 1, points: [1] }
  const rows = rowsOf(question, {
    status: 'success',
    intervals: ['2026-01-01'],
    series: [
      { label: 'A', breakdown: ['pro'], ...figures },
      { label: 'B', breakdown: [null], ...figures },
    ],
    others: [{ label: 'B', ...figures }],
    compare: { intervals: ['2025-12-31'], series: [{ label: 'A', breakdown: ['pro'], total: 2, points: [2] }] },
  })
  expect(rows.map(({ name, at, before }) => [name, at, before?.total])).toEqual([
    ['Viewed a page, pro', { series: 'A', breakdown: ['pro'] }, 2],
    ['Order paid: sum of amount, No value', { series: 'B', breakdown: [null] }, undefined],
    ['Order paid: sum of amount, All others', undefined, undefined],
  ])
})

test.each([
  [[], [0, 1]],
  [[0], [0, 1]],
  [
    [3, 9],
    [0, 3, 6, 9],
  ],
  [
    [100, 870],
    [0, 250, 500, 750, 1000],
  ],
  [
    [0.1, 0.55],
    [0, 0.2, 0.4, 0.6],
  ],
  [
    [-3, 5],
    [-4, -2, 0, 2, 4, 6],
  ],
])('an axis of %j has the lines %j', (figures, ticks) => {
  expect(axisOf(figures)).toEqual(ticks)
})

test('the labels of an axis have room', () => {
  expect([labelEvery(365, 800), labelEvery(7, 800), labelEvery(7, 0)]).toEqual([37, 1, 7])
})

test('figures have two decimals, small ones two digits, and unknown ones a dash', () => {
  expect([1234.567, 0.00123, 0, null, undefined].map(formatFigure)).toEqual(['1,234.57', '0.0012', '0', '–', '–'])
  expect([0.12345, null].map(formatShare)).toEqual(['12.3%', '–'])
  const lengths = [0, 59.6, 155, 3_600, 7_384, null].map(formatLength)
  expect(lengths.map((length) => length.replaceAll('\u00a0', ' '))).toEqual([
    '0 s',
    '1 min 0 s',
    '2 min 35 s',
    '1 h',
    '2 h 3 min',
    '–',
  ])
})

test('a file quotes what it must, and no cell is a formula', () => {
  expect(csvText([['a,b', 'say "x"', null, -5, '=1+1', ' \u200b@x', '＝1']])).toBe(
    '"a,b","say ""x""",,-5,\'=1+1,\' \u200b@x,\'＝1\r\n',
  )
})

test('an interval is over, running or to come', () => {
  const now = new Date('2026-03-04T12:30:00Z')
  expect(['2026-03-03', '2026-03-04', '2026-03-05'].map((key) => stateOfInterval('day', key, now))).toEqual([
    'over',
    'running',
    'future',
  ])
  expect(['2026-W09', '2026-W10', '2026-W11'].map((key) => stateOfInterval('week', key, now))).toEqual([
    'over',
    'running',
    'future',
  ])
  expect(['2026-02', '2026-03', '2026-04'].map((key) => stateOfInterval('month', key, now))).toEqual([
    'over',
    'running',
    'future',
  ])
  const hours = ['2026-03-04T12:00+01:00', '2026-03-04T12:00+00:00', '2026-03-04T14:00+01:00']
  expect(hours.map((key) => stateOfInterval('hour', key, now))).toEqual(['over', 'running', 'future'])
  expect(['2026-10-25T02:00+01:00', '2026-10-25', '2026-W43', '2026-10'].map(unitOf)).toEqual([
    'hour',
    'day',
    'week',
    'month',
  ])
  expect(longInterval('week', '2026-W10')).toMatch(/2.+8/)
  expect(shortInterval('hour', '2026-10-25T02:00+01:00')).toBe('02:00')
})

test('a flow has no node over another, and bands as wide as their nodes are high', () => {
  const nodes = [
    { step: 1, name: '/', count: 6 },
    { step: 1, name: '/a', count: 2 },
    { step: 2, name: '/b', count: 5 },
    { step: 2, name: '/a', count: 3 },
  ]
  const links = [
    { step: 1, from: '/', to: '/b', count: 4 },
    { step: 1, from: '/', to: '/a', count: 2 },
    { step: 1, from: '/a', to: '/b', count: 1 },
    { step: 1, from: '/a', to: '/gone', count: 1 },
  ]
  const drawn = layoutOf({ nodes, links }, 600, 400)
  expect([drawn.nodes.length, drawn.links.length, drawn.hidden]).toEqual([4, 3, 0])
  for (const step of [1, 2]) {
    const column = drawn.nodes.filter((node) => node.step === step).toSorted((a, b) => a.y - b.y)
    expect(column.map(({ count }) => count)).toEqual(column.map(({ count }) => count).toSorted((a, b) => b - a))
    for (const [index, node] of column.entries()) {
      expect(node.y + node.height).toBeLessThanOrEqual(column[index + 1]?.y ?? 400)
    }
  }
  const home = drawn.nodes.find(({ step, name }) => step === 1 && name === '/')
  const leaving = drawn.links.filter(({ from }) => from === '/').reduce((sum, { width }) => sum + width, 0)
  expect(leaving).toBeCloseTo(home?.height ?? 0)
  const many = Array.from({ length: 15 }, (_, index) => ({ step: 1, name: `/${index}`, count: 1 }))
  expect(layoutOf({ nodes: many, links: [] }, 600, 400)).toMatchObject({ hidden: 5, links: [] })
})

const PROPERTY = {
  label: '',
  type: 'number' as const,
  is_editable: false,
  is_computed: false,
  is_usual: false,
  choices: null,
}

test('a template is about events that were seen, and says what it lacks', () => {
  const events = ['page_view', 'button_click', 'Account Created', 'projectOpened', 'order_paid', 'form_submit']
  const amount = { ...PROPERTY, name: 'data.amount', kinds: ['number' as const], values_seen: 1, last_seen_at: null }
  expect(purchaseIn(events)).toBe('order_paid')
  const templates = templatesFor(events, [amount])
  expect(templates.map(({ id, events: names }) => [id, names])).toEqual([
    ['signUp', ['page_view', 'Account Created', 'projectOpened']],
    ['retention', []],
    ['activation', ['Account Created', 'projectOpened']],
    ['beforeSignUp', ['Account Created']],
    ['revenue', ['order_paid']],
  ])
  // Each can be opened: its page accepts it.
  const isKind = { trend: isTrend, funnel: isFunnel, retention: isRetention, paths: isPaths }
  expect(templates.filter(({ kind, question }) => !isKind[kind](question))).toEqual([])
  const missing = (seen: string[]) => templatesFor(seen, []).map((template) => template.missing)
  expect(missing(['page_view'])).toEqual(['signUp', undefined, 'signUp', 'signUp', 'purchase'])
  expect(missing(['page_view', 'form_submit'])).toEqual([undefined, undefined, 'activation', undefined, 'purchase'])
  expect(missing(['sign_up', 'order_paid'])).toEqual([undefined, undefined, undefined, undefined, 'money'])
})

test.each([
  ['user_signed_up', true],
  ['signup_completed', true],
  ['UserRegistered', true],
  ['trial_started', true],
  ['signup_viewed', false],
  ['sign_in', false],
  ['newsletter_signup_shown', false],
])('%s is a sign-up: %s', (event, is) => {
  const [signUp] = templatesFor(['page_view', event], [])
  expect(signUp?.question !== null).toBe(is)
})

test('a question is told in one line', () => {
  const last = { value: 8, unit: 'week' as const }
  const compare = 'previous_period' as const
  expect([
    trendSummary({ series: [{ event: 'page_view', metric: 'unique_people' }, {}], breakdown: ['data.plan'] }),
    funnelSummary({
      steps: [{ event: 'page_view' }, { event: 'order_paid' }],
      window: { value: 7, unit: 'day' },
      last,
    }),
    retentionSummary({ start: 'first_seen', return: 'any', interval: 'week', last, compare }),
    pathsSummary({ kind: 'pages', from: '/pricing', where: MEANT.where, people: SHARED.people }),
  ]).toEqual([
    { what: 'Viewed a page: people and Any event, by day, by value of Plan', when: 'Last 30 days' },
    { what: 'Viewed a page → Order paid, within 7 days', when: 'Last 8 weeks' },
    {
      what: 'First event of all, then back for any event, by week',
      when: 'Last 8 weeks, compared with the period before',
    },
    { what: 'Pages of visits from /pricing on', when: 'Last 30 days, some people, 1 condition' },
  ])
})

test('a step says how many went on, and how long it took', () => {
  const step = { label: '', count: 3, from_first: 0.5, from_previous: 0.375 }
  expect([0.2, 90, 7_500, 300_000, null].map((median_seconds) => wentOn({ ...step, median_seconds }, 1))).toEqual([
    '37.5% went on, half of them within 1\u00a0s',
    '37.5% went on, half of them within 2\u00a0min',
    '37.5% went on, half of them within 2\u00a0h 5\u00a0min',
    '37.5% went on, half of them within 3.5 days',
    '37.5% went on',
  ])
  expect(wentOn({ ...step, median_seconds: null }, 0)).toBe('')
})
