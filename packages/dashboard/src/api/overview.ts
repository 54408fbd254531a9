import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../../server/src/overview/overview-schema.ts'
import { get } from './client.ts'

export type { Overview }

/** What happened in a range of days, and in the range of the same length before it. */
export const overviewQuery = (range: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => get<Overview>('/v1/overview', range, signal),
    placeholderData: keepPreviousData,
    // The figures follow the live feed beside them, if a little later.
    refetchInterval: 60_000,
  })
