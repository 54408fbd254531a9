import Type from 'typebox'
import { expect, test } from 'vitest'
import { undeclaredFields } from './undeclared-fields.ts'

test('a field that a schema lacks is found at any depth', () => {
  const Known = Type.Object({ known: Type.String() })
  const other = { known: 'x', other: 'x' }
  const schema = Type.Object({
    list: Type.Array(Known),
    either: Type.Union([Known, Type.Null()]),
    both: Type.Intersect([Known, Type.Object({ more: Type.String() })]),
    any: Type.Unknown(),
    named: Type.Record(Type.String(), Type.String()),
    absent: Type.Optional(Known),
  })
  const declared = { list: [], either: null, both: { known: 'x', more: 'x' }, any: other, named: other }
  expect(undeclaredFields(schema, declared)).toEqual([])
  expect(
    undeclaredFields(schema, {
      ...declared,
      list: [other],
      either: other,
      both: { ...declared.both, other: 1 },
      top: 1,
    }),
  ).toEqual(['list[0].other', 'either.other', 'both.other', 'top'])
})

test('of the matching schemas, the one that declares every field counts', () => {
  const either = Type.Union([Type.Object({ a: Type.String() }), Type.Object({ a: Type.String(), b: Type.String() })])
  expect(undeclaredFields(either, { a: 'x', b: 'x' })).toEqual([])
})
