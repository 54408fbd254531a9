import { expect, test } from 'vitest'
import type { SegmentCondition } from '../src/filters/draft.ts'
import { filterWords } from '../src/filters/words.ts'

const names = {
  labels: new Map([['country', 'Country']]),
  ofEvents: new Map([['url_path', 'URL path']]),
  segments: new Map([['a-b', 'Customers']]),
}

const paid = { type: 'order_paid' }

/** Every part of the language, as people read it. */
const SENTENCES: [sentence: string, condition: SegmentCondition][] = [
  ['Country starts with “F”', { property: 'country', operator: 'starts_with', value: 'F' }],
  ['Country is any of “FR”, “IT”', { property: 'country', operator: 'in', value: ['FR', 'IT'] }],
  ['Company annual revenue is greater than “5”', { property: 'company.annualrevenue', operator: 'gt', value: 5 }],
  ['Is in “Customers” or a deleted segment', { property: 'segment', operator: 'in', value: ['A-B', 'gone'] }],
  ['Has done “Order paid”', { event: paid, operator: 'did' }],
  ['Has not done anything', { event: {}, operator: 'did_not' }],
  [
    'Has viewed a page or done “Order paid” in the last 7 days',
    { event: { types: ['page_view', 'order_paid'], within_days: 7 }, operator: 'did' },
  ],
  [
    'Has done “Order paid” exactly 0 times',
    { event: { ...paid, count: { operator: 'equals', value: 0 } }, operator: 'did' },
  ],
  [
    'Has done “Order paid” fewer than 3 times',
    { event: { ...paid, count: { operator: 'lt', value: 3 } }, operator: 'did' },
  ],
  [
    'Has done anything where URL path is “/a” and (Order total has a value or Items sku is “x”)',
    {
      event: {
        where: [
          { property: 'url_path', operator: 'equals', value: '/a' },
          {
            match: 'any',
            conditions: [
              { property: 'data.order.total', operator: 'is_set' },
              { property: 'data.items.sku', operator: 'equals', value: 'x' },
            ],
          },
        ],
      },
      operator: 'did',
    },
  ],
  [
    'Has done “Order paid” with an average of Total that is less than “9.5”',
    {
      event: { ...paid, measure: { function: 'avg', property: 'data.total', operator: 'lt', value: 9.5 } },
      operator: 'did',
    },
  ],
  [
    'Has done “Order paid” with a number of different values of Sku that is at least “2”',
    {
      event: { ...paid, measure: { function: 'distinct', property: 'data.sku', operator: 'gte', value: 2 } },
      operator: 'did',
    },
  ],
  [
    'Is among the people of web analytics of “Order paid”',
    { insight: 'web', question: { goals: [{}, { event: 'order_paid' }] }, at: { goal: 2 }, operator: 'did' },
  ],
  [
    'Is not among the people of web analytics (country, DE)',
    { insight: 'web', question: {}, at: { list: 'country', value: 'DE' }, operator: 'did_not' },
  ],
  [
    'Has not viewed a page, then done “Order paid”, within 1 week',
    { sequence: [{ type: 'page_view' }, paid], within: { value: 1, unit: 'week' }, operator: 'did_not' },
  ],
]

test.for(SENTENCES)('%s', ([sentence, condition]) => {
  expect(filterWords({ match: 'all', conditions: [condition] } as Parameters<typeof filterWords>[0], names)).toBe(
    sentence,
  )
})
