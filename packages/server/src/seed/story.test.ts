import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'
import { DAY_MS } from '../platform/time.ts'
import { seedTenant } from './seed.ts'
import { storyUntil } from './story.ts'

const now = new Date()
const story = storyUntil(now)
let tenant: TestTenant

beforeAll(async () => {
  tenant = await createTestTenant(await sharedService())
  const size = { contacts: 300, companies: 20, events: 25_000, days: 90, seed: 1 }
  await seedTenant(tenant.handle, { ...size, site: 'www.example.com', now, onProgress: () => {} })
})

async function ask(kind: string, question: object) {
  const range = { last: { value: 80, unit: 'day' }, time_zone: 'UTC' }
  const { status, body } = await tenant.call('POST', `/v1/insights/${kind}`, { ...range, ...question })
  expect([status, body.error]).toEqual([200, undefined])
  return body
}

const CLICKED_TRIAL = {
  event: 'button_click',
  where: [{ property: 'text', operator: 'equals', value: 'Start free trial' }],
  metric: 'unique_people',
}
const SAW_FORM = {
  event: 'page_view',
  where: [{ property: 'url_path', operator: 'equals', value: '/signup' }],
  metric: 'unique_people',
}

test('on the day of the fault, and only then, nobody who wants a trial reaches the form', async () => {
  const { intervals, series } = await ask('trend', { series: [CLICKED_TRIAL, SAW_FORM], interval: 'day' })
  const [clicked, saw] = series.map(({ points }: { points: number[] }) => points)
  const isBroken = (index: number) => clicked[index] > 0 && saw[index] < clicked[index] / 2
  const fault = story.fault.toISOString().slice(0, 10)
  expect(intervals.filter((_: string, index: number) => isBroken(index))).toEqual([fault])
})

test('the launch is the day with the most people', async () => {
  const { intervals, series } = await ask('trend', { series: [{ metric: 'unique_people' }], interval: 'day' })
  const busiest = intervals[series[0].points.indexOf(Math.max(...series[0].points))]
  const daysAgo = Math.floor(now.getTime() / DAY_MS) - Date.parse(busiest) / DAY_MS
  expect(daysAgo).toBeGreaterThanOrEqual(40)
  expect(daysAgo).toBeLessThanOrEqual(46)
})

test('people drop off on their way to a project, and those of the campaign less', async () => {
  const named = ({ metric: _, ...step }: typeof CLICKED_TRIAL) => step
  const steps = [{ event: 'page_view' }, named(CLICKED_TRIAL), { event: 'form_submit' }, { event: 'project_created' }]
  const answer = await ask('funnel', { steps, window: { value: 7, unit: 'day' }, breakdown: ['utm_campaign'] })
  const counts: number[] = answer.steps.map(({ count }: { count: number }) => count)
  expect(counts).toEqual(counts.toSorted((one, other) => other - one))
  expect(new Set(counts).size).toBe(steps.length)
  expect(counts.at(-1)).toBeGreaterThan(5)
  const clickedOf = (campaign: string | null) =>
    answer.groups.find(({ breakdown }: { breakdown: unknown[] }) => breakdown?.[0] === campaign).steps[1].from_first
  expect(clickedOf('autumn')).toBeGreaterThan(clickedOf(null))
})

test('of those who sign up fewer come back each week, and some stay', async () => {
  const { average } = await ask('retention', {
    start: { event: 'signed_up' },
    return: { event: 'report_viewed' },
    interval: 'week',
    intervals: 6,
  })
  expect(average[0]).toBeGreaterThan(average[5])
  expect(average[5]).toBeGreaterThan(0.05)
})
