import { expect, test } from 'vitest'
import { describeFilter } from './describe.ts'
import type { SegmentCondition } from './language.ts'

const names = {
  segments: new Map([['a-b', 'Customers']]),
  labels: new Map([
    ['country', 'Country'],
    ['annualrevenue', 'Annual revenue'],
  ]),
}
const paid = { type: 'order_paid' }

/** Every part of the language, as people read it. */
const SENTENCES: [sentence: string, ...conditions: SegmentCondition[]][] = [
  ['Anything'],
  ['Country starts with “F”', { property: 'country', operator: 'starts_with', value: 'F' }],
  ['Country is any of “FR”, “IT”', { property: 'country', operator: 'in', value: ['FR', 'IT'] }],
  ['Company annual revenue is greater than “5”', { property: 'company.annualrevenue', operator: 'gt', value: 5 }],
  ['Plan name has no value', { property: 'properties.plan_name', operator: 'is_not_set' }],
  ['Trial end is within the last 7 days', { property: 'trial_end', operator: 'within_days', value: 7 }],
  ['Is in “Customers” or a deleted segment', { property: 'segment', operator: 'in', value: ['A-B', 'gone'] }],
  [
    'Country is “FR” and has viewed a page at a URL containing “/pricing” at least 2 times in the last 30 days',
    { property: 'country', operator: 'equals', value: 'FR' },
    {
      event: { type: 'page_view', url_contains: '/pricing', min_count: 2, within_days: 30 },
      operator: 'did',
    },
  ],
  [
    'Has not done “order_paid” where (Order total has a value or Sku is “x”)',
    {
      event: {
        ...paid,
        where: [
          {
            match: 'any',
            conditions: [
              { property: 'data.order.total', operator: 'is_set' },
              { property: 'data.sku', operator: 'equals', value: 'x' },
            ],
          },
        ],
      },
      operator: 'did_not',
    },
  ],
  [
    'Has done “order_paid” fewer than 3 times where the average of Total is less than “9.5”',
    {
      event: {
        ...paid,
        count: { operator: 'lt', value: 3 },
        measure: { function: 'avg', property: 'data.total', operator: 'lt', value: 9.5 },
      },
      operator: 'did',
    },
  ],
  [
    'Has viewed a page, then done “order_paid”, within 1 week',
    { sequence: [{ type: 'page_view' }, paid], within: { value: 1, unit: 'week' }, operator: 'did' },
  ],
  [
    'Is not among the people of web analytics',
    { insight: 'web', question: {}, at: { list: 'country', value: 'DE' }, operator: 'did_not' },
  ],
]

test.for(SENTENCES)('%s', ([sentence, ...conditions]) => {
  expect(describeFilter({ match: 'all', conditions }, names)).toBe(sentence)
})
