import { queryOptions } from '@tanstack/react-query'
import type { GetTrackerResult } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type Tracker = GetTrackerResult

/** The snippet for a site's pages, and the first and last event that were received. */
export const trackerQuery = queryOptions({
  queryKey: ['tracker'],
  queryFn: ({ signal }) => call('getTracker', {}, signal),
})
