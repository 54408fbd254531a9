import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { EnrichedEvent } from '../../../server/src/events/event-object.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get } from './client.ts'

export type CustomerEvent = Type.Static<typeof EnrichedEvent>

interface EventPage {
  events: CustomerEvent[]
  pagination: Type.Static<typeof Pagination>
}

const TIMELINE_PAGE = 40

/** The latest events of anybody. */
export const latestEventsQuery = (limit: number) =>
  queryOptions({
    queryKey: ['events', 'latest', limit],
    queryFn: ({ signal }) => get<EventPage>('/v1/events', { limit }, signal),
  })

/** The names of the events that the tenant has recorded. */
export const eventTypesQuery = queryOptions({
  queryKey: ['events', 'types'],
  queryFn: ({ signal }) => get<{ types: string[] }>('/v1/events/types', {}, signal),
})

/**
 * Everything that a contact did and that was done about it, a page at a time, the latest first. It ends at the moment of
 * the first page, so that an event that comes in meanwhile moves none from one page to the next.
 */
export const timelineQuery = (contactId: string, eventType: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['events', 'timeline', contactId, eventType ?? null],
    queryFn: ({ pageParam, signal }) => {
      const { page, until } = pageParam
      const event = eventType === undefined ? { include: 'system' } : { event_type: eventType }
      const query = { contact_id: contactId, limit: TIMELINE_PAGE, page, date_before: until, ...event }
      return get<EventPage>('/v1/events', query, signal).then((answer) => ({ ...answer, until }))
    },
    initialPageParam: { page: 1, until: undefined as string | undefined },
    getNextPageParam: ({ pagination: { page, total_pages }, until, events }) =>
      page < total_pages ? { page: page + 1, until: until ?? events[0]?.timestamp } : undefined,
  })
