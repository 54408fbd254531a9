import { queryOptions } from '@tanstack/react-query'
import type { Tracker } from '../../../server/src/access/settings-operations.ts'
import { get } from './client.ts'

export type { Tracker }
export type SeenEvent = NonNullable<Tracker['first_event']>

/** The snippet for a site's pages, and the first and last event that were received. */
export const trackerQuery = queryOptions({
  queryKey: ['tracker'],
  queryFn: ({ signal }) => get<Tracker>('/v1/tracker', {}, signal),
})
