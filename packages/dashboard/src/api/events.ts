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

/** The latest events of the tenant. */
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

/** Whose events a timeline shows. */
export type TimelineSubject = { contactId: string } | { companyId: string }

/**
 * The events of a contact, or of the contacts of a company, newest first, one page at a time. The range ends when the
 * first page is read, so that new events do not shift events between pages.
 */
export const timelineQuery = (subject: TimelineSubject, eventType?: string) =>
  infiniteQueryOptions({
    queryKey: ['events', 'timeline', subject, eventType ?? null],
    queryFn: async ({ pageParam: { page, until }, signal }) => {
      const query = { limit: TIMELINE_PAGE, page, date_before: until, event_type: eventType }
      const answer = await ('companyId' in subject
        ? get<EventPage>(`/v1/companies/${encodeURIComponent(subject.companyId)}/events`, query, signal)
        : get<EventPage>('/v1/events', { ...query, contact_id: subject.contactId, include: 'system' }, signal))
      return { ...answer, until }
    },
    initialPageParam: { page: 1, until: undefined as string | undefined },
    getNextPageParam: ({ pagination: { page, total_pages }, until, events }) =>
      page < total_pages ? { page: page + 1, until: until ?? events[0]?.timestamp } : undefined,
  })
