import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import {
  belongs,
  filters,
  loadCompanies,
  loadEvents,
  loadPeople,
  NOW,
  OPERATORS,
  type Person,
  people,
  valueFor,
} from '../../test/conditions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { type EventQuestion, eventsOf } from '../conditions/language.ts'
import { ALL_CONTACTS } from '../contacts/ranges.ts'
import { newId } from '../platform/ids.ts'
import { parseContactFilter } from './contact-filters.ts'
import { evaluateContacts } from './evaluate-contacts.ts'
import { type ConditionResult, groupsOf, queryEvents, streamResults } from './events.ts'
import { storeResults, storeResultsOfRange } from './met-conditions.ts'

let service: TestService
let tenant: TestTenant
let persons: Person[]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  persons = fc.sample(people, { numRuns: 120, seed: 20_260_310 })
  await loadCompanies(tenant)
  await loadPeople(service, tenant, persons)
  // Another tenant's events of the same contacts must not count.
  const stranger = await createTestTenant(service)
  await loadEvents(service, stranger, persons)
})

const nobody = { email: null, properties: {}, company: null, createdAt: NOW, events: [] }
const nobodyElse = {
  name: '',
  revision: 0,
  reads: new Set<string>(),
  isEvaluated: true,
  zone: 'UTC',
  usesCompany: false,
}

/** Any filter, compiled for PostgreSQL and ClickHouse, selects the same contacts as the simple implementation. */
test('the compiled filter selects the same random contacts as the simple implementation', async () => {
  const ids = persons.map(({ contactId }) => contactId)
  await fc.assert(
    // Ten at once, as the service evaluates them: a query costs more than a filter.
    fc.asyncProperty(fc.array(filters, { minLength: 10, maxLength: 10 }), fc.boolean(), async (sent, byRange) => {
      const definitions = sent.map((each, index) => {
        const filter = parseContactFilter(JSON.parse(JSON.stringify(each)))
        return { ...nobodyElse, segmentId: `s${index}`, filter, matches: eventsOf(filter) }
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
test.each(OPERATORS)('%s of a missing value', async (operator) => {
  const [value] = fc.sample(valueFor(operator), { numRuns: 1, seed: 1 })
  const known = ['missing', 'email', 'company_id'].filter((property) => property === 'missing' || /equals|contains|_with|set|in$/.test(operator)) // biome-ignore format: a list
  const bare = { ...nobody, contactId: newId() }
  await loadPeople(service, tenant, [bare])
  for (const property of known) {
    const filter = parseContactFilter({ match: 'all', conditions: [{ property, operator, value }] })
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
  await loadPeople(service, tenant, [bare])
  const event = min_count === undefined ? {} : { min_count }
  const filter = parseContactFilter({ match: 'any', conditions: [{ event, operator }] })
  const matches = eventsOf(filter)
  await findOf([bare.contactId], matches)
  const definition = { ...nobodyElse, segmentId: 's', filter, matches }
  const [evaluated] = await evaluateContacts(tenant.handle, [definition], [bare.contactId], NOW)
  expect(evaluated?.belongs.get('s')).toBe(expected)
})

/** Stores which contacts meet event conditions, as a check does. */
async function findOf(contactIds: readonly string[], matches: readonly EventQuestion[]): Promise<void> {
  if (matches.length === 0) return
  const results = await queryEvents(tenant.handle, matches, { contactIds }, NOW)
  await storeResults(tenant.handle, matches, contactIds, results)
}

/** The same for all contacts, as the evaluation of a segment does. */
async function findOfAll(matches: readonly EventQuestion[]): Promise<void> {
  for (const group of groupsOf(matches)) {
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
