import { expect, test } from 'vitest'
import type { HookMapping } from '../src/api/types.ts'
import { type Draft, draftOf, toMapping } from '../src/hooks/mapping-draft.ts'
import { pathsOfText, textOfValues, valuesOfText } from '../src/hooks/mapping-text.ts'

/** A mapping of which every value is easily taken for another. */
const MAPPING: HookMapping = {
  only_when: [
    { path: 'status', equals: ['Paid, shipped', 'a "quoted" one', '"all"', ' padded ', '', 'two\nlines'] },
    { path: 'count', equals: ['5', 5, 'true', true, -0.5, 1e21, '1e+21', '007', 'NaN', '1184467440737095517'] },
  ],
  event: {
    name: { path: ['a|b', 'x["c|d"].e', '$.f|g.h'] },
    id: { path: ['only'], starts_with: 'evt_' },
    data: { blank: { value: ' ' }, number: { value: 5 }, bars: { value: 'a | b' } },
  },
  contact: { email: { path: 'mail' } },
}

/** A draft in which the texts of some rows and conditions are replaced. */
function edited(draft: Draft, texts: Record<string, string>): Draft {
  return {
    rows: draft.rows.map((row) => ({ ...row, text: texts[row.name ?? row.key] ?? row.text })),
    conditions: draft.conditions.map((each) => ({ ...each, values: texts[each.path] ?? each.values })),
  }
}

test('saving a mapping keeps every value of the rows that were not edited', () => {
  expect(toMapping(draftOf(MAPPING))).toEqual(MAPPING)
  expect(toMapping(edited(draftOf(MAPPING), { email: 'customer.email' }))).toEqual({
    ...MAPPING,
    contact: { email: { path: 'customer.email' } },
  })
})

test('a condition with one more value keeps the others, and one in quotes may have a comma', () => {
  const draft = draftOf(MAPPING)
  const [status] = draft.conditions
  const { only_when } = toMapping(edited(draft, { status: `${status?.values}, refunded, "Sent, lost"` }))
  const [before, count] = MAPPING.only_when ?? []
  expect(only_when).toEqual([{ path: 'status', equals: [...(before?.equals ?? []), 'refunded', 'Sent, lost'] }, count])
})

test('a row with one more path keeps the others, whose names may have a bar', () => {
  const draft = draftOf(MAPPING)
  const shown = draft.rows.find(({ name }) => name === 'name')?.text
  expect(shown).toBe('["a|b"] | x["c|d"].e | $["f|g"].h')
  const { event } = toMapping(edited(draft, { name: `${shown} | last|` }))
  expect(event?.name).toEqual({ path: ['["a|b"]', 'x["c|d"].e', '$["f|g"].h', 'last'] })
  expect(pathsOfText('a["un|closed')).toEqual(['a["un', 'closed'])
})

test.each([
  ['paid,refunded', ['paid', 'refunded']],
  [' paid , , 5 , true,', ['paid', 5, true]],
  ['"5", "paid, shipped" , x', ['5', 'paid, shipped', 'x']],
  ['"open, x', ['"open', 'x']],
  ['a "b, c", "d" e', ['a "b', 'c"', '"d" e']],
  ['"\\q", ""', ['"\\q"', '']],
  ['', []],
])('%s is read as its values', (line, values) => {
  expect(valuesOfText(line)).toEqual(values)
  expect(valuesOfText(textOfValues(values))).toEqual(values)
})
