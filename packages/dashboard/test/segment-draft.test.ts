import fc from 'fast-check'
import { expect, test } from 'vitest'
import { filters, type Sent, wheres } from '../../server/test/conditions.ts'
import { draftOf, type FieldTypes, filterOf, filterOfEvents } from '../src/filters/draft-filter.ts'
import { parseFilter } from '../src/filters/filter-text.ts'

const NO_TYPES: FieldTypes = { records: new Map(), events: new Map() }
/** What is known of a property must not change a value that nobody touched. */
const OTHER_TYPES: FieldTypes = {
  records: new Map([
    ['plan', 'number'],
    ['score', 'text'],
    ['company.industry', 'number'],
  ]),
  events: new Map([
    ['data.plan', 'text'],
    ['data.order.total', 'text'],
  ]),
}

test('every filter of the language survives the form unchanged', () => {
  fc.assert(
    fc.property(filters.map(asStored), fc.constantFrom(NO_TYPES, OTHER_TYPES), (filter, types) => {
      expect(filterOf(draftOf(filter), types)).toEqual(filter)
    }),
    { numRuns: 2_000 },
  )
})

test('so do all conditions on events', () => {
  fc.assert(
    fc.property(wheres.map(asStored), fc.constantFrom(NO_TYPES, OTHER_TYPES), (conditions, types) => {
      const filter = { match: 'all' as const, conditions }
      expect(filterOfEvents(draftOf(filter), types)).toEqual(filter)
    }),
    { numRuns: 500 },
  )
})

test('every filter can be read from its JSON, and what the form cannot show is refused', () => {
  fc.assert(
    fc.property(filters.map(asStored), (filter) => {
      expect(parseFilter(JSON.stringify(filter))).toEqual(filter)
    }),
  )
  const broken = [
    {},
    { property: 5, operator: 'equals' },
    { property: 'plan' },
    { event: null, operator: 'did' },
    { event: { where: {} }, operator: 'did' },
    { event: { where: [{ event: {}, operator: 'did' }] }, operator: 'did' },
    { event: { measure: { property: 'a', operator: 'equals', value: {} } }, operator: 'did' },
    { sequence: [{}, 'a'], within: { value: 1, unit: 'day' }, operator: 'did' },
    { sequence: [{}, {}], operator: 'did' },
  ]
  for (const condition of broken) {
    expect(parseFilter(JSON.stringify({ match: 'all', conditions: [condition] }))).toBeUndefined()
  }
  expect(parseFilter('{"match":"all"')).toBeUndefined()
})

test('a condition that an agent made keeps comparing only what the agent sees when a person edits the filter', () => {
  const filter = {
    match: 'all' as const,
    conditions: [
      { property: 'jobtitle', operator: 'contains' as const, value: 'engineer', visible_only: true as const },
      { event: { url_contains: '/pricing', min_count: 2, visible_only: true as const }, operator: 'did' as const },
      { property: 'company', operator: 'contains' as const, value: 'Ltd' },
      { event: { type: 'page_view' }, operator: 'did_not' as const },
    ],
  }
  expect(filterOf(draftOf(filter), NO_TYPES)).toEqual(filter)
})

test('it is dropped with the comparison that it is for', () => {
  const condition = { property: 'jobtitle', operator: 'contains' as const, value: 'x', visible_only: true as const }
  expect(changed(condition, { operator: 'equals' })).toEqual({ property: 'jobtitle', operator: 'equals', value: 'x' })
})

test('a changed value has the type of its property; one that stays keeps its own', () => {
  const types = { records: new Map([['seats', 'number' as const]]), events: new Map() }
  const stored = { property: 'seats', operator: 'in' as const, value: ['5', 6] }
  expect(changed(stored, { values: ['6', '5', '7'] }, types)).toMatchObject({ value: [6, '5', 7] })
  expect(changed(stored, { operator: 'equals', value: '5' }, types)).toMatchObject({ value: '5' })
  expect(changed(stored, { property: 'plan', operator: 'gt', value: '5' }, types)).toMatchObject({ value: 5 })
  expect(changed(stored, { property: 'plan' }, types)).toMatchObject({ value: ['5', '6'] })
})

/** A condition whose fields somebody changes. */
function changed(stored: Sent, changes: object, types = NO_TYPES) {
  const draft = draftOf({ match: 'all', conditions: [stored] })
  const conditions = draft.conditions.map((each) => ({ ...each, ...changes }) as typeof each)
  return filterOf({ ...draft, conditions }, types).conditions[0]
}

/** As the service stores it: some operators have no value. */
function asStored<Part>(sent: Part): Part {
  if (Array.isArray(sent)) return sent.map(asStored) as Part
  if (typeof sent !== 'object' || sent === null) return sent
  const fields = Object.entries(sent).filter(
    ([name]) => name !== 'value' || !['is_set', 'is_not_set'].includes((sent as Sent).operator),
  )
  return Object.fromEntries(fields.map(([name, value]) => [name, asStored(value)])) as Part
}
