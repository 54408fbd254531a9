import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

/** The steps of one visitor, in order; a track that is not awaited runs concurrently with the next steps. */
type Step =
  | { kind: 'track'; awaited: boolean }
  | { kind: 'identify' | 'form' | 'trackIdentify'; person: number }
  | { kind: 'userId'; user: number }
  | { kind: 'read' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('track' as const), awaited: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('identify' as const, 'form' as const, 'trackIdentify' as const),
      person: fc.integer({ min: 0, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('userId' as const), user: fc.integer({ min: 0, max: 1 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
)
const scripts = fc.record({
  visitors: fc.array(fc.array(step, { maxLength: 7 }), { minLength: 3, maxLength: 3 }),
  deletions: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
})

/** Start and end of a step, by a counter: a step that ended before another started came before it. */
interface Interval {
  start: number
  end: number
}
interface Tracked extends Interval {
  event: string
}
interface Named extends Interval {
  contactId: string
}
interface Read extends Interval {
  events: Set<string>
}
interface History {
  tracked: Tracked[]
  named: Named[]
  read: Read[]
}
interface Deleted extends Interval {
  contactId: string
}

const before = (a: Interval, b: Interval) => a.end < b.start

/**
 * The rules for an event of a visitor: it belongs to the visitor's contact at the time it was sent, or if the visitor
 * was anonymous, to the contact that it was identified as next. For concurrent steps, either order is valid.
 */
function allowedContacts(event: Tracked, { named }: History, deleted: Deleted[]): Set<string | null> {
  const allowed = new Set<string | null>()
  const earlier = named.filter((naming) => before(naming, event))
  const beside = named.filter((naming) => !before(naming, event) && !before(event, naming))
  const last = earlier.at(-1)
  const next = named.find((naming) => !earlier.includes(naming))
  const ends = last ? deleted.filter((end) => end.contactId === last.contactId && !before(end, last)) : []
  const surelyDeleted = last !== undefined && ends.some((end) => before(last, end) && before(end, event))
  const maybeDeleted = ends.some((end) => !before(event, end))
  if (last && !surelyDeleted) allowed.add(last.contactId)
  if (!last || maybeDeleted) allowed.add(next?.contactId ?? null)
  for (const naming of beside) {
    allowed.add(naming.contactId)
    // Identified and deleted while the event was in flight: anonymous again, until the next identification.
    if (deleted.some((end) => end.contactId === naming.contactId && !before(event, end))) {
      allowed.add(named[named.indexOf(naming) + 1]?.contactId ?? null)
    }
  }
  return allowed
}

test('under any interleaving, every event belongs to the contact that the rules allow, and reads include all acknowledged events', async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async ({ visitors, deletions }) => {
      const tenant = await createTestTenant(service)
      const known = new Map<number, string>()
      let tick = 0
      const timed = async <T>(work: () => Promise<T>) => {
        const start = ++tick
        const result = await work()
        return { result, start, end: ++tick }
      }
      const histories = visitors.map((): History => ({ tracked: [], named: [], read: [] }))
      const deleted: Deleted[] = []
      const deleter = (async () => {
        for (const person of deletions) {
          await new Promise((resolve) => setTimeout(resolve, 15))
          const contactId = known.get(person)
          if (contactId === undefined) continue
          const { result, start, end } = await timed(() => tenant.call('DELETE', `/v1/contacts/${contactId}`))
          if (result.status === 200) deleted.push({ contactId, start, end })
        }
      })()
      await Promise.all(
        visitors.map((steps, index) => act(tenant, `v${index}`, steps, histories[index] as History, timed, known)),
      )
      await deleter
      await check(tenant, histories, deleted)
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

type Timed = <T>(work: () => Promise<T>) => Promise<{ result: T; start: number; end: number }>

async function act(
  tenant: TestTenant,
  visitor: string,
  steps: Step[],
  { tracked, named, read }: History,
  timed: Timed,
  known: Map<number, string>,
): Promise<void> {
  const unawaited: Promise<void>[] = []
  for (const [number, each] of steps.entries()) {
    const event = `${visitor}-${number}`
    if (each.kind === 'track') {
      const sent = timed(() => tenant.track({ visitor_id: visitor, events: [{ event }] })).then(({ start, end }) => {
        tracked.push({ event, start, end })
      })
      if (each.awaited) await sent
      else unawaited.push(sent)
      continue
    }
    if (each.kind === 'read') {
      const { result, start, end } = await timed(() => tenant.call('GET', '/v1/events?limit=100'))
      read.push({ start, end, events: new Set(result.body.events.map(({ event }: { event: string }) => event)) })
      continue
    }
    const { result, start, end } = await timed(() => name(tenant, visitor, each, event))
    named.push({ contactId: result, start, end })
    if ('person' in each) known.set(each.person, result)
    if (each.kind === 'trackIdentify') tracked.push({ event, start: end, end })
  }
  await Promise.all(unawaited)
}

/** Identifies a visitor. @returns the identified contact. */
async function name(
  tenant: TestTenant,
  visitor: string,
  each: Exclude<Step, { kind: 'track' | 'read' }>,
  event: string,
): Promise<string> {
  if (each.kind === 'userId') {
    const { body } = await tenant.call('POST', '/v1/identify', { visitor_id: visitor, user_id: `user-${each.user}` })
    return body.contact_id
  }
  const email = `person${each.person}@example.com`
  if (each.kind === 'identify') {
    return (await tenant.call('POST', '/v1/identify', { visitor_id: visitor, email })).body.contact_id
  }
  if (each.kind === 'form') {
    const response = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
      headers: { origin: `https://${tenant.site}` },
      body: JSON.stringify({ visitor_id: visitor, contact_data: { email } }),
    })
    return response.body.contact_id
  }
  await tenant.track({ visitor_id: visitor, identify: { traits: { email } }, events: [{ event }] })
  const links = await tenant.handle.db
    .selectFrom('visitor_links')
    .select('contact_id')
    .where('visitor_id', '=', visitor)
    .where('contact_id', 'is not', null)
    .orderBy('link_id', 'desc')
    .execute()
  return links[0]?.contact_id ?? ''
}

async function check(tenant: TestTenant, histories: History[], deleted: Deleted[]): Promise<void> {
  const { body } = await tenant.call('GET', '/v1/events?limit=100')
  const found = new Map<string, string | null>()
  for (const { event, internal_contact_id, data, visitor_id } of body.events) {
    if (event === 'form_submission') {
      const named = histories[Number(visitor_id.slice(1))]?.named.map(({ contactId }) => contactId)
      expect(named, JSON.stringify(data)).toContain(internal_contact_id)
      continue
    }
    expect(found.has(event), `${event} is there twice`).toBe(false)
    found.set(event, internal_contact_id)
  }
  const acknowledged = histories.flatMap(({ tracked }) => tracked)
  for (const read of histories.flatMap((history) => history.read)) {
    const missed = acknowledged.filter((event) => before(event, read) && !read.events.has(event.event))
    expect(missed, 'a read missed them').toEqual([])
  }
  for (const [index, history] of histories.entries()) {
    for (const event of history.tracked) {
      const allowed = allowedContacts(event, history, deleted)
      expect([...allowed], `${event.event} of ${JSON.stringify({ history, deleted })}`).toContain(
        found.get(event.event) ?? null,
      )
    }
    const visitor = await tenant.handle.db
      .selectFrom('visitors')
      .select('contact_id')
      .where('visitor_id', '=', `v${index}`)
      .executeTakeFirst()
    const end = { start: Number.MAX_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER, event: 'the end' }
    const allowed = allowedContacts(end, history, deleted)
    expect([...allowed], 'PostgreSQL agrees').toContain(visitor?.contact_id ?? null)
  }
}
