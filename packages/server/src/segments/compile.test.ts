import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { ALL_CONTACTS } from '../contacts/ranges.ts'
import { toRecord } from '../journal/append.ts'
import { type EventRecord, JOURNAL_FORMAT, serializeEvents } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS, parseTimestamp } from '../platform/time.ts'
import { evaluateContacts } from './evaluate-contacts.ts'
import { type ConditionResult, inGroups, queryEvents, streamResults } from './events.ts'
import {
  type EventMatch,
  isNested,
  PROPERTY_OPERATORS,
  type PropertyCondition,
  type SegmentCondition,
  type SegmentFilter,
} from './filter.ts'
import { storeResults, storeResultsOfRange } from './met-conditions.ts'
import { parseSegmentFilter } from './parse-filter.ts'

const NOW = new Date('2026-03-10T12:00:00.000Z')
/** Few distinct values, so that conditions match about half the time. */
const TEXTS = [
  '',
  'a',
  'A',
  'Straße',
  '100%',
  'a_b',
  'axb',
  '\\',
  "it's {x: String}",
  '5',
  ' 7.50 ',
  '1e3',
  '2026-03-01',
]
const TIMES = ['2026-03-01', '2026-03-01T23:59:59.999Z', '2026-03-10T12:00:00Z', '2026-03-11 01:00+02:00', '2026-02-30']
const KEYS = ['plan', 'score', 'seen', 'tags', 'constructor', 'x" - \'y']
const scalars = fc.oneof(fc.constantFrom(...TEXTS, ...TIMES), fc.constantFrom(0, 5, -1, 7.5, 1e-7, 900), fc.boolean())
const values = fc.oneof(
  { weight: 4, arbitrary: scalars },
  { weight: 1, arbitrary: fc.array(scalars, { maxLength: 3 }) },
)

interface Person {
  contactId: string
  email: string | null
  properties: Record<string, unknown>
  companyId: string | null
  createdAt: Date
  events: Visit[]
}
interface Visit {
  event: string
  text: string
  url: string
  class: string
  element_id: string
  at: number
  isSystem: boolean
}

const moments = fc.constantFrom(0, 1, DAY_MS - 1, DAY_MS, DAY_MS + 1, 9 * DAY_MS, 40 * DAY_MS)
const visits: fc.Arbitrary<Visit> = fc.record({
  event: fc.constantFrom('page_view', 'button_click', 'contact_updated'),
  text: fc.constantFrom('', 'Buy', 'buy now', 'Straße 5%'),
  url: fc.constantFrom('', 'https://x.example/Pricing', 'https://x.example/pricing?a_b=1'),
  class: fc.constantFrom('', 'btn btn-primary', 'BTN'),
  element_id: fc.constantFrom('', 'cta', 'CTA'),
  at: moments.map((ago) => NOW.getTime() - ago),
  isSystem: fc.boolean(),
})
const people = fc.record({
  contactId: fc.constant('').map(() => newId()),
  email: fc.option(fc.constant('').map(() => `${newId()}@Example.com`.toLowerCase())),
  properties: fc.dictionary(fc.constantFrom(...KEYS), values, { noNullPrototype: true }),
  companyId: fc.boolean().map((has) => (has ? COMPANY : null)),
  createdAt: moments.map((ago) => new Date(NOW.getTime() - ago)),
  events: fc.array(visits, { maxLength: 4 }),
})

const COMPANY = newId()
const texts = fc.constantFrom(...TEXTS.filter((text) => text !== ''))
const valueFor = (operator: string): fc.Arbitrary<unknown> => {
  if (operator.endsWith('contains')) return texts
  if (operator === 'in' || operator === 'not_in') return fc.array(scalars, { minLength: 1, maxLength: 4 })
  if (['gt', 'gte', 'lt', 'lte'].includes(operator)) return fc.constantFrom(0, 5, 7.5, '5', ' 7.50 ', 1e-7)
  if (operator === 'before' || operator === 'after') return fc.constantFrom(...TIMES.slice(0, 4))
  return operator === 'within_days' ? fc.constantFrom(1, 9, 40) : scalars
}
const onProperty = fc
  .constantFrom(...PROPERTY_OPERATORS)
  .chain((operator) =>
    fc.record({ property: fc.constantFrom(...KEYS), operator: fc.constant(operator), value: valueFor(operator) }),
  )
const onColumn = fc.oneof(
  fc
    .constantFrom('before', 'after', 'within_days', 'is_set')
    .chain((operator) =>
      fc.record({ property: fc.constant('created_at'), operator: fc.constant(operator), value: valueFor(operator) }),
    ),
  fc.record({
    property: fc.constantFrom('company_id', 'email', 'creation_source'),
    operator: fc.constantFrom('equals', 'not_equals', 'contains', 'not_contains', 'is_set', 'is_not_set'),
    value: fc.constantFrom(COMPANY, COMPANY.toUpperCase(), 'EXAMPLE', 'manual', 'not-an-id'),
  }),
)
const onEvent = fc.record({
  event: fc.record(
    {
      type: fc.constantFrom('page_view', 'contact_updated'),
      text: fc.constantFrom('Buy', 'buy'),
      text_contains: fc.constantFrom('BUY', 'straße', '%'),
      url_contains: fc.constantFrom('PRICING', '_'),
      class_contains: fc.constantFrom('btn', '{x: String}'),
      element_id: fc.constantFrom('cta'),
      within_days: fc.constantFrom(1, 9),
      min_count: fc.constantFrom(1, 2),
    },
    { requiredKeys: [] },
  ),
  operator: fc.constantFrom('did', 'did_not'),
})
const { filter: filters } = fc.letrec((tie) => ({
  condition: fc.oneof({ maxDepth: 3, depthSize: 'small' }, onProperty, onColumn, onEvent, tie('filter')),
  filter: fc.record({
    match: fc.constantFrom('all', 'any'),
    conditions: fc.array(tie('condition'), { maxLength: 4 }),
  }),
}))

/** A second, simple implementation of the filter language. */
function belongs(filter: SegmentFilter, person: Person): boolean {
  const isMet = (condition: SegmentCondition) => {
    if (isNested(condition)) return belongs(condition, person)
    if ('event' in condition) return did(condition.event, person) === (condition.operator === 'did')
    return has(condition, person)
  }
  return filter.match === 'all' ? filter.conditions.every(isMet) : filter.conditions.some(isMet)
}

function has({ property, operator, value }: PropertyCondition, person: Person): boolean {
  const actual = propertyOf(person, property)
  const elements = (Array.isArray(actual) ? actual : [actual]).filter((element) => element !== undefined)
  const lowered = (text: unknown) =>
    typeof text === 'string' && (property === 'email' || property === 'company_id') ? text.toLowerCase() : text
  const wanted = (Array.isArray(value) ? value : [value]).map(lowered)
  const isOne = elements.some((element) => wanted.includes(element as never))
  const contains = elements.some((element) => String(element).toLowerCase().includes(String(value).toLowerCase()))
  const isSet = actual !== undefined && actual !== '' && !(Array.isArray(actual) && actual.length === 0)
  const number = typeof actual === 'number' || typeof actual === 'string' ? numberOf(actual) : Number.NaN
  const at = typeof actual === 'string' ? (parseTimestamp(actual)?.getTime() ?? Number.NaN) : Number.NaN
  switch (operator) {
    case 'equals':
    case 'in':
      return isOne
    case 'not_equals':
    case 'not_in':
      return !isOne
    case 'contains':
      return contains
    case 'not_contains':
      return !contains
    case 'is_set':
      return isSet
    case 'is_not_set':
      return !isSet
    case 'gt':
      return number > Number(value)
    case 'gte':
      return number >= Number(value)
    case 'lt':
      return number < Number(value)
    case 'lte':
      return number <= Number(value)
    case 'before':
      return at <= (parseTimestamp(String(value), 'end')?.getTime() ?? Number.NaN)
    case 'after':
      return at >= (parseTimestamp(String(value))?.getTime() ?? Number.NaN)
    case 'within_days':
      return at <= NOW.getTime() && at >= NOW.getTime() - Number(value) * DAY_MS
  }
}

function numberOf(value: string | number): number {
  return typeof value === 'number' || /^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(value) ? Number(value) : Number.NaN
}

function propertyOf(person: Person, property: string): unknown {
  if (property === 'created_at') return person.createdAt.toISOString()
  if (property === 'email') return person.email ?? undefined
  if (property === 'company_id') return person.companyId ?? undefined
  if (property === 'creation_source') return 'manual'
  return Object.hasOwn(person.properties, property) ? person.properties[property] : undefined
}

function did(match: EventMatch, { events }: Person): boolean {
  const contains = (text: string, part: string | undefined) =>
    part === undefined || text.toLowerCase().includes(part.toLowerCase())
  const matching = events.filter(
    (visit) =>
      (match.type === 'contact_updated' || !visit.isSystem) &&
      (match.type === undefined || visit.event === match.type) &&
      (match.text === undefined || visit.text === match.text) &&
      contains(visit.text, match.text_contains) &&
      contains(visit.url, match.url_contains) &&
      contains(visit.class, match.class_contains) &&
      (match.element_id === undefined || visit.element_id === match.element_id) &&
      (match.within_days === undefined || visit.at >= NOW.getTime() - match.within_days * DAY_MS),
  )
  return matching.length >= (match.min_count ?? 1)
}

let service: TestService
let tenant: TestTenant
let persons: Person[]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  persons = fc.sample(people, { numRuns: 120, seed: 20_260_310 })
  const company = { company_id: COMPANY, created_at: NOW, updated_at: NOW }
  await tenant.handle.db.insertInto('companies').values(company).execute()
  await load(tenant, persons)
  // Another tenant's events of the same contacts must not count.
  const stranger = await createTestTenant(service)
  await insertEvents(stranger, persons)
})

async function load({ handle }: TestTenant, contacts: readonly Person[]): Promise<void> {
  const rows = contacts.map(({ contactId, email, properties, companyId, createdAt }) => ({
    contact_id: contactId,
    email,
    properties: JSON.stringify(properties),
    company_id: companyId,
    creation_source: 'manual',
    first_seen_at: createdAt,
    created_at: createdAt,
    updated_at: createdAt,
  }))
  await handle.db.insertInto('contacts').values(rows).execute()
  await insertEvents(tenant, contacts)
}

async function insertEvents({ id }: TestTenant, contacts: readonly Person[]): Promise<void> {
  if (contacts.every(({ events }) => events.length === 0)) return
  const records = contacts.flatMap(({ contactId, events }) =>
    events.map(
      ({ at, isSystem, ...visit }): EventRecord => ({
        ...toRecord(id, { event: 'contact_updated', at: new Date(at), contactId, data: {} }),
        ...visit,
        is_system: isSystem,
      }),
    ),
  )
  await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(records), newId())
}

const nobody = { email: null, properties: {}, companyId: null, createdAt: NOW, events: [] }
const nobodyElse = { name: '', revision: 0, reads: new Set<string>(), isEvaluated: true, usesSystemEvents: false }

/** Any filter, compiled for PostgreSQL and ClickHouse, selects the same contacts as the simple implementation. */
test('the compiled filter selects the same random contacts as the simple implementation', async () => {
  const ids = persons.map(({ contactId }) => contactId)
  await fc.assert(
    // Ten at once, as the service evaluates them: a query costs more than a filter.
    fc.asyncProperty(fc.array(filters, { minLength: 10, maxLength: 10 }), fc.boolean(), async (sent, byRange) => {
      const definitions = sent.map((each, index) => {
        const filter = parseSegmentFilter(JSON.parse(JSON.stringify(each)))
        return { ...nobodyElse, segmentId: `s${index}`, filter, matches: matchesOf(filter) }
      })
      const matches = definitions.flatMap((each) => each.matches)
      await (byRange ? findOfAll(matches) : findOf(ids, matches))
      const evaluated = await evaluateContacts(tenant.handle, definitions, ids, NOW)
      const withoutEvents = await evaluateContacts(tenant.handle, definitions, ids, NOW, () => false)
      for (const { segmentId, filter } of definitions) {
        const found = evaluated.filter((each) => each.belongs.get(segmentId) === true).map(({ contactId }) => contactId)
        const expected = persons.filter((person) => belongs(filter, person)).map(({ contactId }) => contactId)
        expect(found.sort(), JSON.stringify(filter)).toEqual(expected.sort())
        // Results that do not depend on events are the same without them.
        for (const { contactId, belongs: result } of withoutEvents) {
          const decided = result.get(segmentId)
          if (decided !== null) expect(decided, JSON.stringify(filter)).toBe(expected.includes(contactId))
        }
      }
    }),
    { numRuns: 30, seed: 20_260_310 },
  )
})

/** Decisions 7.1: negative operators match a missing value, all others do not. */
test.each(PROPERTY_OPERATORS)('%s of a missing value', async (operator) => {
  const [value] = fc.sample(valueFor(operator), { numRuns: 1, seed: 1 })
  const known = ['missing', 'email', 'company_id'].filter((property) => property === 'missing' || /equals|contains|set|in$/.test(operator)) // biome-ignore format: a list
  const bare = { ...nobody, contactId: newId() }
  await load(tenant, [bare])
  for (const property of known) {
    const filter = parseSegmentFilter({ match: 'all', conditions: [{ property, operator, value }] })
    const definition = { ...nobodyElse, segmentId: 's', filter, matches: [] }
    const [evaluated] = await evaluateContacts(tenant.handle, [definition], [bare.contactId], NOW)
    expect(evaluated?.belongs.get('s')).toBe(['not_equals', 'not_contains', 'not_in', 'is_not_set'].includes(operator))
  }
})

test.each([
  ['did', undefined, false],
  ['did_not', undefined, true],
  ['did', 3, false],
  ['did_not', 3, true],
])('%s of a contact without events', async (operator, min_count, expected) => {
  const bare = { ...nobody, contactId: newId() }
  await load(tenant, [bare])
  const event = min_count === undefined ? {} : { min_count }
  const filter = parseSegmentFilter({ match: 'any', conditions: [{ event, operator }] })
  const matches = matchesOf(filter)
  await findOf([bare.contactId], matches)
  const definition = { ...nobodyElse, segmentId: 's', filter, matches }
  const [evaluated] = await evaluateContacts(tenant.handle, [definition], [bare.contactId], NOW)
  expect(evaluated?.belongs.get('s')).toBe(expected)
})

/** Stores which contacts meet event conditions, as a check does. */
async function findOf(contactIds: readonly string[], matches: readonly EventMatch[]): Promise<void> {
  if (matches.length === 0) return
  const results = await queryEvents(tenant.handle, matches, { contactIds }, NOW)
  await storeResults(tenant.handle, matches, contactIds, results)
}

/** The same for all contacts, as the evaluation of a segment does. */
async function findOfAll(matches: readonly EventMatch[]): Promise<void> {
  for (const group of inGroups(matches)) {
    const results: ConditionResult[] = []
    for await (const some of streamResults(tenant.handle, group, ALL_CONTACTS, NOW)) results.push(...some)
    const list = (of: keyof ConditionResult) => `{${results.map((result) => result[of]).join(',')}}`
    const ofRange = {
      ...ALL_CONTACTS,
      queriedAt: NOW.toISOString(),
      contactIds: list('contact_id'),
      hits: list('hits'),
    }
    await storeResultsOfRange(tenant.handle, group, ofRange)
  }
}

function matchesOf(filter: SegmentFilter): EventMatch[] {
  return filter.conditions.flatMap((each) => (isNested(each) ? matchesOf(each) : 'event' in each ? [each.event] : []))
}
