import type { Followed } from '../insights/kinds.ts'
import { COMPARED_BEFORE, type Condition, comparedIndexes, type Point } from './rule.ts'

/**
 * The numbers of the newest intervals, and what each is compared with.
 * @param choose the keys of the intervals that are wanted, of all there are, which end with the newest
 */
export async function readPoints(
  followed: Followed,
  condition: Condition,
  { count, isRunning, choose }: { count: number; isRunning: boolean; choose: (keys: readonly string[]) => string[] },
): Promise<Point[]> {
  const isCompared = condition.operator === 'changed_by'
  const before = isCompared ? COMPARED_BEFORE[followed.unit] : 0
  const spans = followed.spans(count + before, { includesRunning: isRunning })
  const keys = spans.map(({ key }) => key)
  const compared = isCompared ? comparedIndexes(followed.unit, keys) : []
  const earlier = new Map(keys.map((key, index) => [key, keys[compared[index] ?? -1]]))
  const wanted = choose(keys.slice(-count))
  const needed = new Set([...wanted, ...wanted.flatMap((key) => earlier.get(key) ?? [])])
  const asked = spans.filter(({ key }) => needed.has(key))
  const numbers = await followed.numbersIn(asked)
  const byKey = new Map(asked.map(({ key }, index) => [key, numbers[index] ?? null]))
  const numberOf = (key: string | undefined) => (key === undefined ? null : (byKey.get(key) ?? null))
  return wanted.map((interval) => ({
    interval,
    value: numberOf(interval),
    compared: numberOf(earlier.get(interval)),
  }))
}
