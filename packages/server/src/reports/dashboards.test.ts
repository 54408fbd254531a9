import { beforeAll, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { type Stream, writeStream } from '../../test/streams.ts'

let service: TestService
let tenant: TestTenant
let stream: Stream

const RANGE = { date_from: '2026-03-28', date_to: '2026-03-30' }
const [FIRST, LAST] = [Date.parse('2026-03-28T00:00:00Z'), Date.parse('2026-03-31T00:00:00Z') - 1]
const PLACE = { x: 0, y: 0, width: 6, height: 4 }

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  stream = await writeStream(service, tenant, { seed: 21, events: 120, from: FIRST, until: LAST + 86_400_000 })
})

const create = (body: object, of = tenant) => of.call('POST', '/v1/dashboards', { name: 'Growth', ...body })

async function report(question: object, of = tenant): Promise<string> {
  const { status, body } = await of.call('POST', '/v1/reports', { name: 'Signups', kind: 'trend', question })
  expect([status, body.error]).toEqual([201, undefined])
  return body.report.report_id
}

async function dashboard(body: object): Promise<string> {
  const { status, body: made } = await create(body)
  expect([status, made.error]).toEqual([201, undefined])
  return made.dashboard.dashboard_id
}

test('a dashboard is created, read, listed by name, changed and deleted, and the audit log says so', async () => {
  const own = await createTestTenant(service)
  const report_id = await report({ series: [{}] }, own)
  const tiles = [
    { report_id, ...PLACE },
    { text: '# Growth', ...PLACE, x: 6 },
  ]
  const defaults = { range: { last: { value: 7, unit: 'day' } }, where: [] }
  const made = await create({ name: ' Growth of all ', tiles, ...defaults }, own)
  expect([made.status, made.body.dashboard]).toMatchObject([201, { name: 'Growth of all', tiles, ...defaults }])
  const { dashboard_id } = made.body.dashboard
  const path = `/v1/dashboards/${dashboard_id}`
  const read = await own.call('GET', path)
  expect(read.body.dashboard).toEqual(made.body.dashboard)
  const other = await create({ name: 'Other' }, own)
  expect(other.body.dashboard).toMatchObject({ tiles: [], range: null, where: [] })
  const found = async (query: string) => {
    const { body } = await own.call('GET', `/v1/dashboards?${query}`)
    return [body.dashboards.map(({ name }: { name: string }) => name), body.pagination.total_items]
  }
  expect(await found('page=1&limit=1')).toEqual([['Other'], 2])
  expect(await found('search=ALL%20gro')).toEqual([['Growth of all'], 1])
  expect(await found('search=none')).toEqual([[], 0])

  const ifRead = (method: string, body?: object) =>
    call(service, method, path, {
      headers: { authorization: `Bearer ${own.key}`, 'if-match': read.headers.get('etag') ?? '' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const where = [{ property: 'country', operator: 'equals', value: 'DE' }]
  const changed = await ifRead('PATCH', { name: 'Germany', range: null, where, tiles: tiles.slice(1) })
  expect(changed.body).toMatchObject({
    dashboard: { name: 'Germany', range: null, where, tiles: tiles.slice(1) },
    changed: ['name', 'tiles', 'range', 'where'],
  })
  expect((await ifRead('PATCH', { name: 'Late' })).body.error.code).toBe('changed_meanwhile')
  expect((await ifRead('DELETE')).body.error.code).toBe('changed_meanwhile')
  expect((await own.call('PATCH', path, { name: 'Germany' })).body.changed).toEqual([])
  expect(await found('')).toEqual([['Germany', 'Other'], 2])
  expect((await own.call('DELETE', path)).body).toMatchObject({ deleted: true, dashboard_id })
  expect((await own.call('GET', path)).status).toBe(404)
  expect((await own.call('GET', `/v1/reports/${report_id}`)).status).toBe(200)
  const { body } = await own.call('GET', '/v1/audit-log?subject_kind=dashboard')
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'dashboard.deleted',
    'dashboard.updated',
    'dashboard.created',
    'dashboard.created',
  ])
})

test('its results are the answers of its reports over its range, with the conditions of both', async () => {
  const series = [{ event: 'signup', where: [{ property: 'data.plan', operator: 'equals', value: 'pro' }] }]
  const report_id = await report({ series, last: { value: 1, unit: 'day' }, interval: 'day' })
  const where = [{ property: 'country', operator: 'equals', value: 'DE' }]
  const tiles = [
    { text: 'Signups', ...PLACE },
    { report_id, ...PLACE },
    { report_id: report_id.toUpperCase(), ...PLACE },
  ]
  const id = await dashboard({ tiles, range: RANGE, where })
  const { status, body } = await tenant.call('POST', `/v1/dashboards/${id}/run`)
  expect([status, body.error]).toEqual([200, undefined])
  const [text, first, second] = body.results
  expect(text).toEqual({ report: null, question: null, answer: null, error: null })
  expect(first.question).toEqual({ series, interval: 'day', longer_interval: true, where, ...RANGE })
  expect(second).toEqual(first)
  const asked = await tenant.call('POST', '/v1/insights/trend', { series, interval: 'day', where, ...RANGE })
  expect({ status: 'success', ...first.answer }).toEqual(asked.body)
  const counted = stream.events.filter(({ name, at, isBot, country, data }) => {
    return (
      !isBot && name === 'signup' && at >= FIRST && at <= LAST && country === 'DE' && [data.plan].flat().includes('pro')
    )
  })
  expect(counted.length).toBeGreaterThan(0)
  expect(first.answer.series[0].total).toBe(counted.length)
  expect(first).toMatchObject({ error: null, report: { report_id, name: 'Signups' } })
})

test('a number is compared with the period before, unless its report is compared with another', async () => {
  const report_id = await report({ series: [{ event: 'signup' }] })
  const compare = { date_from: '2026-03-01', date_to: '2026-03-02' }
  const compared = await report({ series: [{}], compare })
  const tiles = [
    { report_id, view: 'number', ...PLACE },
    { report_id, view: 'table', ...PLACE },
    { report_id: compared, view: 'number', ...PLACE },
  ]
  const id = await dashboard({ tiles, range: RANGE })
  const { body } = await tenant.call('POST', `/v1/dashboards/${id}/run`)
  expect(body.dashboard.tiles).toEqual(tiles)
  const [number, table, other] = body.results
  expect([number.question.compare, table.question.compare]).toEqual(['previous_period', undefined])
  expect(number.answer.compare.intervals).toEqual(['2026-03-25', '2026-03-26', '2026-03-27'])
  expect(table.answer).toEqual({ intervals: number.answer.intervals, series: number.answer.series })
  expect(other.question.compare).toEqual(compare)
})

test('without a range of its own, each report keeps its own', async () => {
  const report_id = await report({ series: [{}], ...RANGE })
  const id = await dashboard({ tiles: [{ report_id, ...PLACE }] })
  const { body } = await tenant.call('POST', `/v1/dashboards/${id}/run`)
  expect(body.results[0].answer.intervals).toEqual(['2026-03-28', '2026-03-29', '2026-03-30'])
})

test('a question without an answer leaves the others as they are', async () => {
  const trend = await report({ series: [{}], last: { value: 1, unit: 'day' } })
  const paths = await tenant.call('POST', '/v1/reports', { name: 'Ways', kind: 'paths', question: { kind: 'events' } })
  const tiles = [
    { report_id: trend, ...PLACE },
    { report_id: paths.body.report.report_id, ...PLACE },
  ]
  // More months than a trend has.
  const id = await dashboard({ tiles, range: { date_from: '1800-01-01', date_to: '2026-03-30' } })
  const { body } = await tenant.call('POST', `/v1/dashboards/${id}/run`)
  const [wrong, right] = body.results
  expect(wrong).toMatchObject({ answer: null, error: { code: 'validation_error' } })
  expect(right).toMatchObject({ error: null, answer: { nodes: expect.any(Array) } })
})

test('an interval that is too short for the range is replaced by the next longer one, and numbers have their people', async () => {
  const hourly = { series: [{ event: 'signup' }], interval: 'hour', compare: 'previous_period' }
  const start = await report(hourly)
  const cohorts = await tenant.call('POST', '/v1/reports', {
    name: 'Back',
    kind: 'retention',
    question: { start: { event: 'signup' }, interval: 'hour' },
  })
  const tiles = [
    { report_id: start, ...PLACE },
    { report_id: cohorts.body.report.report_id, ...PLACE },
  ]
  const unitsOver = async (range: object) => {
    const id = await dashboard({ tiles, range })
    const { body } = await tenant.call('POST', `/v1/dashboards/${id}/run`)
    const [{ answer: trend }, { answer: retention }] = body.results
    // The compared range has the same interval.
    return [trend.intervals[0], trend.compare.intervals[0], retention.cohorts[0].from]
  }
  const to = { date_to: '2026-03-30' }
  expect(await unitsOver({ date_from: '2026-03-01', ...to })).toEqual([
    '2026-03-01T00:00+00:00',
    '2026-01-30T00:00+00:00',
    '2026-03-01T00:00+00:00',
  ])
  expect(await unitsOver({ date_from: '2025-04-01', ...to })).toEqual(['2025-04-01', '2024-04-02', '2025-04-01'])
  expect((await unitsOver({ date_from: '2000-01-01', ...to }))[0]).toBe('1999-W52')
  const asked = { ...hourly, date_from: '2025-04-01', ...to }
  const refused = await tenant.call('POST', '/v1/insights/trend', { ...asked, longer_interval: false })
  expect(refused.body.error.details).toMatchObject([{ path: 'interval' }])
  const day = new Date(stream.events.find(({ name, isBot }) => name === 'signup' && !isBot)?.at ?? 0)
  const people = await tenant.call('POST', '/v1/insights/people', {
    kind: 'trend',
    question: { ...asked, compare: undefined, longer_interval: true },
    at: { series: 'A', interval: day.toISOString().slice(0, 10) },
  })
  expect([people.status, people.body.error]).toEqual([200, undefined])
})

test('a range of complete units ends before the running one', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const before = (days: number) => new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10)
  const intervals = async (last: object) => {
    const { body } = await tenant.call('POST', '/v1/insights/trend', {
      series: [{}],
      last,
      time_zone: 'UTC',
      compare: 'previous_period',
    })
    return [body.intervals, body.compare.intervals]
  }
  expect(await intervals({ value: 1, unit: 'day', complete: true })).toEqual([[before(1)], [before(2)]])
  expect(await intervals({ value: 2, unit: 'day', complete: true })).toEqual([
    [before(2), before(1)],
    [before(4), before(3)],
  ])
  expect(await intervals({ value: 1, unit: 'day', complete: false })).toEqual([[today], [before(1)]])
})

test('reports about contacts need the scope of contacts, each for itself', async () => {
  const where = [{ property: 'contact.plan', operator: 'equals', value: 'pro' }]
  const ofContacts = await report({ series: [{ where }], ...RANGE })
  const ofEvents = await report({ series: [{}], ...RANGE })
  const id = await dashboard({
    tiles: [
      { report_id: ofContacts, ...PLACE },
      { report_id: ofEvents, ...PLACE },
    ],
  })
  const key = await tenant.keyWith('events:read')
  const { status, body } = await tenant.call('POST', `/v1/dashboards/${id}/run`, {}, key)
  expect(status).toBe(200)
  expect(body.results[0]).toMatchObject({ answer: null, error: { code: 'insufficient_scope' } })
  expect(body.results[1].error).toBeNull()
  const editor = await tenant.keyWith('events:read', 'segments:write')
  const refused = await tenant.call('POST', '/v1/dashboards', { name: 'Of contacts', where }, editor)
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
})

test('a report that a dashboard shows cannot be deleted', async () => {
  const report_id = await report({ series: [{}] })
  const id = await dashboard({ name: 'Board', tiles: [{ report_id, ...PLACE }] })
  const refused = await tenant.call('DELETE', `/v1/reports/${report_id}`)
  expect([refused.status, refused.body.error.code]).toEqual([409, 'report_in_use'])
  expect(refused.body.error.message).toContain('Board')
  await tenant.call('PATCH', `/v1/dashboards/${id}`, { tiles: [] })
  expect((await tenant.call('DELETE', `/v1/reports/${report_id}`)).status).toBe(200)
})

test('a deletion and a dashboard at the same time leave no tile without a report', async () => {
  for (let round = 0; round < 5; round++) {
    const report_id = await report({ series: [{}] })
    const [made, deleted] = await Promise.all([
      create({ tiles: [{ report_id, ...PLACE }] }),
      tenant.call('DELETE', `/v1/reports/${report_id}`),
    ])
    expect([
      [201, 409],
      [400, 200],
    ]).toContainEqual([made.status, deleted.status])
  }
})

test.each([
  [{ tiles: [{ ...PLACE }] }, 'tiles[0]'],
  [{ tiles: [{ text: 'x', report_id: 'x', ...PLACE }] }, 'tiles[0]'],
  [
    {
      tiles: [
        { text: 'x', ...PLACE },
        { report_id: 'x', ...PLACE },
      ],
    },
    'tiles[1].report_id',
  ],
  [{ tiles: [{ report_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', ...PLACE }] }, 'tiles[0].report_id'],
  [{ tiles: [{ text: 'x', ...PLACE, x: 7 }] }, 'tiles[0].width'],
  [{ tiles: [{ text: 'x', view: 'chart', ...PLACE }] }, 'tiles[0].view'],
  [{ tiles: [{ text: 'x', ...PLACE, x: 12 }] }, 'tiles[0].x'],
  [{ tiles: [{ text: 'x', ...PLACE, height: 0 }] }, 'tiles[0].height'],
  [{ tiles: Array.from({ length: 21 }, () => ({ text: 'x', ...PLACE })) }, 'tiles'],
  [{ range: { last: { value: 7, unit: 'day' }, date_from: '2026-01-01' } }, 'range.last'],
  [{ range: { date_from: 'soon' } }, 'range.date_from'],
  [{ range: 'week' }, 'range'],
  [{ where: [{ property: 'country', operator: 'is', value: 'DE' }] }, 'where[0].operator'],
  [{ colour: 'red' }, 'colour'],
])('the dashboard %j is 400 and names %s', async (body, path) => {
  const { status, body: refused } = await create(body)
  expect([status, refused.error?.code, refused.error?.details?.[0].path]).toEqual([400, 'validation_error', path])
  const id = await dashboard({})
  const changed = await tenant.call('PATCH', `/v1/dashboards/${id}`, body)
  expect([changed.status, changed.body.error?.details?.[0].path]).toEqual([400, path])
})

test('the report of another tenant is no report, and a stranger finds no dashboard', async () => {
  const stranger = await createTestTenant(service)
  const report_id = await report({ series: [{}] })
  const { body } = await create({ tiles: [{ report_id, ...PLACE }] }, stranger)
  expect(body.error.details[0].path).toBe('tiles[0].report_id')
  const id = await dashboard({ tiles: [{ report_id, ...PLACE }] })
  const path = `/v1/dashboards/${id}`
  const answers = [
    await stranger.call('GET', path),
    await stranger.call('PATCH', path, { name: 'Mine' }),
    await stranger.call('DELETE', path),
    await stranger.call('POST', `${path}/run`),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  expect((await stranger.call('GET', '/v1/dashboards')).body.dashboards).toEqual([])
})

test('a tenant has at most 200 dashboards', async () => {
  const own = await createTestTenant(service)
  const now = new Date()
  const rows = Array.from({ length: 200 }, () => ({
    dashboard_id: crypto.randomUUID(),
    name: 'Board',
    tiles: '[]',
    conditions: '[]',
    created_at: now,
    updated_at: now,
  }))
  await own.handle.db.insertInto('dashboards').values(rows).execute()
  const { status, body } = await create({}, own)
  expect([status, body.error.code]).toEqual([409, 'too_many_dashboards'])
})
