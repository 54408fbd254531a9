import type { QueryClient } from '@tanstack/react-query'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { GetOverviewResult } from '../api/types.ts'
import { type RangeSearch, resolveRange } from '../ui/range.ts'

export type Overview = GetOverviewResult

/** How many people the live feed shows. */
export const FEED_LENGTH = 12
/** The events that they are found in: enough, if each of them does several things. */
export const FEED_EVENTS = 60

const STEP_MS = 5 * 60_000
/** Events that are counted in no time. */
const FEW = 1_000

/**
 * The range to request. A range that includes today ends now instead of tonight, so that the same part of a day is
 * compared. Now is rounded to five minutes, so that recent responses can be reused.
 */
export function overviewRange(search: RangeSearch, now = new Date()): { from: string; to: string } {
  const { from, to } = resolveRange(search, now)
  if (to !== now.toISOString().slice(0, 10)) return { from, to }
  return { from, to: new Date(Math.ceil(now.getTime() / STEP_MS) * STEP_MS).toISOString() }
}

/** The figures of a range of days and of the range of the same length before it. */
export const overviewQuery = (range: { from: string; to: string }) =>
  queryOptions({
    ...queryOf('getOverview', range),
    placeholderData: keepPreviousData,
    // Keeps the figures in step with the live feed beside them. Few events are counted at once, and missed at once.
    refetchInterval: ({ state }) => (state.data && state.data.events < FEW ? 5_000 : 60_000),
  })

/** Forgets what was read while nothing had happened, so that the first event appears at once. */
export function forgetActivity(queryClient: QueryClient): void {
  for (const kind of ['overview', 'events', 'timeline', 'visits']) queryClient.removeQueries({ queryKey: [kind] })
}
