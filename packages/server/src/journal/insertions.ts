import { withSequence } from '../platform/clickhouse/sequence.ts'
import type { JournalRow, JournalTable } from './append.ts'

/** The rows of one insertion into ClickHouse. */
export interface Insertion {
  table: JournalTable
  /** A line of column names, then one row per line. */
  body: string
  token: string
}

export interface BatchInsertion extends Insertion {
  /** The journal rows that it stores. */
  journalIds: string[]
}

/**
 * Rows of a table form one insertion if their columns are the same; a row from an older version may have others. Each
 * keeps its token when the others are stored and no longer belong to the batch.
 */
export function insertionsOf(batchId: string, rows: readonly JournalRow[]): BatchInsertion[] {
  const namesOf = ({ rows: text }: JournalRow) => text.slice(0, text.indexOf('\n') + 1)
  const groups = Map.groupBy(rows, (row) => `${row.table} ${namesOf(row)}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const names = namesOf(first)
    const body = names + group.map((row) => withLineBreak(row.rows.slice(names.length))).join('')
    const journalIds = group.map(({ journalId }) => journalId)
    return [
      {
        table: first.table,
        body,
        token: withSequence(`${batchId}/${first.journalId}`, first.sequence ?? 0),
        journalIds,
      },
    ]
  })
}

function withLineBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/**
 * Runs all insertions at once, and waits for all of them.
 * @returns the journal rows that are stored, and the errors of the insertions that failed.
 */
export async function insertAll(
  insertions: readonly BatchInsertion[],
  insert: (insertion: Insertion) => Promise<void>,
): Promise<{ stored: string[]; errors: unknown[] }> {
  const outcomes = await Promise.allSettled(insertions.map(insert))
  return {
    stored: insertions.flatMap(({ journalIds }, index) => (outcomes[index]?.status === 'fulfilled' ? journalIds : [])),
    errors: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])),
  }
}
