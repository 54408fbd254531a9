import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { type StreamEvent, writeEvents, writeStream } from '../../test/streams.ts'
import { INSIGHT_KINDS, type InsightMatch } from '../conditions/language.ts'
import { JOURNAL_FORMAT, serializeRows } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { openTenant } from '../platform/tenant.ts'
import { backgroundContext } from '../segments/events.ts'
import { answerTo } from './kinds.ts'

const RANGE = { date_from: '2026-03-10', date_to: '2026-03-16' }
const [FROM, UNTIL] = [Date.parse('2026-03-01T00:00:00Z'), Date.parse('2026-03-20T00:00:00Z')]
const SAMPLE = 0.4

let service: TestService
/** One tenant has everybody, the other only the people who are in the sample. */
let everybody: TestTenant
let sampled: TestTenant

beforeAll(async () => {
  service = await sharedService()
  everybody = await createTestTenant(service)
  sampled = await createTestTenant(service)
  const { events, contacts } = await writeStream(service, everybody, {
    ...{ seed: 23, events: 900, from: FROM, until: UNTIL },
    names: ['page_view', 'view', 'click', 'paid'],
  })
  const isInSample = await sampleOf(events)
  const some = events.filter(isInSample)
  expect(some.length).toBeGreaterThan(20)
  expect(some.length).toBeLessThan(800)
  const links = new Map(some.flatMap(({ owner, person }) => (person && person !== owner ? [[owner, person]] : [])))
  const rows = [...links].map(([owner_id, contact_id]) => ({ tenant_id: sampled.id, owner_id, contact_id, version: 1 }))
  await service.stores.clickhouse.insert('owner_links', JOURNAL_FORMAT, serializeRows(rows), newId())
  await writeEvents(service, sampled.id, some, contacts)
})

/** Whether an event is of somebody in the sample; one of nobody, whether its session is. */
async function sampleOf(events: readonly StreamEvent[]): Promise<(event: StreamEvent) => boolean> {
  const part = 'toFloat64(hash % 1000000) / 1000000'
  const hashed = async (ids: readonly string[], value: string) => {
    const sql = `SELECT id, ${part} AS part FROM (SELECT id, sipHash64(${value}) AS hash FROM (SELECT arrayJoin({ids: Array(String)}) AS id))`
    const rows = await service.stores.clickhouse.query<{ id: string; part: number }>(sql, { ids: [...ids] })
    return new Map(rows.map(({ id, part: of }) => [id, Number(of)]))
  }
  const people = await hashed([...new Set(events.flatMap(({ person }) => person ?? []))], 'toUUID(id)')
  const others = await hashed([...new Set(events.flatMap(({ session, id }) => session || id))], 'id')
  return ({ person, session, id }) => ((person === null ? others.get(session || id) : people.get(person)) ?? 1) < SAMPLE
}

const COUNTED = [
  ...['count', 'size', 'returned', 'total', 'points', 'others'],
  ...['people', 'visits', 'page_views', 'events', 'outside_visits'],
]
/** An answer about a sample as one about everybody. */
function estimated(answer: unknown, scale: (figure: number) => number, isCount = false): unknown {
  if (typeof answer === 'number') return isCount ? scale(answer) : answer
  if (Array.isArray(answer)) return answer.map((each) => estimated(each, scale, isCount))
  if (answer === null || typeof answer !== 'object') return answer
  const fields = Object.entries(answer)
  return Object.fromEntries(fields.map(([name, value]) => [name, estimated(value, scale, COUNTED.includes(name))]))
}

const rounded = (count: number) => Math.round(count / SAMPLE)
const exactly = (sum: number) => Number((sum / SAMPLE).toPrecision(15))
const window = { value: 3, unit: 'day' }
const STEPS = [{ event: 'view' }, { event: 'click' }, { event: 'paid' }]

test.each<[string, object, (figure: number) => number]>([
  [
    'trend',
    {
      ...{ series: [{ event: 'view' }, { metric: 'unique_people' }, { metric: 'unique_sessions' }] },
      ...{ breakdown: ['data.plan'], limit: 2, compare: 'previous_period' },
    },
    rounded,
  ],
  [
    'trend',
    { series: [{ metric: 'sum', property: 'data.amount' }], where: [{ property: 'country', operator: 'is_set' }] },
    exactly,
  ],
  ['trend', { series: ['per_person', 'avg', 'max'].map((metric) => ({ metric, property: 'data.amount' })) }, Number],
  ['funnel', { steps: STEPS, window, breakdown: ['country'], limit: 2 }, rounded],
  ['funnel', { steps: STEPS, window, count_by: 'sessions', order: 'any' }, rounded],
  ['retention', { start: 'first_seen', interval: 'day', intervals: 5, compare: 'previous_period' }, rounded],
  ['retention', { start: { event: 'view' }, return: { event: 'paid' }, interval: 'day', mode: 'on_or_after' }, rounded],
  ['paths', { kind: 'pages', limit: 10 }, rounded],
  ['paths', { kind: 'events', from: 'view', depth: 3 }, rounded],
  ['web', { goals: [{ event: 'paid' }], compare: 'previous_period' }, rounded],
])('a %s of a sample counts the same people each time, and is scaled up: %j', async (kind, question, scale) => {
  const ask = async (tenant: TestTenant, more: object = {}) => {
    const { status, body } = await tenant.call('POST', `/v1/insights/${kind}`, { ...RANGE, ...question, ...more })
    expect([status, body.error]).toEqual([200, undefined])
    return body
  }
  const { sample, ...estimate } = await ask(everybody, { sample: SAMPLE })
  expect(sample).toBe(SAMPLE)
  expect(estimate).toEqual(estimated(await ask(sampled), scale))
  expect(JSON.stringify(estimate)).toMatch(/:\[?[1-9]/)
  const exact = await ask(everybody)
  expect(exact).not.toEqual(estimate)
  expect(await ask(everybody, { sample: 1 })).toEqual(exact)
})

test.each([0, 0.001, 1.1, '0.1'])('the sample %j is refused', async (sample) => {
  const { status, body } = await everybody.call('POST', '/v1/insights/trend', { ...RANGE, series: [{}], sample })
  expect([status, body.error?.details?.[0].path]).toEqual([400, 'sample'])
})

test('a sample does not lead to its people', async () => {
  const question = { ...RANGE, series: [{ event: 'paid' }], sample: SAMPLE }
  const at = { series: 'A' }
  const { status, body } = await everybody.call('POST', '/v1/insights/people', { kind: 'trend', question, at })
  expect([status, body.error.details]).toEqual([400, [{ path: 'question.sample', message: expect.any(String) }]])
  const filter = { match: 'all', conditions: [{ insight: 'trend', question, at, operator: 'did' }] }
  const segment = await everybody.call('POST', '/v1/segments', { name: 'Some', filter })
  expect([segment.status, segment.body.error?.code]).toEqual([400, 'validation_error'])
  const whole = { kind: 'trend', question: { ...question, sample: 1 }, at }
  expect((await everybody.call('POST', '/v1/insights/people', whole)).status).toBe(200)
})

test('each line of the file of a sample says so', async () => {
  const question = { ...RANGE, series: [{}], interval: 'week', sample: SAMPLE }
  const report = { name: 'Estimate', kind: 'trend', question }
  const { report_id } = (await everybody.call('POST', '/v1/reports', report)).body.report
  const { body } = await everybody.call('GET', `/v1/reports/${report_id}/export.csv`)
  const [head, ...lines] = String(body).trim().split(/\r?\n/)
  expect(head).toMatch(/,sample$/)
  expect(lines.length).toBeGreaterThan(1)
  for (const line of lines) expect(line).toMatch(/,0\.4$/)
})

test('a question that is too expensive offers a sample, and then a smaller one', async () => {
  const { stores } = service
  const clickhouse: typeof stores.clickhouse = {
    ...stores.clickhouse,
    query: (sql, parameters, bounds) =>
      stores.clickhouse.query(
        sql,
        parameters,
        sql.startsWith('/* insights.') ? { ...bounds, memoryBytes: 1_000 } : bounds,
      ),
  }
  const handle = openTenant({ ...stores, clickhouse }, everybody.id, new AbortController().signal)
  const context = backgroundContext(handle, new Date())
  const questions: Record<InsightMatch['insight'], object> = {
    trend: { series: [{}] },
    funnel: { steps: STEPS, window },
    retention: { start: 'first_seen', interval: 'day' },
    paths: { kind: 'pages' },
    web: {},
  }
  const asked = (kind: InsightMatch['insight'], sample: number) =>
    answerTo(context, { kind, question: { ...questions[kind], sample } })
  const offering = (sample: number) => ({
    ...{ status: 400, code: 'query_too_expensive', message: expect.stringContaining('"sample"') },
    details: [{ path: 'sample', message: expect.stringContaining(String(sample)) }],
  })
  for (const kind of INSIGHT_KINDS) await expect(asked(kind, 1)).rejects.toMatchObject(offering(0.1))
  await expect(asked('trend', 0.03)).rejects.toMatchObject(offering(0.01))
  await expect(asked('trend', 0.01)).rejects.toMatchObject({ code: 'query_too_expensive', details: undefined })
})
