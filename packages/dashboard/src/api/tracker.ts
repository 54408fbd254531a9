import { queryOptions } from '@tanstack/react-query'
import { get } from './client.ts'

export interface SeenEvent {
  timestamp: string
  url: string | null
}

/** The snippet for a site's pages, and the first and last event that were received. */
interface Tracker {
  snippet: string
  script_url: string
  collect_url: string
  first_event: SeenEvent | null
  last_event: SeenEvent | null
}

export const trackerQuery = queryOptions({
  queryKey: ['tracker'],
  queryFn: ({ signal }) => get<Tracker>('/v1/tracker', {}, signal),
})
