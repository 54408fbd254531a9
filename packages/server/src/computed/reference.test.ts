import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { DAY_MS, HOUR_MS } from '../platform/time.ts'
import { FUNCTIONS } from './definition.ts'

/*
 * Computed properties against a simple implementation in memory: whatever order events, identifications, merges and changes of
 * companies come in, contacts and companies end up with the same values.
 */

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

const PEOPLE = 4
const COMPANIES = 2
const DAYS = 10
/** Half an hour after full hours, so that no event leaves the days that count while the test runs. */
const START = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS / 2

const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.1, '2', ' 7 ', 'seven', '', true, null),
  fc.constantFrom(['a', 'b'], ['b', 1, 1], [], { a: 1 }, [{ a: 1 }, 'c']),
)
const person = fc.nat(PEOPLE - 1)
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      person,
      hoursAgo: fc.nat(20 * 24),
      event: fc.constantFrom('order', 'order', 'order', 'visit'),
      data: fc.record({ value, kind: fc.constantFrom('x', 'y') }, { requiredKeys: [] }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('identify' as const), person }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('merge' as const), person, into: person }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('move' as const), person, company: fc.option(fc.nat(COMPANIES - 1)) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never
interface Happened {
  at: number
  data: { value?: unknown; kind?: string }
}

const WHERE = [{ property: 'data.kind', operator: 'equals', value: 'x' }]
const DEFINITIONS = FUNCTIONS.flatMap((name) => {
  const base = { function: name, event: 'order', ...(name === 'count' ? {} : { property: 'data.value' }) }
  return [
    { name: `all ${name}`, ...base },
    { name: `recent ${name}`, ...base, within_days: DAYS, where: WHERE },
  ]
})

const itemsOf = (data: Happened['data']): unknown[] =>
  [data.value].flat().filter((item) => item !== null && item !== undefined)
const isScalar = (item: unknown) => typeof item !== 'object'
const numberOf = (item: unknown) =>
  typeof item === 'number' ? item : typeof item === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(item) ? Number(item) : null
const round = (figure: number) => (figure === 0 ? 0 : Number(figure.toPrecision(15)))

/** A second, simple implementation. @param events in the order of time */
function reference(name: (typeof FUNCTIONS)[number], events: readonly Happened[]): unknown {
  const items = events.flatMap(({ data }) => itemsOf(data))
  const numbers = items.flatMap((item) => numberOf(item) ?? [])
  const sum = round(numbers.reduce((total, each) => total + each, 0))
  switch (name) {
    case 'count':
      return events.length
    case 'distinct':
      return new Set(items.map((item) => JSON.stringify(item))).size
    case 'first':
    case 'last': {
      const having = events.filter(({ data }) => itemsOf(data).some(isScalar))
      const found = (name === 'first' ? having[0] : having.at(-1))?.data.value
      return Array.isArray(found) ? found.filter((item) => item !== null && isScalar(item)) : found
    }
    case 'most_frequent': {
      const counts = new Map<string, { count: number; latest: number }>()
      for (const [index, { data }] of events.entries()) {
        for (const key of new Set(
          itemsOf(data)
            .filter(isScalar)
            .map((item) => JSON.stringify(item)),
        )) {
          counts.set(key, { count: (counts.get(key)?.count ?? 0) + 1, latest: index })
        }
      }
      const [best] = [...counts].sort(([, a], [, b]) => b.count - a.count || b.latest - a.latest)
      return best && JSON.parse(best[0])
    }
    default: {
      if (numbers.length === 0) return undefined
      if (name === 'sum') return sum
      if (name === 'avg') return sum / numbers.length
      return name === 'min' ? Math.min(...numbers) : Math.max(...numbers)
    }
  }
}

function expected(events: readonly Happened[]): Record<string, unknown> {
  const sorted = events.toSorted((a, b) => a.at - b.at)
  const recent = sorted.filter(({ at, data }) => at >= Date.now() - DAYS * DAY_MS && data.kind === 'x')
  const values = DEFINITIONS.map(({ name, function: of }) => [
    name,
    reference(of, name.startsWith('recent') ? recent : sorted),
  ])
  return Object.fromEntries(values.filter(([, each]) => each !== undefined))
}

/** The computed ones of a record's properties. */
const computedOf = (properties: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => /^(all|recent) /.test(name)))

/** Runs a script, and keeps what happened to whom. */
async function play(tenant: TestTenant, steps: readonly Step[], companies: readonly string[]) {
  const visitor = (index: number) => `${tenant.id}-${index}`
  const emailOf = (index: number) => `person${index}@nowhere.example`
  const events: Happened[][] = Array.from({ length: PEOPLE }, () => [])
  const contacts = new Map<number, string>()
  const survivor = new Map<number, number>()
  const current = (index: number): number => {
    const into = survivor.get(index)
    return into === undefined ? index : current(into)
  }
  for (const [index, each] of steps.entries()) {
    const who = current(each.person)
    if (each.kind === 'event') {
      const { event, data } = each
      // No two at one time.
      const at = START - each.hoursAgo * HOUR_MS + index
      const sent = { event, data, timestamp: new Date(at).toISOString(), visitor_id: visitor(each.person) }
      const { status, body } = await tenant.call('POST', '/v1/events', { events: [sent] })
      expect([status, body.error]).toEqual([200, undefined])
      if (event === 'order') events[each.person]?.push({ at, data })
    } else if (each.kind === 'identify') {
      const sent = { visitor_id: visitor(each.person), email: emailOf(each.person) }
      const { body } = await tenant.call('POST', '/v1/identify', sent)
      if (!contacts.has(each.person)) contacts.set(each.person, body.contact_id)
    } else if (each.kind === 'merge') {
      const into = current(each.into)
      const [from, to] = [contacts.get(who), contacts.get(into)]
      if (from === undefined || to === undefined || from === to) continue
      await tenant.call('POST', `/v1/contacts/${from}/merge`, { into: to })
      survivor.set(who, into)
    } else {
      const contactId = contacts.get(who)
      const company = each.company === null ? null : (companies[each.company] ?? null)
      if (contactId) await tenant.call('PUT', `/v1/contacts/${contactId}`, { company_id: company })
    }
  }
  const eventsOf = new Map<string, Happened[]>()
  for (const [index, happened] of events.entries()) {
    const contactId = contacts.get(current(index))
    // What an unidentified visitor did belongs to nobody.
    if (contactId && contacts.has(index)) {
      eventsOf.set(contactId, [...(eventsOf.get(contactId) ?? []), ...happened])
    }
  }
  return eventsOf
}

test('under random streams of events, merges and moves, values are those of the simple implementation', async () => {
  let people = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      const tenant = await createTestTenant(service)
      const companies = await Promise.all(
        Array.from({ length: COMPANIES }, async (_, index) => {
          const { body } = await tenant.call('POST', '/v1/companies', { name: `Company ${index}` })
          return body.company.company_id as string
        }),
      )
      const define = (entity: string, from: number, to: number) =>
        Promise.all(
          DEFINITIONS.slice(from, to).map(async (definition) => {
            const { status, body } = await tenant.call('POST', '/v1/computed-properties', { entity, ...definition })
            expect([status, body.error]).toEqual([201, undefined])
          }),
        )
      // Some before there is anything to compute, others in the middle of the stream.
      await define('contacts', 0, 9)
      const playing = play(tenant, steps, companies)
      await define('companies', 0, DEFINITIONS.length)
      await define('contacts', 9, DEFINITIONS.length)
      const eventsOf = await playing
      people += eventsOf.size
      await expect
        .poll(
          async () => {
            const { contacts } = (await tenant.call('GET', '/v1/contacts?limit=100')).body
            const { companies: found } = (await tenant.call('GET', '/v1/companies?limit=100')).body
            return {
              contacts: Object.fromEntries(
                contacts.map((each: { contact_id: string; properties: Record<string, unknown> }) => [
                  each.contact_id,
                  computedOf(each.properties),
                ]),
              ),
              companies: Object.fromEntries(
                found.map((each: { company_id: string; properties: Record<string, unknown> }) => [
                  each.company_id,
                  computedOf(each.properties),
                ]),
              ),
            }
          },
          { interval: 500, timeout: 45_000 },
        )
        .toEqual({
          contacts: Object.fromEntries([...eventsOf].map(([id, events]) => [id, expected(events)])),
          companies: Object.fromEntries(await companyValues(tenant, companies, eventsOf)),
        })
    }),
    { numRuns: 4, endOnFailure: true },
  )
  expect(people).toBeGreaterThan(4)
}, 240_000)

async function companyValues(
  tenant: TestTenant,
  companies: readonly string[],
  eventsOf: ReadonlyMap<string, Happened[]>,
) {
  const { contacts } = (await tenant.call('GET', '/v1/contacts?limit=100')).body
  return companies.map((companyId) => {
    const members = contacts.filter((each: { company_id: string | null }) => each.company_id === companyId)
    const events = members.flatMap(({ contact_id }: { contact_id: string }) => eventsOf.get(contact_id) ?? [])
    return [companyId, expected(events)] as const
  })
}
