import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { randomFrom, type StreamEvent, writeStream } from '../../test/streams.ts'
import { DAY_MS } from '../platform/time.ts'
import { backgroundContext } from '../segments/events.ts'
import type { PathLink, PathNode } from './path-links.ts'
import { type PathsQuestion, peopleOfPath } from './paths.ts'
import type { PersonRow } from './retention-cohorts.ts'

let service: TestService
let tenants: TestTenant[]

beforeAll(async () => {
  service = await sharedService()
  tenants = await Promise.all([0, 1, 2].map(() => createTestTenant(service)))
})

const NAMES = ['page_view', 'page_view', 'click', 'paid']
const PAGES = ['/', '/pricing', '/docs', '/signup', '/blog/a?b', '/nowhere']

interface Asked extends PathsQuestion {
  date_from: string
  date_to: string
  depth: number
  limit: number
}

const IN_GERMANY = [{ property: 'country', operator: 'equals', value: 'DE' }]

interface Path {
  /** Step and name of each node. */
  nodes: [number, string][]
  people: Set<string>
}

/** The path of each session that has one: computed without the service's code. */
function naive(stream: readonly StreamEvent[], asked: Asked): Path[] {
  const [first, last] = [Date.parse(asked.date_from), Date.parse(asked.date_to)]
  const counted = stream.filter(
    ({ session, isBot, isSystem, country, name, at }) =>
      session !== '' &&
      !isSystem &&
      (asked.include_bots || !isBot) &&
      (!asked.where || country === 'DE') &&
      (asked.kind === 'events' || name === 'page_view') &&
      at >= first &&
      at <= last,
  )
  return [...Map.groupBy(counted, ({ session }) => session).values()].flatMap((events) => {
    const inOrder = events.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    const names: string[] = []
    for (const { path, name } of inOrder) {
      const each = asked.kind === 'pages' ? path : name
      if (names.at(-1) !== each) names.push(each)
    }
    let [begin, end] = [0, names.length]
    if (asked.from !== undefined) begin = names.indexOf(asked.from)
    if (asked.to !== undefined) end = names.lastIndexOf(asked.to) + 1
    if (begin < 0 || end <= 0) return []
    const people = new Set(events.flatMap(({ person }) => person ?? []))
    if (asked.to !== undefined) {
      const path = names.slice(Math.max(0, end - asked.depth), end)
      return [{ people, nodes: path.map((name, index): [number, string] => [index - path.length + 1, name]) }]
    }
    const path = names.slice(begin, begin + asked.depth)
    return [{ people, nodes: path.map((name, index): [number, string] => [index + 1, name]) }]
  })
}

function counts(paths: readonly Path[]) {
  const [nodes, links] = [new Map<string, PathNode>(), new Map<string, PathLink>()]
  for (const { nodes: path } of paths) {
    for (const [index, [step, name]] of path.entries()) {
      const node = nodes.get(`${step} ${name}`) ?? { step, name, count: 0 }
      nodes.set(`${step} ${name}`, { ...node, count: node.count + 1 })
      const next = path[index + 1]
      if (!next) continue
      const key = JSON.stringify([step, name, next[1]])
      const link = links.get(key) ?? { step, from: name, to: next[1], count: 0 }
      links.set(key, { ...link, count: link.count + 1 })
    }
  }
  const text = (a: string, b: string) => (a < b ? -1 : Number(a > b))
  return {
    nodes: [...nodes.values()].sort((a, b) => b.count - a.count || a.step - b.step || text(a.name, b.name)),
    links: [...links.values()].sort(
      (a, b) => b.count - a.count || a.step - b.step || text(a.from, b.from) || text(a.to, b.to),
    ),
  }
}

/** Each stream has, in its tenant, a month of its own. */
const STREAMS = Array.from({ length: 100 }, (_, seed) => ({ seed, begin: Date.UTC(2020, Math.floor(seed / 3), 1) }))

test('random streams give what a naive count gives, and each number its people', { timeout: 300_000 }, async () => {
  let [taken, cut, fixed, people] = [0, 0, 0, 0]
  for (const { seed, begin } of STREAMS) {
    const random = randomFrom(seed * 7919 + 3)
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const tenant = tenants[seed % 3]
    if (!tenant) continue
    const options = {
      seed: seed + 1000,
      from: begin,
      until: begin + 20 * DAY_MS,
      moments: 3 + (seed % 50),
      names: NAMES,
    }
    const { events } = await writeStream(service, tenant, { ...options, events: 150 + (seed % 5) * 100 })
    for (let question = 0; question < 2; question++) {
      const kind = pick(['pages', 'events'] as const)
      const name = pick(kind === 'pages' ? PAGES : NAMES)
      const asked: Asked = {
        kind,
        date_from: new Date(begin + Math.floor(random() * 5 * DAY_MS)).toISOString(),
        date_to: new Date(begin + Math.floor((10 + random() * 12) * DAY_MS)).toISOString(),
        depth: 2 + Math.floor(random() * 5),
        limit: pick([1, 20, 500]),
        ...pick([{}, { from: name }, { to: name }]),
        ...(random() < 0.3 ? { where: IN_GERMANY } : {}),
        ...(random() < 0.3 ? { include_bots: true } : {}),
      }
      const found = naive(events, asked)
      const { nodes, links } = counts(found)
      const kept = links.slice(0, asked.limit)
      const others = links.slice(asked.limit).reduce((sum, { count }) => sum + count, 0)
      const { status, body } = await tenant.call('POST', '/v1/insights/paths', asked)
      expect([seed, status, body.error]).toEqual([seed, 200, undefined])
      const { nodes: ownNodes, links: ownLinks, others: ownOthers } = body
      expect([seed, { nodes: ownNodes, links: ownLinks, others: ownOthers }]).toEqual([
        seed,
        { nodes, links: kept, others },
      ])
      await expectPeople(tenant, asked, events, found, pick(nodes), pick(links))
      taken += kept.length
      cut += others
      fixed += asked.from || asked.to ? found.length : 0
      people += found.reduce((sum, each) => sum + each.people.size, 0)
    }
  }
  expect([taken > 500, cut > 500, fixed > 500, people > 2000]).toEqual([true, true, true, true])
})

async function expectPeople(
  tenant: TestTenant,
  asked: Asked,
  events: readonly StreamEvent[],
  found: readonly Path[],
  node: PathNode | undefined,
  link: PathLink | undefined,
) {
  const isContact = new Map(events.map((event) => [event.person, event.isContact]))
  const context = backgroundContext(tenant.handle, new Date())
  const has = (path: Path, step: number, name: string) => path.nodes.some(([at, each]) => at === step && each === name)
  const expectRows = async (at: Parameters<typeof peopleOfPath>[2], sessions: readonly Path[]) => {
    const rows = await tenant.handle.events.select<PersonRow>(await peopleOfPath(context, asked, at))
    const wanted = new Set(sessions.flatMap(({ people }) => [...people]))
    expect(rows.map(({ person, is_contact }) => [person, Boolean(Number(is_contact))]).sort()).toEqual(
      [...wanted].sort().map((person) => [person, isContact.get(person)]),
    )
  }
  if (node) {
    const { step, name, count } = node
    const sessions = found.filter((path) => has(path, step, name))
    expect(sessions).toHaveLength(count)
    await expectRows({ step, name }, sessions)
  }
  if (link) {
    const { step, from, to, count } = link
    const sessions = found.filter((path) => has(path, step, from) && has(path, step + 1, to))
    expect(sessions).toHaveLength(count)
    await expectRows({ step, from, to }, sessions)
  }
  await expectRows({ step: asked.to ? -7 : 7, name: 'page_view' }, [])
}

describe('a workspace of its own', () => {
  const RANGE = { date_from: '2026-03-02', date_to: '2026-03-08' }
  const ask = (tenant: TestTenant, body: object, key?: string) =>
    tenant.call('POST', '/v1/insights/paths', { ...RANGE, ...body }, key)

  /** The URL paths that sessions viewed, a minute apart. */
  async function views(sessions: Record<string, string[]>, day = '2026-03-02') {
    const tenant = await createTestTenant(service)
    await view(tenant, sessions, day)
    return tenant
  }

  async function view(tenant: TestTenant, sessions: Record<string, string[]>, day: string) {
    const events = Object.entries(sessions).flatMap(([session_id, pages]) =>
      pages.map((path, index) => ({
        ...{ visitor_id: `visitor-${session_id}`, session_id, event: 'page_view', url: `https://shop.example${path}` },
        timestamp: `${day}T10:${String(index).padStart(2, '0')}:00Z`,
      })),
    )
    expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
  }

  test('counts from the beginning, from a page, and back from one', async () => {
    const tenant = await views({ a: ['/', '/', '/docs', '/', '/pay'], b: ['/', '/docs'], c: ['/pay'] })
    expect((await ask(tenant, { kind: 'pages' })).body).toMatchObject({
      nodes: [
        { step: 1, name: '/', count: 2 },
        { step: 2, name: '/docs', count: 2 },
        { step: 1, name: '/pay', count: 1 },
        { step: 3, name: '/', count: 1 },
        { step: 4, name: '/pay', count: 1 },
      ],
      links: [
        { step: 1, from: '/', to: '/docs', count: 2 },
        { step: 2, from: '/docs', to: '/', count: 1 },
        { step: 3, from: '/', to: '/pay', count: 1 },
      ],
      others: 0,
    })
    const since = await ask(tenant, { kind: 'pages', from: '/docs', depth: 2, limit: 1 })
    expect(since.body).toMatchObject({ links: [{ step: 1, from: '/docs', to: '/', count: 1 }], others: 0 })
    const until = await ask(tenant, { kind: 'pages', to: '/', limit: 1 })
    expect(until.body).toMatchObject({
      nodes: [
        { step: 0, name: '/', count: 2 },
        { step: -2, name: '/', count: 1 },
        { step: -1, name: '/docs', count: 1 },
      ],
      links: [{ step: -2, from: '/', to: '/docs', count: 1 }],
      others: 1,
    })
  })

  test('compares with another range', async () => {
    const tenant = await views({ a: ['/', '/docs'] })
    await view(tenant, { b: ['/pay', '/'] }, '2026-02-24')
    const { body } = await ask(tenant, { kind: 'pages', compare: 'previous_period' })
    expect(body.links).toEqual([{ step: 1, from: '/', to: '/docs', count: 1 }])
    expect(body.compare.links).toEqual([{ step: 1, from: '/pay', to: '/', count: 1 }])
  })

  test('returns the nodes of its links, however small', async () => {
    // Every page is viewed once, so that the nodes of the first step fill the answer.
    const tenant = await createTestTenant(service)
    const sessions = Array.from({ length: 1_100 }, (_, index) => [`s${index}`, [`/a${index}`, `/b${index}`]] as const)
    for (let part = 0; part < sessions.length; part += 200) {
      await view(
        tenant,
        Object.fromEntries(sessions.slice(part, part + 200).map(([id, pages]) => [id, [...pages]])),
        '2026-03-02',
      )
    }
    const { body } = await ask(tenant, { kind: 'pages', limit: 3 })
    expect(body.others).toBe(1_097)
    expect(body.links).toHaveLength(3)
    expect(body.nodes).toHaveLength(1_003)
    for (const { from, to } of body.links) {
      expect(body.nodes).toContainEqual({ step: 1, name: from, count: 1 })
      expect(body.nodes).toContainEqual({ step: 2, name: to, count: 1 })
    }
  })

  test('says what is wrong with a question', async () => {
    const tenant = await createTestTenant(service)
    const wrong: [object, string][] = [
      [{}, 'kind'],
      [{ kind: 'clicks' }, 'kind'],
      [{ kind: 'pages', from: '/', to: '/pay' }, 'to'],
      [{ kind: 'pages', from: '' }, 'from'],
      [{ kind: 'pages', depth: 1 }, 'depth'],
      [{ kind: 'pages', depth: 7 }, 'depth'],
      [{ kind: 'pages', limit: 0 }, 'limit'],
      [{ kind: 'pages', limit: 501 }, 'limit'],
      [{ kind: 'pages', date_to: '2026-03-01' }, 'date_from'],
      [{ kind: 'pages', where: [{ property: 'country', operator: 'near', value: 'DE' }] }, 'where[0].operator'],
    ]
    for (const [question, path] of wrong) {
      const { status, body } = await ask(tenant, question)
      const found = (body.error?.details ?? []).map((each: { path: string }) => each.path)
      expect([question, status, body.error?.code, found]).toEqual([
        question,
        400,
        'validation_error',
        expect.arrayContaining([path]),
      ])
    }
  })

  test('needs the scope of events, that of contacts for conditions on them, and shows nothing to another tenant', async () => {
    const tenant = await views({ a: ['/', '/docs'] })
    const stranger = await createTestTenant(service)
    expect((await ask(stranger, { kind: 'pages' })).body).toMatchObject({ nodes: [], links: [], others: 0 })
    expect((await ask(tenant, { kind: 'pages' }, await tenant.keyWith('contacts:read'))).status).toBe(403)
    const events = await tenant.keyWith('events:read')
    expect((await ask(tenant, { kind: 'pages' }, events)).body.links).toHaveLength(1)
    const where = [{ property: 'contact.plan', operator: 'equals', value: 'pro' }]
    expect((await ask(tenant, { kind: 'pages', where }, events)).status).toBe(403)
  })
})
