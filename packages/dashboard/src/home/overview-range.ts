import { type RangeSearch, resolveRange } from '../ui/range.ts'

/** How many events the live feed shows. */
export const FEED_LENGTH = 12

const STEP_MS = 5 * 60_000

/**
 * The range to ask for. One that ends today ends now, not tonight: else half a day would be compared with a whole one.
 * Now is counted in steps of five minutes, so that what was fetched a moment ago is still the answer.
 */
export function overviewRange(search: RangeSearch, now = new Date()): { from: string; to: string } {
  const { from, to } = resolveRange(search, now)
  if (to !== now.toISOString().slice(0, 10)) return { from, to }
  return { from, to: new Date(Math.ceil(now.getTime() / STEP_MS) * STEP_MS).toISOString() }
}
