import { expect, test } from 'vitest'
import { printed } from './print.ts'

const ROWS = [
  { segment_id: 'a', _id: 'a', name: 'Leads', scopes: ['one', 'two'], filter: { match: 'all' }, last: null },
  { segment_id: 'bb', _id: 'bb', name: `Long\n${'x'.repeat(60)}`, scopes: [], filter: {}, last: true },
]

test('a list is printed as a table, followed by the other fields', () => {
  const pagination = { page: 1, limit: 2, total_pages: 3, total_items: 5 }
  expect(printed({ segments: ROWS, counting: false, pagination })).toBe(
    `
segment_id  name                                      scopes    last  filter
a           Leads                                     one, two        {"match":"all"}
bb          Long ${'x'.repeat(34)}…            true  {}

counting  false

Page 1 of 3, 5 in total. Use --page to see more.`.trimStart(),
  )
})

test('columns that do not fit are listed', () => {
  expect(printed({ segments: ROWS.slice(0, 1) }, 20)).toBe(
    'segment_id  name\na           Leads\n\nNot shown: scopes, filter. Use --json to see everything.',
  )
})

test('a table starts with the id and what tells most, has a column for each property, and none that is empty', () => {
  const contacts = [
    { contact_id: 'a', company_id: null, created_at: '2026', properties: { city: 'Paris', email: 'ada@example.com' } },
    { contact_id: 'b', company_id: null, created_at: '2025', properties: { firstname: 'Bob', created_at: 'x' } },
  ]
  expect(printed({ contacts })).toBe(
    `
contact_id  email            firstname  created_at  city
a           ada@example.com             2026        Paris
b                            Bob        2025`.trimStart(),
  )
})

test('an empty list has a message', () => {
  expect(printed({ api_keys: [] })).toBe('No api keys.')
})

test('an object is printed with one line per field', () => {
  expect(printed({ segment: { segment_id: 'a', _id: 'a', filter: { match: 'all' }, ids: ['x', 'y'] } })).toBe(
    'segment_id    a\nfilter.match  all\nids           x, y',
  )
  expect(printed({ deleted: true, segment_id: 'a' })).toBe('deleted     true\nsegment_id  a')
})

test('the lists of an object are tables, and a list of words has one on each line', () => {
  const steps = [
    { name: 'one', done: true },
    { name: 'two', done: false },
  ]
  expect(printed({ import: { state: 'mapped', steps, counts: { rows: 2 } } })).toBe(
    `
state        mapped
counts.rows  2

steps:

name  done
one   true
two   false`.trimStart(),
  )
  expect(printed({ scopes: ['contacts:read', 'events:read'] })).toBe('contacts:read\nevents:read')
})
