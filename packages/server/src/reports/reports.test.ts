import { beforeAll, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { writeStream } from '../../test/streams.ts'

let service: TestService
let tenant: TestTenant

const RANGE = { date_from: '2026-03-28', date_to: '2026-03-30' }
const QUESTION = { series: [{ event: 'signup', metric: 'unique_people' }], interval: 'day', ...RANGE }

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const span = { from: Date.parse('2026-03-27T00:00:00Z'), until: Date.parse('2026-03-31T00:00:00Z') }
  await writeStream(service, tenant, { seed: 31, events: 120, ...span })
})

const create = (body: object, key = tenant.key) =>
  tenant.call('POST', '/v1/reports', { name: 'Signups', kind: 'trend', question: QUESTION, ...body }, key)

async function saved(question: object): Promise<string> {
  const { status, body } = await create({ question })
  expect([status, body.error]).toEqual([201, undefined])
  return body.report.report_id
}

test('a report is saved, read, listed by name, changed and deleted, and the audit log says so', async () => {
  const own = await createTestTenant(service)
  const make = (name: string) => own.call('POST', '/v1/reports', { name, kind: 'trend', question: QUESTION })
  const made = await make(' Signups by day ')
  expect(made.status).toBe(201)
  expect(made.body.report).toMatchObject({ name: 'Signups by day', kind: 'trend', question: QUESTION })
  const { report_id } = made.body.report
  const path = `/v1/reports/${report_id}`
  const read = await own.call('GET', path)
  expect(read.body.report).toEqual(made.body.report)
  await make('Other')
  const found = async (query: string) => {
    const { body } = await own.call('GET', `/v1/reports?${query}`)
    return [body.reports.map(({ name }: { name: string }) => name), body.pagination.total_items]
  }
  expect(await found('page=1&limit=1')).toEqual([['Other'], 2])
  expect(await found('page=2&limit=1')).toEqual([['Signups by day'], 2])
  expect(await found('search=DAY%20sign')).toEqual([['Signups by day'], 1])
  expect(await found('search=100%25')).toEqual([[], 0])

  const ifRead = (method: string, body?: object) =>
    call(service, method, path, {
      headers: { authorization: `Bearer ${own.key}`, 'if-match': read.headers.get('etag') ?? '' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const question = { ...QUESTION, interval: 'week' }
  const changed = await ifRead('PATCH', { name: 'By week', question })
  expect(changed.body).toMatchObject({ report: { name: 'By week', question }, changed: ['name', 'question'] })
  expect((await ifRead('PATCH', { name: 'Late' })).body.error.code).toBe('changed_meanwhile')
  expect((await ifRead('DELETE')).body.error.code).toBe('changed_meanwhile')
  expect((await own.call('PATCH', path, { name: 'By week', question })).body.changed).toEqual([])
  expect(await found('')).toEqual([['By week', 'Other'], 2])
  expect((await own.call('DELETE', path)).body).toMatchObject({ deleted: true, report_id })
  expect((await own.call('GET', path)).status).toBe(404)
  expect((await own.call('PATCH', path, { question })).status).toBe(404)
  const { body } = await own.call('GET', '/v1/audit-log?subject_kind=report')
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'report.deleted',
    'report.updated',
    'report.created',
    'report.created',
  ])
})

test.each([
  QUESTION,
  { ...QUESTION, breakdown: ['country', 'data.plan'], limit: 2 },
  { series: [{ event: 'signup' }, { event: 'view' }], formula: 'A / B', compare: 'previous_period', ...RANGE },
])('the answer of the report %j is that of its question', async (question) => {
  const report_id = await saved(question)
  const { status, body } = await tenant.call('POST', `/v1/reports/${report_id}/run`)
  expect([status, body.error]).toEqual([200, undefined])
  const asked = await tenant.call('POST', '/v1/insights/trend', question)
  expect({ status: 'success', ...body.answer }).toEqual(asked.body)
  expect(body.answer.series.some(({ total }: { total: number }) => total > 0)).toBe(true)
  expect(body.report).toMatchObject({ report_id, question })
})

test.each([
  [{ question: { series: [] } }, 'question.series'],
  [{ question: {} }, 'question.series'],
  [{ question: { ...QUESTION, colour: 'red' } }, 'question.colour'],
  // What only asking shows.
  [{ question: { series: [{ metric: 'sum' }] } }, 'question.series[0].property'],
  [{ question: { ...QUESTION, date_from: 'soon' } }, 'question.date_from'],
  [{ question: { ...QUESTION, formula: 'A +' } }, 'question.formula'],
  [{ question: { ...QUESTION, breakdown: ['contact'] } }, 'question.breakdown[0]'],
  [
    { question: { series: [{ where: [{ property: 'country', operator: 'is', value: 'DE' }] }] } },
    'question.series[0].where[0].operator',
  ],
  [{ question: 'signups' }, 'question'],
  [{ kind: 'pie' }, 'kind'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ colour: 'red' }, 'colour'],
])('the report %j is 400 and names %s', async (sent, path) => {
  const { status, body } = await create(sent)
  expect([status, body.error?.code, body.error?.details?.[0].path]).toEqual([400, 'validation_error', path])
  if ('kind' in sent) return
  const changed = await tenant.call('PATCH', `/v1/reports/${await saved(QUESTION)}`, sent)
  expect([changed.status, changed.body.error?.details?.[0].path]).toEqual([400, path])
})

test('a misspelled property is a warning', async () => {
  const { status, body } = await create({
    question: { ...QUESTION, where: [{ property: 'data.plam', operator: 'is_set' }] },
  })
  expect(status).toBe(201)
  expect(body.warnings.join()).toContain('data.plan')
})

test('a question that was valid when it was saved names its fields if it is no longer', async () => {
  const report_id = await saved(QUESTION)
  const { db } = tenant.handle
  const question = JSON.stringify({ series: [{ metric: 'gone' }] })
  await db.updateTable('reports').set({ question }).where('report_id', '=', report_id).execute()
  const { status, body } = await tenant.call('POST', `/v1/reports/${report_id}/run`)
  expect([status, body.error.details[0].path]).toEqual([400, 'report.question.series[0].metric'])
})

test('saving needs the scopes to write and to ask, running the scopes of the question', async () => {
  const [reader, writer] = [await tenant.keyWith('events:read'), await tenant.keyWith('segments:write')]
  const editor = await tenant.keyWith('segments:write', 'events:read')
  const refusals = [
    await create({}, reader),
    await create({}, writer),
    await create({ question: { series: [{ where: [{ property: 'contact.plan', operator: 'is_set' }] }] } }, editor),
  ]
  for (const { status, body } of refusals) expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
  expect((await create({}, editor)).status).toBe(201)
  const ofContacts = await saved({ series: [{ where: [{ property: 'contact.plan', operator: 'is_set' }] }] })
  const run = await tenant.call('POST', `/v1/reports/${ofContacts}/run`, {}, reader)
  const file = await tenant.call('GET', `/v1/reports/${ofContacts}/export.csv`, undefined, reader)
  for (const { status, body } of [run, file]) expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
  expect((await tenant.call('POST', `/v1/reports/${await saved(QUESTION)}/run`, {}, reader)).status).toBe(200)
})

test('a stranger finds no report of another tenant', async () => {
  const stranger = await createTestTenant(service)
  const path = `/v1/reports/${await saved(QUESTION)}`
  const answers = [
    await stranger.call('GET', path),
    await stranger.call('PATCH', path, { name: 'Mine' }),
    await stranger.call('DELETE', path),
    await stranger.call('POST', `${path}/run`),
    await stranger.call('GET', `${path}/export.csv`),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  expect((await stranger.call('GET', '/v1/reports')).body.reports).toEqual([])
})

test('a report of more than 64 KiB is 413', async () => {
  const series = Array.from({ length: 10 }, () => ({ types: Array.from({ length: 100 }, () => 'x'.repeat(80)) }))
  const { status, body } = await create({ question: { series } })
  expect([status, body.error.code]).toEqual([413, 'body_too_large'])
})

test('a tenant has at most 500 reports', async () => {
  const own = await createTestTenant(service)
  const now = new Date()
  const rows = Array.from({ length: 500 }, () => ({
    ...{ report_id: crypto.randomUUID(), name: 'One', kind: 'trend', question: JSON.stringify(QUESTION) },
    ...{ created_at: now, updated_at: now },
  }))
  await own.handle.db.insertInto('reports').values(rows).execute()
  const { status, body } = await own.call('POST', '/v1/reports', { name: 'More', kind: 'trend', question: QUESTION })
  expect([status, body.error.code]).toEqual([409, 'too_many_reports'])
})

async function fileOf(question: object): Promise<string[]> {
  const report_id = await saved(question)
  const response = await fetch(`${service.url}/v1/reports/${report_id}/export.csv`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const { body } = await tenant.call('GET', '/v1/audit-log?subject_kind=report&limit=1')
  expect(body.entries[0]).toMatchObject({
    action: 'report.exported',
    subject_id: report_id,
    details: { name: 'Signups' },
  })
  return (await response.text())
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n')
}

test('the file of a trend has a line for each figure', async () => {
  const lines = await fileOf(QUESTION)
  const { series, intervals } = (await tenant.call('POST', '/v1/insights/trend', QUESTION)).body
  const [{ total, points }] = series
  expect(lines).toEqual([
    'series,interval,value',
    `signup,,${total}`,
    ...intervals.map((key: string, at: number) => `signup,${key},${points[at]}`),
  ])
})

test('the file of a trend with a breakdown and a comparison says what each line is about', async () => {
  const question = {
    ...{ series: [{ label: '=A1' }], breakdown: ['country', 'data.plan'], limit: 2, interval: 'month' },
    ...{ ...RANGE, compare: { date_from: '2026-03-27', date_to: '2026-03-27' } },
  }
  const lines = await fileOf(question)
  const { compare, ...asked } = (await tenant.call('POST', '/v1/insights/trend', question)).body
  const linesOf = (part: typeof asked, isCompared: boolean) =>
    [...part.series, ...part.others].flatMap(({ breakdown, total, points }) => {
      const [country, plan] = breakdown ?? [null, null]
      const start = `'=A1,${country ?? ''},${plan ?? ''},${breakdown === undefined},${isCompared}`
      return [`${start},,${total}`, `${start},2026-03,${points[0]}`]
    })
  expect(asked.series).toHaveLength(2)
  expect(lines).toEqual([
    'series,country,data.plan,is_others,is_compared,interval,value',
    ...linesOf(asked, false),
    ...linesOf(compare, true),
  ])
})
