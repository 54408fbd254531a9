import { expect, test } from 'vitest'
import { draftOf, filterOf } from '../src/filters/draft.ts'

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
  expect(filterOf(draftOf(filter), new Map())).toEqual(filter)
})

test('it is dropped with the comparison that it is for', () => {
  const condition = { property: 'jobtitle', operator: 'contains' as const, value: 'x', visible_only: true as const }
  const draft = draftOf({ match: 'all', conditions: [condition] })
  const equals = draft.conditions.map((each) =>
    each.kind === 'property' ? { ...each, operator: 'equals' as const } : each,
  )
  expect(filterOf({ ...draft, conditions: equals }, new Map()).conditions).toEqual([
    { property: 'jobtitle', operator: 'equals', value: 'x' },
  ])
})
