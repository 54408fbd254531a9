import type { Group } from './groups.ts'
import type { Part, Row, Staging } from './staging.ts'

/** Rows per transaction: enough to amortize its statements, few enough to keep locks short. */
export const ROWS_PER_CHUNK = 2_000
/** Limits chunks of long rows, so that memory use stays constant. */
export const CHARACTERS_PER_CHUNK = 4_000_000

/** Rows written in one transaction, in order; all rows of a contact are in the same one. */
export interface Chunk {
  rows: Row[]
  /** Contacts with rows in other chunks too. */
  contacts: ReadonlySet<number>
}

/** Reads the staged rows, each group at the position of its first row. */
export async function* chunksOf(
  staging: Staging,
  parts: readonly Part[],
  { byFirstRow, followers }: { byFirstRow: ReadonlyMap<number, Group>; followers: ReadonlySet<number> },
): AsyncGenerator<Chunk> {
  let rows: Row[] = []
  let groups: Group[] = []
  let count = 0
  let characters = 0
  for (const part of parts) {
    for (const row of await staging.part(part)) {
      if (followers.has(row.row)) continue
      rows.push(row)
      const group = byFirstRow.get(row.row)
      if (group) groups.push(group)
      count += 1 + (group?.followers.length ?? 0)
      characters += row.characters + (group?.characters ?? 0)
      if (count < ROWS_PER_CHUNK && characters < CHARACTERS_PER_CHUNK) continue
      yield await chunkOf(staging, rows, groups)
      rows = []
      groups = []
      count = 0
      characters = 0
    }
  }
  if (rows.length > 0) yield await chunkOf(staging, rows, groups)
}

async function chunkOf(staging: Staging, rows: Row[], groups: readonly Group[]): Promise<Chunk> {
  const more = await staging.rows(groups.flatMap(({ followers }) => followers))
  const all = more.length === 0 ? rows : [...rows, ...more].sort((a, b) => a.row - b.row)
  return { rows: all, contacts: new Set(groups.flatMap(({ contact }) => contact ?? [])) }
}
