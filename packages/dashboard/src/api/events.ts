import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  Event,
  GetTimelineResult,
  ListEventsInput,
  ListVisitsInput,
  Pagination,
  Visit,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Event, ListVisitsInput, Visit }
export type TimelineItem = GetTimelineResult['items'][number]

/** The response unless a summary or only a count is asked for. */
interface EventPage {
  events: Event[]
  pagination: Pagination
}

export function readEvents(query: ListEventsInput, signal: AbortSignal) {
  return call('listEvents', query, signal) as Promise<EventPage>
}

const TIMELINE_PAGE = 40

/** The latest events of the tenant. */
export const latestEventsQuery = (limit: number) =>
  queryOptions({
    queryKey: ['events', 'latest', limit],
    queryFn: ({ signal }) => readEvents({ limit }, signal),
  })

/** The names of the events that the tenant has recorded. */
export const eventTypesQuery = queryOptions({
  queryKey: ['events', 'types'],
  queryFn: ({ signal }) => call('listEventTypes', {}, signal),
})

/** Whose events a timeline shows. */
export type TimelineSubject = { contactId: string } | { companyId: string } | { visitorId: string }

interface From {
  page: number
  /** The range ends when the first page is read, so that new events do not shift entries between pages. */
  until: string | undefined
}

const FIRST: From = { page: 1, until: undefined }

const whoseEvents = (subject: TimelineSubject) =>
  'companyId' in subject
    ? { company_id: subject.companyId }
    : 'visitorId' in subject
      ? { visitor_id: subject.visitorId }
      : { contact_id: subject.contactId, include: 'system' }

function pageAfter({ page, total_pages }: Pagination, until: string | undefined): From | undefined {
  return page < total_pages ? { page: page + 1, until } : undefined
}

/** The visits of a contact, or of the contacts of a company, and their events outside visits, newest first. */
export const timelineQuery = (subject: TimelineSubject) =>
  infiniteQueryOptions({
    queryKey: ['events', 'timeline', subject],
    queryFn: async ({ pageParam: { page, until }, signal }) => {
      const query = { ...whoseEvents(subject), limit: TIMELINE_PAGE, page, date_before: until }
      const response = await call('getTimeline', query, signal)
      return { ...response, until }
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ pagination, until, items: [first] }) =>
      pageAfter(pagination, until ?? (first?.kind === 'visit' ? first.visit.started_at : first?.event.timestamp)),
  })

/** The same events one by one, newest first. */
export const timelineEventsQuery = (subject: TimelineSubject, eventType?: string) =>
  infiniteQueryOptions({
    queryKey: ['events', 'timeline', subject, 'events', eventType ?? null],
    queryFn: async ({ pageParam: { page, until }, signal }) => {
      const query = { ...whoseEvents(subject), limit: TIMELINE_PAGE, page, date_before: until, event_type: eventType }
      return { ...(await readEvents(query, signal)), until }
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ pagination, until, events: [first] }) => pageAfter(pagination, until ?? first?.timestamp),
  })

/** One page of the visits that match. */
export const visitsQuery = (filters: ListVisitsInput) =>
  queryOptions({
    queryKey: ['events', 'visits', filters],
    queryFn: ({ signal }) => call('listVisits', filters, signal),
    placeholderData: keepPreviousData,
  })

/** The events of a visit, in the order in which they happened. */
export const visitEventsQuery = ({ visitor_id, session_id, started_at, ended_at, internal_contact_id }: Visit) =>
  infiniteQueryOptions({
    queryKey: ['events', 'visit', visitor_id, session_id, ended_at, internal_contact_id],
    queryFn: ({ pageParam: page, signal }) => {
      const dates = { date_after: started_at, date_before: ended_at, sort_dir: 'asc' as const }
      const query = { session_id, ...(visitor_id === null ? {} : { visitor_id }), ...dates, limit: 100, page }
      return readEvents(query, signal)
    },
    initialPageParam: 1,
    getNextPageParam: ({ pagination: { page, total_pages } }) => (page < total_pages ? page + 1 : undefined),
  })

const ACTION_EVENTS = ['agent_action_proposed', 'agent_action_executed', 'agent_action_failed']
const ACTION_EVENTS_MAX = 50

/** The events of agents' actions for a contact, newest first. */
export const contactActionsQuery = (contactId: string) =>
  queryOptions({
    queryKey: ['events', 'timeline', contactId, 'agent-actions'],
    queryFn: async ({ signal }) => {
      const responses = await Promise.all(
        ACTION_EVENTS.map((event_type) =>
          readEvents({ contact_id: contactId, event_type, limit: ACTION_EVENTS_MAX }, signal),
        ),
      )
      return responses.flatMap(({ events }) => events).sort((a, b) => b.timestamp.localeCompare(a.timestamp))
    },
  })
