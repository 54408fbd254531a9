import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { GetOverviewResult } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type Overview = GetOverviewResult

/** Events that are counted in no time. */
const FEW = 1_000

/** The figures of a range of days and of the range of the same length before it. */
export const overviewQuery = (range: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => call('getOverview', range, signal),
    placeholderData: keepPreviousData,
    // Keeps the figures in step with the live feed beside them. Few events are counted at once, and missed at once.
    refetchInterval: ({ state }) => (state.data && state.data.events < FEW ? 5_000 : 60_000),
  })

/** Forgets what was read while nothing had happened, so that the first event appears at once. */
export function forgetActivity(queryClient: QueryClient): void {
  queryClient.removeQueries({ queryKey: ['overview'] })
  queryClient.removeQueries({ queryKey: ['events'] })
}
