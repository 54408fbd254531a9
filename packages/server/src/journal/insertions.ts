import type { JournalRow, JournalTable } from './append.ts'

/** The rows of one insertion into ClickHouse. */
export interface Insertion {
  table: JournalTable
  /** A line of column names, then one row per line. */
  body: string
  token: string
}

/** Rows of a table form one insertion if their columns are the same; a row from an older version may have others. */
export function insertionsOf(batchId: string, rows: readonly JournalRow[]): Insertion[] {
  const namesOf = ({ rows: text }: JournalRow) => text.slice(0, text.indexOf('\n') + 1)
  const groups = Map.groupBy(rows, (row) => `${row.table} ${namesOf(row)}`)
  return [...groups.values()].flatMap((group, index) => {
    const [first] = group
    if (!first) return []
    const names = namesOf(first)
    const body = names + group.map((row) => withLineBreak(row.rows.slice(names.length))).join('')
    return [{ table: first.table, body, token: index === 0 ? batchId : `${batchId}/${index}` }]
  })
}

function withLineBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** Makes all insertions at once. @throws the first error, once none is under way any more. */
export async function insertAll(
  insertions: readonly Insertion[],
  insert: (insertion: Insertion) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.allSettled(insertions.map(insert))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
