/** A line of a text that changed, or of both texts. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  line: string
}

/** Beyond, the middle of two texts is shown as removed and added: comparing each line with each would take too long. */
const COMPARISONS_MAX = 1_000_000

/** The lines of two texts in order, with the longest common part as `same`. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start++
  let end = 0
  const most = Math.min(old.length, fresh.length) - start
  while (end < most && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++
  return [
    ...old.slice(0, start).map(same),
    ...diffMiddle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...old.slice(old.length - end).map(same),
  ]
}

function same(line: string): DiffLine {
  return { kind: 'same', line }
}

function diffMiddle(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const removed = old.map((line): DiffLine => ({ kind: 'removed', line }))
  const added = fresh.map((line): DiffLine => ({ kind: 'added', line }))
  if (old.length * fresh.length > COMPARISONS_MAX) return [...removed, ...added]
  // The length of the longest common part of what follows each pair of places.
  const width = fresh.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push(same(old[i] ?? ''))
      i++
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(...removed.slice(i, ++i))
    else lines.push(...added.slice(j, ++j))
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)]
}
