import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Door, type Known, send, someDoor } from '../../../test/doors.ts'
import {
  createsCompanies,
  type LateDoor,
  type SourceDoor,
  sendOfSource,
  someLateDoor,
  someSourceDoor,
} from '../../../test/doors-of-sources.ts'
import { type Held, hold } from '../../../test/held-writes.ts'
import { stories } from '../../../test/seed.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { everyContact, named, readEvents, readState, requireConsistent } from '../../../test/visible-state.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { createWriter, type WriteServices } from './writer.ts'

const SECOND_MS = 1_000

let service: TestService
let now = new Date()
beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
afterAll(() => service.close())

/** What happens between groups, one after another. */
type Between =
  | { kind: 'merge'; contact: number; into: number }
  | { kind: 'end'; contact: number; isUnmerge: boolean }
  | { kind: 'visit'; visitor: string; path: string }

const contact = fc.nat(11)
const between: fc.Arbitrary<Between> = fc.oneof(
  fc.record({ kind: fc.constant('merge'), contact, into: contact }),
  fc.record({ kind: fc.constant('end'), contact, isUnmerge: fc.boolean() }),
  fc.record({
    kind: fc.constant('visit'),
    visitor: fc.constantFrom('v1', 'v2', 'v3', 'v4', 'v5'),
    path: fc.constantFrom('a', 'b'),
  }),
)
type Request = Door | SourceDoor | LateDoor
interface Turn {
  between: Between[]
  group: (Door | SourceDoor)[]
  /** The last request of the group: what comes after its first transaction would come in another order. */
  last: LateDoor | null
}
const turn: fc.Arbitrary<Turn> = fc.record({
  between: fc.array(between, { maxLength: 4 }),
  group: fc
    .array(fc.oneof({ weight: 3, arbitrary: someDoor }, { weight: 1, arbitrary: someSourceDoor }), {
      minLength: 1,
      maxLength: 50,
    })
    .map(withoutLateCompanies),
  last: fc.option(someLateDoor),
})
const story = fc.record({ turns: fc.array(turn, { minLength: 2, maxLength: 4 }), requiresSignature: fc.boolean() })

/** A company that is written before the group cannot come after one that the group creates: then it has two transactions. */
function withoutLateCompanies(group: (Door | SourceDoor)[]): (Door | SourceDoor)[] {
  const first = group.findIndex(createsCompanies)
  return group.filter((request, index) => first === -1 || index <= first || !writesCompany(request))
}

function writesCompany(request: Request): boolean {
  switch (request.door) {
    case 'calls':
      return request.calls.some(({ company }) => company)
    case 'sdk':
      return request.batch.some(({ type }) => type === 'group')
    default:
      return request.door === 'form' && request.company !== null
  }
}

/** A tenant whose transactions are counted, and its story so far. */
class Told {
  readonly tenant: TestTenant
  readonly outcomes: object[][] = []
  readonly services: WriteServices
  transactions = 0
  #known: string[] = []
  readonly #requiresSignature: boolean

  constructor(tenant: TestTenant, requiresSignature: boolean) {
    this.tenant = tenant
    this.#requiresSignature = requiresSignature
    const { writing } = service
    const follow: typeof writing.segments.follow = (...given) => {
      this.transactions++
      return writing.segments.follow(...given)
    }
    const writer = createWriter({ ...writing, segments: { ...writing.segments, follow } })
    this.services = { ...writing, writer }
  }

  async known(): Promise<Known> {
    const state = await readState(this.tenant)
    const ids = [...state.contacts, ...state.merges].map(({ contact_id }) => contact_id)
    this.#known = [...new Set([...this.#known, ...ids])].sort()
    return { state, contactIds: this.#known, requiresSignature: this.#requiresSignature }
  }

  /** Starts requests, each of which has read what it needs before any of them writes. */
  async start(group: readonly Request[]): Promise<Held[]> {
    const known = await this.known()
    const held: Held[] = []
    for (const request of group) {
      const one = hold(this.services.writer, (writer) => this.send({ ...this.services, writer }, known, request))
      held.push(one)
      await one.arrived
    }
    return held
  }

  send(services: WriteServices, known: Known, request: Request): Promise<unknown> {
    switch (request.door) {
      case 'push':
      case 'remove':
      case 'profiles':
      case 'sdk':
        return sendOfSource(service, this.tenant, services, request)
      default:
        return send(this.tenant, services, known, request)
    }
  }

  async do(each: Between): Promise<void> {
    const { contactIds } = await this.known()
    const idOf = (index: number) => contactIds[index % contactIds.length] ?? this.tenant.id
    const { tenant } = this
    if (each.kind === 'merge')
      await tenant.call('POST', `/v1/contacts/${idOf(each.contact)}/merge`, { into: idOf(each.into) })
    else if (each.kind === 'end') {
      const path = `/v1/contacts/${idOf(each.contact)}`
      await (each.isUnmerge ? tenant.call('POST', `${path}/unmerge`) : tenant.call('DELETE', path))
    } else {
      const events = [{ event: 'page_view', url: `https://shop.example.com/${each.path}?utm_source=${each.path}` }]
      await tenant.track({ visitor_id: each.visitor, events })
    }
  }
}

/**
 * Every request of a group has read what it needs, such as who its people are, before the first of them writes. From there,
 * one tenant writes them in one transaction, and the other one after another, both at the same time: a transaction has one
 * time, and of two values of one time, a merge keeps that of the survivor.
 */
test('writes that share a transaction have the results and effects of the same writes one after another', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ turns, requiresSignature }) => {
      const together = new Told(await createTestTenant(service), requiresSignature)
      const apart = new Told(await createTestTenant(service), requiresSignature)
      const start = Math.floor(Date.now() / SECOND_MS) * SECOND_MS - 30 * MINUTE_MS
      for (const [index, { between, group: first, last }] of turns.entries()) {
        const group = last === null ? first : [...first, last]
        const at = start + index * 2 * SECOND_MS
        now = new Date(at)
        for (const each of between) for (const told of [together, apart]) await told.do(each)
        now = new Date(at + SECOND_MS)
        const held = await together.start(group)
        const before = together.transactions
        const shared = await atOnce(together, held)
        together.outcomes.push(shared)
        const alone = await apart.start(group)
        const results: object[] = []
        for (const one of alone) results.push(await runAlone(apart, one))
        apart.outcomes.push(results)
        // Writes that have each got a transaction run at the same time, unless they have a key in common.
        if (group.some((request, place) => isUndone(request, shared[place]))) {
          requireConsistent(await readState(together.tenant))
          return
        }
        // The first write, and the group.
        if (last === null) expect(together.transactions - before).toBeLessThanOrEqual(2)
      }
      expect(await visible(together)).toEqual(await visible(apart))
    }),
    stories(15),
  )
})

/** A request that is refused after it has written a company undoes the group; then each write gets its own transaction. */
function isUndone(request: Request, outcome: object | undefined): boolean {
  const isRefused = request.door === 'sdk' ? /The contact|No contact|previous id/ : /"code"/
  return writesCompany(request) && isRefused.test(JSON.stringify(outcome))
}

/** Releases requests in their order while another write runs, so that they wait and share the next transaction. */
async function atOnce({ services, tenant }: Told, held: readonly Held[]): Promise<object[]> {
  const running = services.writer.write(tenant.handle, { keys: {}, apply: () => null })
  for (const { release } of held) release()
  await running
  return Promise.all(held.map(({ outcome }) => outcome))
}

/** A write that fails has changed nothing, but that its visitors are known. */
async function runAlone({ tenant }: Told, { release, outcome }: Held): Promise<object> {
  const before = await readState(tenant)
  release()
  const result = await outcome
  if ('code' in result) {
    const after = await readState(tenant)
    expect({ ...after, visitors: [] }).toEqual({ ...before, visitors: [] })
  }
  return result
}

/** All that anybody can see of a tenant, with names in place of ids. */
async function visible({ tenant, outcomes }: Told) {
  const [state, events] = [await readState(tenant), await readEvents(tenant)]
  requireConsistent(state)
  const withNames = named(tenant.id, everyContact(events, state), state)
  const { visitorLinks, ...tables } = withNames(state)
  const sorted = Object.entries(tables).map(([table, rows]) => [table, inOrder(rows)])
  const eventsOf = Map.groupBy(
    withNames(events).map(withSortedIds),
    ({ contactId, event }) => `${event === 'form_submission' ? 'forms' : 'system events'} of ${contactId}`,
  )
  return {
    ...Object.fromEntries(sorted),
    visitorLinks,
    events: Object.fromEntries([...eventsOf].toSorted()),
    outcomes: withNames(outcomes),
  }
}

function inOrder(rows: unknown): unknown {
  return Array.isArray(rows) ? rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : rows
}

/** Visitors that become known in the same moment have no order. */
function withSortedIds<Each extends { data: Record<string, unknown> }>(each: Each): Each {
  const { visitor_ids: ids } = each.data
  return Array.isArray(ids) ? { ...each, data: { ...each.data, visitor_ids: ids.toSorted() } } : each
}

test('a visitor that sent an id follows it to a contact that gets it, and to one that takes it in the same transaction', async () => {
  now = new Date()
  const told = new Told(await createTestTenant(service), false)
  const { tenant } = told
  await tenant.track({ visitor_id: 'v1', external_contact_id: 'u1', events: [{ event: 'e' }] })
  await tenant.call('POST', '/v1/identify', { visitor_id: 'v1', email: 'ada@example.com' })
  const ofPage = { keys: { email: 'ada@example.com', userId: 'u1' }, visitorId: 'v2', isSigned: false } as const
  const ofServer = { keys: { email: 'bob@example.com', userId: 'u1' } } as const
  const held = await told.start([
    { door: 'track', ...ofPage, properties: {} },
    { door: 'identify', ...ofServer, visitorIds: [], properties: {} },
  ])
  await atOnce(told, held)
  const { contacts, visitors } = await readState(tenant)
  const bob = contacts.find(({ external_id }) => external_id === 'u1')
  expect(bob?.email).toBe('bob@example.com')
  expect(visitors.find(({ visitor_id }) => visitor_id === 'v1')?.contact_id).toBe(bob?.contact_id)
})
