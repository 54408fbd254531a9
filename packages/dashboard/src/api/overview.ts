import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../../server/src/overview/overview-schema.ts'
import { get } from './client.ts'

export type { Overview }

/** The figures of a range of days and of the range of the same length before it. */
export const overviewQuery = (range: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => get<Overview>('/v1/overview', range, signal),
    placeholderData: keepPreviousData,
    // Keeps the figures in step with the live feed beside them.
    refetchInterval: 60_000,
  })
