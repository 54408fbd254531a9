import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { get } from './client.ts'

interface Counts {
  visitors: number
  identified_contacts: number
  events: number
  contacts_created: number
  by_day: { date: string; events: number; visitors: number }[]
}

/** What happened in a range of days, and in as many days before it. */
export interface Overview extends Counts {
  top_pages: { url_path: string | null; views: number; visitors: number }[]
  sources: { source: string | null; visitors: number }[]
  previous: Counts
  waiting_for_approval: number
}

export const overviewQuery = (range: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => get<Overview>('/api/overview', range, signal),
    placeholderData: keepPreviousData,
  })
