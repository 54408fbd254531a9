import { beforeAll, describe, expect, test } from 'vitest'
import { localIntervals } from '../../test/local-intervals.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { randomFrom, type StreamEvent, writeStream } from '../../test/streams.ts'
import { DAY_MS } from '../platform/time.ts'
import { backgroundContext } from '../segments/events.ts'
import type { PersonRow } from './retention-cohorts.ts'
import type { WebQuestion, WebRowName } from './web.ts'
import { peopleOfWeb } from './web-people.ts'
import { WEB_LISTS, type WebList } from './web-visits.ts'

let service: TestService
let tenants: TestTenant[]

beforeAll(async () => {
  service = await sharedService()
  tenants = await Promise.all([0, 1, 2].map(() => createTestTenant(service)))
})

interface Asked extends WebQuestion {
  date_from: string
  date_to: string
  time_zone: string
  interval: 'hour' | 'day' | 'week' | 'month'
  limit: number
}

/** What one person did in one session: computed without the service's code. */
interface Visit {
  person: string | null
  views: StreamEvent[]
  begin: number
  end: number
}

const IN_GERMANY = [{ property: 'country', operator: 'equals', value: 'DE' }]
const GOALS = [{ event: 'paid' }, { event: 'page_view', where: IN_GERMANY, label: 'Germany' }, { event: 'never' }]

function inRange(stream: readonly StreamEvent[], asked: Asked): StreamEvent[] {
  const [first, last] = [Date.parse(asked.date_from), Date.parse(asked.date_to)]
  return stream.filter(
    ({ isBot, isSystem, country, at }) =>
      !isSystem && (asked.include_bots || !isBot) && (!asked.where || country === 'DE') && at >= first && at <= last,
  )
}

function keyOf({ session, person }: StreamEvent): string {
  return `${session} ${person}`
}

/** The visits of some events, by what they are of. */
function visitsIn(events: readonly StreamEvent[], only: readonly WebRowName[]): Map<string, Visit> {
  const groups = Map.groupBy(
    events.filter(({ session, name }) => session !== '' && (name === 'page_view' || name === 'page_leave')),
    keyOf,
  )
  const visits = [...groups].flatMap(([key, members]): [string, Visit][] => {
    const views = members.filter(({ name }) => name === 'page_view')
    views.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    const [first] = views
    if (!first) return []
    const end = Math.max(...members.map(({ at }) => at))
    return [[key, { person: first.person, views, begin: first.at, end }]]
  })
  return new Map(visits.filter(([, visit]) => only.every(({ list, value }) => valuesOf(visit, list).includes(value))))
}

const COLUMNS: Partial<Record<WebList, keyof StreamEvent['more']>> = { source: 'referring_domain' }

/** The values for which a list counts a visit. */
function valuesOf({ views }: Visit, list: WebList): (string | null)[] {
  const [first, last] = [views[0], views.at(-1)]
  if (!first || !last) return []
  if (list === 'page') return [...new Set(views.map(({ path }) => path))]
  if (list === 'entry_page') return [first.path]
  if (list === 'exit_page') return [last.path]
  if (list === 'country') return [first.country || null]
  return [String(first.more[COLUMNS[list] ?? (list as keyof StreamEvent['more'])] ?? '') || null]
}

function peopleIn(persons: readonly (string | null)[]): Set<string> {
  return new Set(persons.flatMap((person) => person ?? []))
}

function figures(visits: readonly Visit[], pageViews = visits.reduce((sum, { views }) => sum + views.length, 0)) {
  const [count, spent] = [visits.length, visits.reduce((sum, { begin, end }) => sum + end - begin, 0)]
  const bounces = visits.filter(({ views }) => views.length === 1).length
  return {
    people: peopleIn(visits.map(({ person }) => person)).size,
    visits: count,
    page_views: pageViews,
    bounce_rate: count === 0 ? null : bounces / count,
    visit_seconds: count === 0 ? null : spent / 1_000 / count,
  }
}

function rowsOf(visits: readonly Visit[], list: WebList) {
  const mayLack = !/^(utm_.*|region|city)$/.test(list)
  const values = (visit: Visit) => valuesOf(visit, list).filter((value) => mayLack || value !== null)
  const pairs = visits.flatMap((visit) => values(visit).map((value) => ({ value, visit })))
  const rows = [...Map.groupBy(pairs, ({ value }) => value)].map(([value, members]) => {
    const those = members.map(({ visit }) => visit)
    const views = those.flatMap((visit) => visit.views).filter(({ path }) => list !== 'page' || path === value)
    return { value, ...figures(those, views.length) }
  })
  return rows.sort(
    (a, b) =>
      b.people - a.people ||
      Number(a.value === null) - Number(b.value === null) ||
      (String(a.value) < String(b.value) ? -1 : 1),
  )
}

/** Who did a goal, and how often. */
function goalEvents(events: readonly StreamEvent[], visits: Map<string, Visit>, { visit }: Asked, goal: number) {
  const counted = visit?.length ? events.filter((event) => event.session !== '' && visits.has(keyOf(event))) : events
  return counted.filter(({ name, country }) =>
    goal === 1 ? name === 'page_view' && country === 'DE' : name === GOALS[goal]?.event,
  )
}

function naive(stream: readonly StreamEvent[], asked: Asked) {
  const events = inRange(stream, asked)
  const found = visitsIn(events, asked.visit ?? [])
  const visits = [...found.values()]
  const total = figures(visits)
  const { keys, starts } = localIntervals(
    asked.interval,
    asked.time_zone,
    Date.parse(asked.date_from),
    Date.parse(asked.date_to),
    0,
  )
  const points = keys.map((_, index) =>
    figures(
      visits.filter(({ begin }) => begin >= (starts[index] ?? 0) && begin < (starts[index + 1] ?? Number.MAX_VALUE)),
    ),
  )
  const lists = asked.lists ?? WEB_LISTS
  const rows = new Map(lists.map((list) => [list, rowsOf(visits, list)]))
  const point = (name: keyof ReturnType<typeof figures>) => points.map((each) => each[name])
  return {
    intervals: keys,
    totals: { ...total, views_per_visit: total.visits === 0 ? null : total.page_views / total.visits },
    points: {
      people: point('people'),
      visits: point('visits'),
      page_views: point('page_views'),
      bounce_rate: point('bounce_rate'),
      visit_seconds: point('visit_seconds'),
    },
    lists: Object.fromEntries(lists.map((list) => [list, rows.get(list)?.slice(0, asked.limit)])),
    more: Object.fromEntries(lists.map((list) => [list, Math.max(0, (rows.get(list)?.length ?? 0) - asked.limit)])),
    goals: (asked.goals ?? []).map(({ event, label = event }, index) => {
      const done = goalEvents(events, found, asked, index)
      const people = peopleIn(done.map(({ person }) => person)).size
      return { label, people, events: done.length, rate: total.people === 0 ? null : people / total.people }
    }),
    outside_visits: asked.visit?.length
      ? 0
      : events.filter(({ name, session }) => name === 'page_view' && session === '').length,
  }
}

/** Each stream has, in its tenant, months of its own. */
const STREAMS = Array.from({ length: 30 }, (_, seed) => ({ seed, begin: Date.UTC(2015, Math.floor(seed / 3) * 2, 20) }))
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']

test('random streams give what a naive count gives, and each number its people', { timeout: 300_000 }, async () => {
  const seen = { rows: 0, filtered: 0, more: 0, people: 0, outside: 0, goals: 0 }
  for (const { seed, begin } of STREAMS) {
    const random = randomFrom(seed * 7919 + 5)
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const tenant = tenants[seed % 3]
    if (!tenant) continue
    const { events } = await writeStream(service, tenant, {
      ...{ seed: seed + 5000, from: begin, until: begin + 20 * DAY_MS, moments: 3 + (seed % 50) * 3 },
      events: 150 + (seed % 5) * 100,
      names: ['page_view', 'page_view', 'page_leave', 'paid'],
      more: (one) => ({
        referring_domain: one(['', 'google.com', 'news.example']),
        ...{
          utm_source: one(['', 'x', 'newsletter']),
          utm_medium: one(['', 'cpc']),
          utm_campaign: one(['', 'Ä', 'b']),
        },
        ...{
          utm_content: one(['', 'top']),
          utm_term: one(['', 'crm']),
          region: one(['', 'BE']),
          city: one(['', 'Berlin']),
        },
        ...{ browser: one(['Firefox', 'Chrome']), os: one(['Linux', '']), device_type: one(['mobile', 'desktop']) },
      }),
    })
    for (let question = 0; question < 2; question++) {
      const from = begin + Math.floor(random() * 5 * DAY_MS)
      const asked: Asked = {
        date_from: new Date(from).toISOString(),
        date_to: new Date(from + Math.floor((5 + random() * 15) * DAY_MS)).toISOString(),
        ...{
          time_zone: pick(ZONES),
          interval: pick(['hour', 'day', 'week', 'month'] as const),
          limit: pick([1, 3, 100]),
        },
        ...pick([{}, { lists: [...new Set([pick(WEB_LISTS), pick(WEB_LISTS)])] }]),
        ...pick([{}, { visit: [onlyOf(pick, events)] }, { visit: [onlyOf(pick, events), onlyOf(pick, events)] }]),
        ...(random() < 0.3 ? { where: IN_GERMANY } : {}),
        ...(random() < 0.3 ? { include_bots: true } : {}),
        ...(random() < 0.5 ? { goals: GOALS } : {}),
      }
      const { status, body } = await tenant.call('POST', '/v1/insights/web', asked)
      expect([seed, status, body.error]).toEqual([seed, 200, undefined])
      const { status: _, ...answer } = body
      const wanted = naive(events, asked)
      expect([seed, asked, answer]).toEqual([seed, asked, wanted])
      await expectPeople(tenant, asked, events, pick)
      seen.rows += Object.values(wanted.lists).flat().length
      seen.filtered += asked.visit ? wanted.totals.visits : 0
      seen.more += Object.values(wanted.more).reduce((sum, each) => sum + each, 0)
      seen.people += wanted.totals.people
      seen.outside += wanted.outside_visits
      seen.goals += wanted.goals.reduce((sum, { people }) => sum + people, 0)
    }
  }
  expect(Object.entries(seen).filter(([, count]) => count < 50)).toEqual([])
})

/** A row that some visit of a stream has. */
function onlyOf(pick: <Item>(items: readonly Item[]) => Item, events: readonly StreamEvent[]): WebRowName {
  const list = pick(WEB_LISTS)
  const [visit] = [
    ...visitsIn([pick(events.filter(({ name, session }) => name === 'page_view' && session !== ''))], []).values(),
  ]
  return { list, value: (visit && valuesOf(visit, list)[0]) ?? null }
}

async function expectPeople(
  tenant: TestTenant,
  asked: Asked,
  stream: readonly StreamEvent[],
  pick: <Item>(items: readonly Item[]) => Item,
) {
  const isContact = new Map(stream.map((event) => [event.person, event.isContact]))
  const events = inRange(stream, asked)
  const found = visitsIn(events, asked.visit ?? [])
  const visits = [...found.values()]
  const context = backgroundContext(tenant.handle, new Date())
  const expectRows = async (at: Parameters<typeof peopleOfWeb>[2], persons: readonly (string | null)[]) => {
    const rows = await tenant.handle.events.select<PersonRow>(await peopleOfWeb(context, asked, at))
    const own = new Map(rows.map(({ person, is_contact }) => [person, Boolean(Number(is_contact))]))
    expect([asked, at, [...own].sort()]).toEqual([
      asked,
      at,
      [...peopleIn(persons)].sort().map((person) => [person, isContact.get(person)]),
    ])
  }
  const people = (some: readonly Visit[]) => some.map(({ person }) => person)
  await expectRows({}, people(visits))
  const list = pick(WEB_LISTS)
  const value = pick([...new Set(visits.flatMap((visit) => valuesOf(visit, list))), 'nothing'])
  await expectRows({ list, value }, people(visits.filter((visit) => valuesOf(visit, list).includes(value))))
  const { keys, starts } = localIntervals(
    asked.interval,
    asked.time_zone,
    Date.parse(asked.date_from),
    Date.parse(asked.date_to),
    0,
  )
  const interval = pick(keys)
  const index = keys.indexOf(interval)
  await expectRows(
    { interval },
    people(
      visits.filter(({ begin }) => begin >= (starts[index] ?? 0) && begin < (starts[index + 1] ?? Number.MAX_VALUE)),
    ),
  )
  if (!asked.goals) return
  await expectRows(
    { goal: 1 },
    goalEvents(events, found, asked, 0).map(({ person }) => person),
  )
}

describe('a workspace of its own', () => {
  const RANGE = { date_from: '2026-03-02', date_to: '2026-03-08' }
  const ask = (tenant: TestTenant, body: object, key?: string) =>
    tenant.call('POST', '/v1/insights/web', { ...RANGE, ...body }, key)

  /** An event at a minute of a day, of a visitor's session. */
  function at(time: string, visitor: string, event: string, path = '/', more: object = {}) {
    const ids = { visitor_id: `visitor-${visitor}`, session_id: `session-${visitor}` }
    return { ...ids, event, timestamp: `2026-03-${time}Z`, url: `https://shop.example${path}`, ...more }
  }

  async function workspace(events: object[]): Promise<TestTenant> {
    const tenant = await createTestTenant(service)
    expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
    return tenant
  }

  const FROM_GOOGLE = { referrer: 'https://www.google.com/search' }

  test('tells visits, bounces, times, entries, exits and goals', async () => {
    const tenant = await workspace([
      at('03T10:00:00', 'a', 'page_view', '/blog?utm_source=letter', FROM_GOOGLE),
      at('03T10:01:00', 'a', 'page_view', '/pricing', { referrer: 'https://shop.example/blog' }),
      at('03T10:01:30', 'a', 'signup'),
      at('03T10:03:00', 'a', 'page_leave', '/pricing'),
      // Begins on one day and ends on the next one, where it does not count again.
      at('04T23:59:50', 'b', 'page_view', '/blog'),
      at('05T00:00:10', 'b', 'page_view', '/blog'),
      at('06T12:00:00', 'c', 'page_view', '/'),
      // Without a session, and without a page view.
      { ...at('06T12:00:00', 'd', 'page_view', '/'), session_id: undefined },
      at('06T12:00:00', 'e', 'signup'),
    ])
    const { body } = await ask(tenant, { goals: [{ event: 'signup' }] })
    expect(body).toMatchObject({
      intervals: ['2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05', '2026-03-06', '2026-03-07', '2026-03-08'],
      totals: {
        people: 3,
        visits: 3,
        page_views: 5,
        views_per_visit: 5 / 3,
        bounce_rate: 1 / 3,
        visit_seconds: 200 / 3,
      },
      points: {
        people: [0, 1, 1, 0, 1, 0, 0],
        page_views: [0, 2, 2, 0, 1, 0, 0],
        bounce_rate: [null, 0, 0, null, 1, null, null],
        visit_seconds: [null, 180, 20, null, 0, null, null],
      },
      goals: [{ label: 'signup', people: 2, events: 2, rate: 2 / 3 }],
      outside_visits: 1,
    })
    const values = (list: string) => body.lists[list].map((row: { value: string | null }) => row.value)
    expect([values('source'), values('utm_source'), values('city')]).toEqual([[null, 'google.com'], ['letter'], []])
    expect([values('page'), values('entry_page'), values('exit_page')]).toEqual([
      ['/blog', '/', '/pricing'],
      ['/blog', '/'],
      ['/', '/blog', '/pricing'],
    ])
    const only = await ask(tenant, { visit: [{ list: 'exit_page', value: '/pricing' }], goals: [{ event: 'signup' }] })
    expect(only.body).toMatchObject({ totals: { visits: 1, page_views: 2 }, goals: [{ people: 1 }], outside_visits: 0 })
    expect(only.body.lists.page).toHaveLength(2)
  })

  test('counts a person once, across devices and the anonymous past', async () => {
    const tenant = await workspace([at('03T10:00:00', 'a', 'page_view'), at('04T10:00:00', 'b', 'page_view')])
    expect((await ask(tenant, { lists: [] })).body.totals).toMatchObject({ people: 2, visits: 2 })
    for (const visitor of ['a', 'b']) {
      await tenant.call('POST', '/v1/identify', { visitor_id: `visitor-${visitor}`, email: 'ann@example.com' })
    }
    const { body } = await ask(tenant, { lists: ['page'] })
    expect(body.totals).toMatchObject({ people: 1, visits: 2 })
    expect(body.lists).toMatchObject({ page: [{ value: '/', people: 1, visits: 2, page_views: 2 }] })
    const question = { ...RANGE, lists: ['page'] }
    const at_ = { list: 'page', value: '/' }
    const people = await tenant.call('POST', '/v1/insights/people', { kind: 'web', question, at: at_ })
    expect(people.body).toMatchObject({ contacts: 1, anonymous: 0 })
    const filter = encodeURIComponent(JSON.stringify(people.body.filter))
    const listed = await tenant.call('GET', `/v1/contacts?filter=${filter}`)
    expect(listed.body.contacts).toMatchObject([{ properties: { email: 'ann@example.com' } }])
  })

  test('compares with the range before, and chooses intervals that fit the range', async () => {
    const tenant = await workspace([at('03T10:00:00', 'a', 'page_view'), at('01T10:00:00', 'b', 'page_view', '/old')])
    const { body } = await ask(tenant, { compare: 'previous_period' })
    expect([body.lists.page[0].value, body.compare.lists.page[0].value]).toEqual(['/', '/old'])
    expect(body.compare.intervals[0]).toBe('2026-02-23')
    const first = async (date_to: string) => (await ask(tenant, { date_to, lists: [] })).body.intervals[0]
    expect(await Promise.all(['2026-03-03', '2026-03-04', '2026-12-31'].map(first))).toEqual([
      '2026-03-02T00:00+00:00',
      '2026-03-02',
      '2026-03',
    ])
  })

  test('is downloaded as a table', async () => {
    const tenant = await workspace([at('03T10:00:00', 'a', 'page_view', '/blog', FROM_GOOGLE)])
    const question = { date_from: '2026-03-03', date_to: '2026-03-05', lists: ['source'], goals: [{ event: 'never' }] }
    const { body } = await tenant.call('POST', '/v1/reports', { name: 'Site', kind: 'web', question })
    const response = await fetch(`${service.url}/v1/reports/${body.report.report_id}/export.csv`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    })
    expect(
      (await response.text())
        .replace(/^\ufeff/, '')
        .trimEnd()
        .split('\r\n'),
    ).toEqual([
      'list,value,people,visits,page_views,bounce_rate,visit_seconds,events,rate',
      'total,,1,1,1,1,0,,',
      'interval,2026-03-03,1,1,1,1,0,,',
      'interval,2026-03-04,0,0,0,,,,',
      'interval,2026-03-05,0,0,0,,,,',
      'source,google.com,1,1,1,1,0,,',
      'goal,never,0,,,,,0,0',
    ])
  })

  test('says what is wrong with a question', async () => {
    const tenant = await createTestTenant(service)
    const wrong: [object, string][] = [
      [{ lists: ['pages'] }, 'lists[0]'],
      [{ visit: [{ list: 'source' }] }, 'visit[0].value'],
      [{ visit: [{ list: 'utm', value: 'x' }] }, 'visit[0].list'],
      [{ visit: Array.from({ length: 21 }, () => ({ list: 'source', value: null })) }, 'visit'],
      [{ goals: Array.from({ length: 11 }, () => ({ event: 'a' })) }, 'goals'],
      [{ goals: [{ event: 'a', types: ['b'] }] }, 'goals[0].types'],
      [{ goals: [{ where: [{ property: 'country', operator: 'near', value: 'DE' }] }] }, 'goals[0].where[0].operator'],
      [{ limit: 0 }, 'limit'],
      [{ limit: 101 }, 'limit'],
      [{ interval: 'minute' }, 'interval'],
      [{ interval: 'hour', date_to: '2027-01-01' }, 'interval'],
      [{ date_to: '2026-03-01' }, 'date_from'],
    ]
    for (const [question, path] of wrong) {
      const { status, body } = await ask(tenant, question)
      const found = (body.error?.details ?? []).map((each: { path: string }) => each.path)
      expect([question, status, found]).toEqual([question, 400, expect.arrayContaining([path])])
    }
  })

  test('needs the scope of events, that of contacts for conditions on them, and shows nothing to another tenant', async () => {
    const tenant = await workspace([at('03T10:00:00', 'a', 'page_view')])
    const stranger = await createTestTenant(service)
    expect((await ask(stranger, {})).body).toMatchObject({ totals: { people: 0, visits: 0 }, lists: { page: [] } })
    expect((await ask(tenant, {}, await tenant.keyWith('contacts:read'))).status).toBe(403)
    const events = await tenant.keyWith('events:read')
    expect((await ask(tenant, {}, events)).body.totals.visits).toBe(1)
    const goals = [{ where: [{ property: 'contact.plan', operator: 'equals', value: 'pro' }] }]
    expect((await ask(tenant, { goals }, events)).status).toBe(403)
  })
})
