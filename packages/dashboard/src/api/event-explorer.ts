import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { EventWithContact, JoinedCompany, JoinedContact } from '../../../server/src/events/event-object.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, type Query, queryString, send } from './client.ts'

export type Event = EventWithContact

interface EventPage {
  events: Event[]
  pagination: Type.Static<typeof Pagination>
}

/** One page of the events that match; the filters are those of GET /v1/events. */
export const eventsQuery = (filters: Query) =>
  queryOptions({
    queryKey: ['events', 'list', filters],
    queryFn: ({ signal }) => get<EventPage>('/v1/events', filters, signal),
    placeholderData: keepPreviousData,
  })

/** The URL of the whole list as CSV, with the visible columns. */
export function eventsCsv(filters: Query, columns: readonly string[]): string {
  const { page: _page, limit: _limit, ...rest } = filters
  return `/v1/events/export.csv${queryString({ ...rest, columns })}`
}

export const eventQuery = (eventId: string) =>
  queryOptions({
    queryKey: ['events', eventId],
    queryFn: ({ signal }) => get<{ event: Event }>(`/v1/events/${encodeURIComponent(eventId)}`, {}, signal),
    select: ({ event }) => event,
  })

export interface EventGroups {
  buckets: {
    key: string | boolean | null
    value: number | null
    contact?: JoinedContact | null
    company?: JoinedCompany | null
  }[]
  total: number
  distinct_groups: number
}

/** Events counted or measured by a dimension: the events entity of POST /v1/aggregate. */
export const eventGroupsQuery = (request: { group_by: string; limit: number; filters: Record<string, unknown> }) =>
  queryOptions({
    queryKey: ['events', 'groups', request],
    // A POST that only reads, so the query client may retry it.
    queryFn: ({ signal }) => send<EventGroups>('POST', '/v1/aggregate', { entity: 'events', ...request }, signal),
    placeholderData: keepPreviousData,
  })
