/** The most rows of a contact per group: the transaction must stay short and fit into memory. */
const ROWS_PER_GROUP = 5_000
const CHARACTERS_PER_GROUP = 4_000_000

/** Rows that may belong to one contact, written at the position of the first. */
export interface Group {
  /** The rows after the first, in order. */
  followers: readonly number[]
  characters: number
  /** For a contact with several groups: their shared key, because they must be written in order. */
  contact: number | null
}

/** Groups rows that share a key, directly or through other rows (union-find). */
export function createGrouping() {
  const parents = new Map<number, number>()
  const lengths = new Map<number, number>()

  function rootOf(row: number): number {
    let root = row
    for (let parent = parents.get(root); parent !== undefined && parent !== root; parent = parents.get(root))
      root = parent
    // Path compression.
    for (let at = row; at !== root; ) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }

  return {
    join: (rows: readonly number[], characters: readonly number[]): void => {
      for (const [index, row] of rows.entries()) {
        if (!parents.has(row)) parents.set(row, row)
        lengths.set(row, characters[index] ?? 0)
        const [one, other] = [rootOf(rows[0] ?? row), rootOf(row)]
        // The earliest row is the root.
        parents.set(Math.max(one, other), Math.min(one, other))
      }
    },
    /** @returns the groups by their first rows, and all later rows of groups. */
    groups: (): { byFirstRow: Map<number, Group>; followers: Set<number> } => {
      const byFirstRow = new Map<number, Group>()
      const followers = new Set<number>()
      const members = Map.groupBy(
        [...parents.keys()].sort((a, b) => a - b),
        rootOf,
      )
      for (const [root, rows] of members) {
        const parts = partsOf(rows, lengths)
        for (const { first, rest, characters } of parts) {
          for (const row of rest) followers.add(row)
          byFirstRow.set(first, { followers: rest, characters, contact: parts.length > 1 ? root : null })
        }
      }
      return { byFirstRow, followers }
    },
  }
}

function partsOf(rows: readonly number[], lengths: ReadonlyMap<number, number>) {
  const parts: { first: number; rest: number[]; characters: number }[] = []
  for (const row of rows) {
    const length = lengths.get(row) ?? 0
    const part = parts.at(-1)
    const isFull = !part || part.rest.length + 1 >= ROWS_PER_GROUP || part.characters + length > CHARACTERS_PER_GROUP
    if (isFull) parts.push({ first: row, rest: [], characters: 0 })
    else {
      part.rest.push(row)
      part.characters += length
    }
  }
  return parts
}
