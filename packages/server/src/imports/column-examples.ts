import Type from 'typebox'
import { valueNamedBy, WORD } from '../platform/personal.ts'
import { contentOf } from './cells.ts'
import { type Column, propertiesOfCell } from './columns.ts'

/** What becomes of one value of a column. */
export const ColumnExample = Type.Object(
  {
    before: Type.String(valueNamedBy('header')),
    after: Type.Array(Type.Object({ property: Type.String(WORD), value: Type.String(valueNamedBy('property')) }), {
      description: 'The properties that are stored; empty if the value does not fit, so that its row fails.',
    }),
  },
  { title: 'ImportColumnExample' },
)
export type ColumnExample = Type.Static<typeof ColumnExample>

/** The first of a column's values that is stored in another way than it is written, or does not fit; null if none is. */
export function exampleOf(column: Column, samples: readonly string[]): ColumnExample | null {
  for (const before of samples) {
    const cell = contentOf(before)
    const properties = cell === '' ? {} : propertiesOfCell(column, cell)
    if (properties === null) return { before, after: [] }
    const after = Object.entries(properties).map(([property, value]) => ({
      property,
      value: Array.isArray(value) ? value.join(' · ') : String(value),
    }))
    const isList = Object.values(properties).some(Array.isArray)
    if (column.target === 'full_name' || isList || after.some(({ value }) => value !== before)) return { before, after }
  }
  return null
}
