import Type from 'typebox'
import { TEXT } from '../platform/personal.ts'

const KINDS_MAX = 20
const FIRST_ROWS_MAX = 10

/** A part of rows that was left out or kept as text, while the rest of them counts. */
export const RowWarning = Type.Object(
  {
    code: Type.Enum(['ignored_id', 'kept_as_text', 'consent_ignored', 'other_address']),
    message: Type.String(TEXT),
    rows: Type.Integer({ description: 'How many rows have it.' }),
    first_rows: Type.Array(Type.Integer(), { maxItems: FIRST_ROWS_MAX, description: '1 is the row below the header.' }),
  },
  { title: 'ImportWarning' },
)
export type RowWarning = Type.Static<typeof RowWarning>

/** A warning of one row. */
export type Warning = Pick<RowWarning, 'code' | 'message'>

/** Collects the warnings of rows by kind: at most 20 kinds, so that a file cannot have any number of them. */
export function createRowWarnings(): { add(row: number, warnings: readonly Warning[]): void; kinds: RowWarning[] } {
  const kinds: RowWarning[] = []
  return {
    kinds,
    add: (row, warnings) => {
      for (const { code, message } of warnings) {
        const known = kinds.find((kind) => kind.code === code && kind.message === message)
        // Beyond the limit, they count as the last kind with their code.
        const kind = known ?? (kinds.length < KINDS_MAX ? undefined : kinds.findLast((each) => each.code === code))
        if (kind === undefined) {
          if (kinds.length < KINDS_MAX) kinds.push({ code, message, rows: 1, first_rows: [row] })
          continue
        }
        kind.rows++
        if (kind.first_rows.length < FIRST_ROWS_MAX) kind.first_rows.push(row)
      }
    },
  }
}
