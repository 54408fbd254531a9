import { infiniteQueryOptions } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { keyOf } from '../api/operation.ts'
import type { Pagination } from '../api/types.ts'

const PAGE_LENGTH = 40

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
    queryKey: keyOf('getTimeline', subject),
    queryFn: async ({ pageParam: { page, until }, signal }) => {
      const query = { ...whoseEvents(subject), limit: PAGE_LENGTH, page, date_before: until }
      const response = await call('getTimeline', query, signal)
      return { ...response, until }
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ pagination, until, items: [first] }) =>
      pageAfter(pagination, until ?? (first?.kind === 'visit' ? first.visit.started_at : first?.event.timestamp)),
  })

/** The same events one by one, newest first. Its key begins as that of the timeline, so that both are read again together. */
export const timelineEventsQuery = (subject: TimelineSubject, eventType?: string) =>
  infiniteQueryOptions({
    queryKey: [...keyOf('getTimeline', subject), 'events', eventType ?? null],
    queryFn: async ({ pageParam: { page, until }, signal }) => {
      const query = { ...whoseEvents(subject), limit: PAGE_LENGTH, page, date_before: until, event_type: eventType }
      return { ...(await call('listEvents', query, signal)), until }
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ pagination, until, events: [first] }) => pageAfter(pagination, until ?? first?.timestamp),
  })
