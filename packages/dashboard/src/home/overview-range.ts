import { type RangeSearch, resolveRange } from '../ui/range.ts'

/** How many events the live feed shows. */
export const FEED_LENGTH = 12

const STEP_MS = 5 * 60_000

/**
 * The range to request. A range that includes today ends now instead of tonight, so that the same part of a day is
 * compared. Now is rounded to five minutes, so that recent responses can be reused.
 */
export function overviewRange(search: RangeSearch, now = new Date()): { from: string; to: string } {
  const { from, to } = resolveRange(search, now)
  if (to !== now.toISOString().slice(0, 10)) return { from, to }
  return { from, to: new Date(Math.ceil(now.getTime() / STEP_MS) * STEP_MS).toISOString() }
}
