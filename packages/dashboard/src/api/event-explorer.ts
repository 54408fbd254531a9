import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { AggregateResult, AggregationOfEvents, ListEventsInput } from '../../../client/src/generated/types.gen.ts'
import { call, urlOf } from './client.ts'
import { readEvents } from './events.ts'

export type { ListEventsInput }
/** For other records, the response has no number of groups. */
export type EventGroups = AggregateResult & { distinct_groups: number }

/** One page of the events that match; the filters are those of GET /v1/events. */
export const eventsQuery = (filters: ListEventsInput) =>
  queryOptions({
    queryKey: ['events', 'list', filters],
    queryFn: ({ signal }) => readEvents(filters, signal),
    placeholderData: keepPreviousData,
  })

/** The URL of the whole list as CSV, with the visible columns. */
export function eventsCsv(filters: ListEventsInput, columns: readonly string[]): string {
  const { page: _page, limit: _limit, ...rest } = filters
  return urlOf('exportEvents', { ...rest, columns: columns.join(',') })
}

export const eventQuery = (event_id: string) =>
  queryOptions({
    queryKey: ['events', event_id],
    queryFn: ({ signal }) => call('getEvent', { event_id }, signal),
    select: ({ event }) => event,
  })

/** Events counted or measured by a dimension. */
export const eventGroupsQuery = (request: Omit<AggregationOfEvents, 'entity'>) =>
  queryOptions({
    queryKey: ['events', 'groups', request],
    // A POST that only reads, so the query client may retry it.
    queryFn: ({ signal }) => call('aggregate', { entity: 'events', ...request }, signal) as Promise<EventGroups>,
    placeholderData: keepPreviousData,
  })
