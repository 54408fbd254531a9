/** Names that differ in more than a third of their characters are other names. */
const PART_CHANGED_MAX = 1 / 3

/**
 * The known name that somebody probably meant by another one: the one that differs in the fewest characters, whatever its case,
 * spaces, hyphens and underscores. null if all are too different.
 */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const sought = plain(name)
  let nearest: string | null = null
  let fewest = Math.floor(sought.length * PART_CHANGED_MAX) + 1
  for (const each of known) {
    const changes = changesBetween(sought, plain(each), fewest)
    if (changes < fewest) {
      fewest = changes
      nearest = each
    }
  }
  return nearest
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '')
}

/**
 * How many characters must be added, removed, replaced or swapped with the next one to make one text from another; `limit`
 * if it is that many or more.
 */
function changesBetween(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          (last[column] ?? limit) + 1,
          (current[column - 1] ?? limit) + 1,
          (last[column - 1] ?? limit) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[column - 2] ?? limit) + 1 : limit,
        ),
      )
    }
    if (Math.min(...current) >= limit) return limit
    beforeLast = last
    last = current
  }
  return Math.min(limit, last.at(-1) ?? limit)
}
