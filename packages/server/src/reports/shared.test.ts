import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signedIn } from '../../test/people.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let ada: string
let shift = 0

const EMAIL = 'ada@example.com'
const PLACE = { x: 0, y: 0, width: 6, height: 4 }
const VIEWS = { series: [{ event: 'page_view' }], interval: 'day', last: { value: 7, unit: 'day' } }
const ONE_MINUTE_MS = 60_000

beforeAll(async () => {
  service = await startTestService({}, { clock: () => new Date(Date.now() + shift) })
  tenant = await createTestTenant(service)
  ada = await tenant.contact(EMAIL, { plan: 'secret-plan' }, { visitor_id: 'v-ada' })
  const paths = [
    `/u/${EMAIL}`,
    '/reset/4fJ2kLx09QpZr81TvbWn',
    `/orders/${ada}`,
    '/blog/2024-how-to-grow-10-percent',
    '/pricing',
  ]
  await see(...paths)
})
afterAll(() => service.close())

async function see(...paths: string[]): Promise<void> {
  const events = paths.map((path) => ({
    event: 'page_view',
    url: `https://${tenant.site}${path}`,
    data: { email: EMAIL },
  }))
  await tenant.track({ visitor_id: 'v-ada', session_id: 's-1', events })
}

async function report(question: object, kind = 'trend', of = tenant): Promise<string> {
  const { status, body } = await of.call('POST', '/v1/reports', { name: 'Views', kind, question })
  expect([status, body.error]).toEqual([201, undefined])
  return `/v1/reports/${body.report.report_id}`
}

async function dashboard(body: object, of = tenant): Promise<string> {
  const { status, body: made } = await of.call('POST', '/v1/dashboards', { name: 'Growth', ...body })
  expect([status, made.error]).toEqual([201, undefined])
  return `/v1/dashboards/${made.dashboard.dashboard_id}`
}

const idIn = (path: string) => path.split('/').at(-1) ?? ''

/** Shares something. @returns the token of its link. */
async function share(path: string, of = tenant): Promise<string> {
  const { status, body } = await of.call('POST', `${path}/share`)
  expect([status, body.error]).toEqual([201, undefined])
  const url = new URL(body.share.url)
  expect(url.pathname).toMatch(/^\/shared\/[\w-]{32}$/)
  return url.pathname.slice('/shared/'.length)
}

const read = (token: string) => call(service, 'GET', `/v1/public/shared/${token}`)
const refusal = async (reading: ReturnType<typeof read>) => {
  const { status, body } = await reading
  return [status, body.error?.code]
}

describe.each(['report', 'dashboard'])('the link of a %s', (kind) => {
  const make = async (of = tenant) => {
    const path = await report(VIEWS, 'trend', of)
    return kind === 'report' ? path : dashboard({ tiles: [{ report_id: idIn(path), ...PLACE }] }, of)
  }
  const sharedAt = async (path: string, of = tenant) => (await of.call('GET', path)).body[kind].shared_at

  test('shows its figures to anybody until it is deleted, and stays the same until then', async () => {
    const own = await createTestTenant(service)
    const path = await make(own)
    expect(await sharedAt(path, own)).toBeNull()
    const token = await share(path, own)
    const { status, body, headers } = await read(token)
    expect([status, body]).toMatchObject([
      200,
      { kind, name: kind === 'report' ? 'Views' : 'Growth', time_zone: 'UTC' },
    ])
    expect(body.tiles).toMatchObject([
      { report: { name: 'Views', kind: 'trend', question: VIEWS, is_filtered: false, problem: null } },
    ])
    expect(body.tiles[0].report.answer.series).toMatchObject([{ label: 'A', total: 0 }])
    expect([headers.get('cache-control'), headers.get('referrer-policy'), headers.get('x-robots-tag')]).toEqual([
      'no-store',
      'no-referrer',
      'noindex',
    ])
    expect(Date.parse(await sharedAt(path, own))).not.toBeNaN()
    const listed = await own.call('GET', path.slice(0, path.lastIndexOf('/')))
    expect(listed.body[`${kind}s`].map(({ shared_at: at }: { shared_at: string }) => typeof at)).toEqual(['string'])
    expect(await share(path, own)).toBe(token)

    expect((await own.call('DELETE', `${path}/share`)).body).toMatchObject({
      deleted: true,
      [`${kind}_id`]: idIn(path),
    })
    expect(await refusal(read(token))).toEqual([404, 'not_found'])
    expect((await own.call('DELETE', `${path}/share`)).body.error.code).toBe('not_found')
    expect(await sharedAt(path, own)).toBeNull()
    const next = await share(path, own)
    expect(next).not.toBe(token)
    expect((await read(next)).status).toBe(200)

    const { entries } = (await own.call('GET', `/v1/audit-log?subject_id=${idIn(path)}`)).body
    const actions = entries.map(({ action }: { action: string }) => action)
    expect(actions).toEqual([`${kind}.shared`, `${kind}.unshared`, `${kind}.shared`, `${kind}.created`])
    expect(JSON.stringify(entries)).not.toContain(next)
    expect((await own.call('DELETE', path)).status).toBe(200)
    expect(await refusal(read(next))).toEqual([404, 'not_found'])
  })

  test('is created and deleted only by those who may, and not by a stranger', async () => {
    const path = await make()
    const stranger = await createTestTenant(service)
    const as = async (key: string, of = tenant) => {
      const made = await of.call('POST', `${path}/share`, undefined, key)
      const gone = await of.call('DELETE', `${path}/share`, undefined, key)
      return [made.status, gone.status]
    }
    expect(await as(await tenant.keyWith('events:read'))).toEqual([403, 403])
    expect(await as(await tenant.keyWith('segments:write'))).toEqual([403, 404])
    expect(await as(stranger.key, stranger)).toEqual([404, 404])
    expect(await as(await tenant.keyWith('segments:write', 'events:read'))).toEqual([201, 200])
  })

  test('is stored encrypted, and shows nothing while the workspace is closed', async () => {
    const own = await createTestTenant(service)
    const token = await share(await make(own), own)
    const rows = await own.handle.db.selectFrom('share_links').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(token)
    const owner = await signedIn(service, own.id, 'owner')
    await owner.call('PATCH', '/v1/tenant', { name: 'Closing' })
    expect((await owner.call('DELETE', '/v1/tenant?confirm=Closing')).status).toBe(202)
    expect(await refusal(read(token))).toEqual([404, 'not_found'])
  })
})

test('about contacts, it needs their scope, and strangers see numbers without the conditions', async () => {
  const people = { match: 'all', conditions: [{ property: 'email', operator: 'equals', value: EMAIL }] }
  const path = await report({
    ...VIEWS,
    series: [{ event: 'page_view', where: [{ property: 'contact.plan', operator: 'equals', value: 'secret-plan' }] }],
    people,
  })
  const where = [{ property: 'contact.email', operator: 'equals', value: EMAIL }]
  const board = await dashboard({
    tiles: [
      { report_id: idIn(path), ...PLACE },
      { text: '# Hi', ...PLACE, x: 6 },
    ],
    where,
  })
  for (const each of [path, board]) {
    const key = await tenant.keyWith('segments:write', 'events:read')
    expect(await refusal(tenant.call('POST', `${each}/share`, undefined, key))).toEqual([403, 'insufficient_scope'])
    const { body } = await read(await share(each))
    expect(body.tiles[0].report).toMatchObject({
      is_filtered: true,
      question: { series: [{ event: 'page_view', is_filtered: true }] },
      answer: { series: [{ total: 5 }] },
    })
    expect(JSON.stringify(body)).not.toMatch(/ada@|secret-plan|contact\./)
  }
  const { body } = await read(await share(board))
  expect(body.tiles[1]).toEqual({ text: '# Hi', ...PLACE, x: 6 })
})

test.each(['data.email', 'email', 'visitor_id', 'title', 'user_agent', 'referrer', 'contact.plan'])(
  'a breakdown by %s cannot be shared, neither alone nor on a dashboard',
  async (property) => {
    const { handle } = tenant
    const question = { ...VIEWS, breakdown: ['country', property] }
    const path = await report(VIEWS)
    // Some are no properties of a breakdown today.
    await handle.db
      .updateTable('reports')
      .set({ question: JSON.stringify(question) })
      .where('report_id', '=', idIn(path))
      .execute()
    const board = await dashboard({ tiles: [{ report_id: idIn(path), ...PLACE }] })
    for (const each of [path, board]) {
      const { status, body } = await tenant.call('POST', `${each}/share`)
      expect([status, body.error.code, body.error.message]).toEqual([
        400,
        'not_shareable',
        expect.stringContaining(`breaks down by ${property},`),
      ])
    }
  },
)

test('an estimate is shown as one', async () => {
  const own = await createTestTenant(service)
  const question = { series: [{ event: 'page_view' }], sample: 0.1 }
  const made = await own.call('POST', '/v1/reports', { name: 'Estimate', kind: 'trend', question })
  const token = await share(`/v1/reports/${made.body.report.report_id}`, own)
  const [{ report }] = (await read(token)).body.tiles
  expect([report.question.sample, report.answer.sample]).toEqual([0.1, 0.1])
})

test('what a shared report or dashboard is changed to is checked again', async () => {
  const path = await report(VIEWS)
  const board = await dashboard({ tiles: [{ report_id: idIn(path), ...PLACE }] })
  const tokens = [await share(path), await share(board)]
  for (const token of tokens) expect((await read(token)).body.tiles[0].report.problem).toBeNull()
  await tenant.call('PATCH', path, { question: { ...VIEWS, breakdown: ['data.email'] } })
  for (const token of tokens) {
    const { status, body } = await read(token)
    expect([status, body.tiles[0].report]).toMatchObject([200, { problem: 'not_shareable', answer: null }])
    expect(JSON.stringify(body)).not.toContain('ada@')
  }
  await tenant.call('PATCH', path, { question: { ...VIEWS, breakdown: ['url_path'] }, name: 'Pages' })
  const { body } = await read(tokens[0] ?? '')
  expect([body.name, body.tiles[0].report.problem]).toEqual(['Pages', null])
})

test('paths are shown without addresses, ids and secrets, and stay apart', async () => {
  const question = { kind: 'pages', last: { value: 7, unit: 'day' }, depth: 6 }
  const { body } = await read(await share(await report(question, 'paths')))
  const { nodes, links } = body.tiles[0].report.answer
  expect(nodes.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^\/u\/\(hidden-\d\)$/),
      expect.stringMatching(/^\/reset\/\(hidden-\d\)$/),
      expect.stringMatching(/^\/orders\/\(hidden-\d\)$/),
      '/blog/2024-how-to-grow-10-percent',
      '/pricing',
    ]),
  )
  expect(new Set(nodes.map(({ name }: { name: string }) => name)).size).toBe(5)
  const names = new Set(nodes.map(({ name }: { name: string }) => name))
  expect(
    links.filter(({ from, to }: Record<string, string>) => !names.has(from ?? '') || !names.has(to ?? '')),
  ).toEqual([])
  expect(JSON.stringify(body)).not.toMatch(/ada@|4fJ2/)
})

test('the figures are computed once a minute, however many look and whatever happens', async () => {
  const question = { series: [{ event: 'page_view' }], last: { value: 1, unit: 'day' } }
  const token = await share(await report(question))
  const total = async () => {
    const { body } = await read(token)
    return [body.tiles[0].report.answer.series[0].total, body.answered_at]
  }
  const first = await total()
  await see('/pricing')
  const all = await Promise.all(Array.from({ length: 5 }, total))
  expect(all).toEqual(all.map(() => first))
  shift += ONE_MINUTE_MS
  const [later, at] = await total()
  expect([later, Date.parse(at) >= Date.parse(String(first[1])) + ONE_MINUTE_MS]).toEqual([Number(first[0]) + 1, true])
})

test('a question that cannot be answered leaves the other tiles as they are, and tells nothing of its conditions', async () => {
  const [good, bad] = [await report(VIEWS), await report(VIEWS)]
  const where = [{ property: 'country', operator: 'is', value: 'secret' }]
  await tenant.handle.db
    .updateTable('reports')
    .set({ question: JSON.stringify({ ...VIEWS, where }) })
    .where('report_id', '=', idIn(bad))
    .execute()
  const tiles = [bad, good].map((path, at) => ({ report_id: idIn(path), ...PLACE, x: 6 * at }))
  const { status, body } = await read(await share(await dashboard({ tiles })))
  const problems = body.tiles.map(({ report: { problem } }: { report: { problem: string | null } }) => problem)
  expect([status, problems]).toEqual([200, ['no_answer', null]])
  expect(JSON.stringify(body)).not.toContain('secret')
})

test.each(['x', 'x'.repeat(32), 'x'.repeat(16_000), '%00', "' OR 1=1 --", ''])(
  'a stranger with the token %s gets 404',
  async (token) => {
    expect(await refusal(read(encodeURIComponent(token)))).toEqual([404, 'not_found'])
  },
)

test('a body of 10 MB is refused', async () => {
  const { status } = await tenant.call('POST', `${await report(VIEWS)}/share`, { text: 'x'.repeat(10_000_000) })
  expect(status).toBe(413)
})

test('an address that guesses tokens is stopped, and so is one that looks too often', async () => {
  const limited = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_INVALID_KEY_PER_IP_PER_MINUTE: '2',
    CDS_RATE_LIMIT_SHARED_PER_IP_PER_MINUTE: '5',
  })
  try {
    const own = await createTestTenant(limited)
    const made = await own.call('POST', '/v1/reports', { name: 'Views', kind: 'trend', question: VIEWS })
    const token = await share(`/v1/reports/${made.body.report.report_id}`, own)
    const status = async (guess: string, headers = {}) =>
      (await call(limited, 'GET', `/v1/public/shared/${guess}`, { headers })).status
    const others = { authorization: 'none' }
    expect([await status(token), await status('a'), await status('b'), await status('c'), await status(token)]).toEqual(
      [200, 404, 404, 429, 429],
    )
    const looks = []
    for (let time = 0; time < 6; time++) looks.push(await status(token, others))
    expect(looks).toEqual([200, 200, 200, 200, 200, 429])
  } finally {
    await limited.close()
  }
})
