import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { SegmentMember as SegmentMemberSchema } from '../../../server/src/contacts/contact-object.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import type { SegmentFilter } from '../../../server/src/segments/filter.ts'
import type { SegmentDay } from '../../../server/src/segments/growth.ts'
import type { Segment as SegmentSchema } from '../../../server/src/segments/segment-object.ts'
import { get, send } from './client.ts'

export type { SegmentFilter }
export type Segment = Type.Static<typeof SegmentSchema>
export type SegmentMember = Type.Static<typeof SegmentMemberSchema>
type Page = { pagination: Type.Static<typeof Pagination> }

const COUNTING_MS = 1_000

/** How often to poll while the service evaluates the filter. */
const whileCounting = (isCounting: boolean | undefined) => (isCounting ? COUNTING_MS : false)

const readSegments = (page: number, limit: number, signal: AbortSignal) =>
  get<{ segments: Segment[] } & Page>('/v1/segments', { page, limit }, signal)

/** Rows per page. */
export const SEGMENTS_LENGTH = 50

export const segmentsQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['segments', 'list', page, limit],
    queryFn: ({ signal }) => readSegments(page, limit, signal),
    refetchInterval: ({ state }) => whileCounting(state.data?.segments.some(({ counting }) => counting)),
    placeholderData: keepPreviousData,
  })

const SEGMENTS_A_PAGE = 100

/** Every segment, for choices and labels: at most five pages of them, usually one. */
export const allSegmentsQuery = queryOptions({
  queryKey: ['segments', 'all'],
  queryFn: async ({ signal }) => {
    const first = await readSegments(1, SEGMENTS_A_PAGE, signal)
    const others = Array.from({ length: first.pagination.total_pages - 1 }, (_, index) =>
      readSegments(index + 2, SEGMENTS_A_PAGE, signal),
    )
    const pages = [first, ...(await Promise.all(others))]
    // A segment created meanwhile can shift the last one to the next page, where it appears again.
    return new Map(pages.flatMap(({ segments }) => segments).map((segment) => [segment.segment_id, segment]))
  },
})

export const segmentQuery = (segmentId: string) =>
  queryOptions({
    queryKey: ['segments', 'one', segmentId],
    queryFn: ({ signal }) => get<{ segment: Segment }>(`/v1/segments/${encodeURIComponent(segmentId)}`, {}, signal),
    refetchInterval: ({ state }) => whileCounting(state.data?.segment.counting),
    select: ({ segment }) => segment,
  })

/** Rows per page. */
export const SEGMENT_MEMBERS_LENGTH = 20

export const segmentMembersQuery = (segmentId: string, page: number, limit: number) =>
  queryOptions({
    queryKey: ['segments', 'members', segmentId, page, limit],
    queryFn: ({ signal }) =>
      get<{ contacts: SegmentMember[]; counting: boolean } & Page>(
        `/v1/segments/${encodeURIComponent(segmentId)}/contacts`,
        { page, limit },
        signal,
      ),
    placeholderData: keepPreviousData,
  })

export interface SegmentGrowth {
  counting: boolean
  /** When the segment was created. */
  since: string
  by_day: SegmentDay[]
}

export const segmentGrowthQuery = (segmentId: string, range: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['segments', 'growth', segmentId, range],
    queryFn: ({ signal }) => get<SegmentGrowth>(`/v1/segments/${encodeURIComponent(segmentId)}/growth`, range, signal),
    refetchInterval: ({ state }) => whileCounting(state.data?.counting),
    placeholderData: keepPreviousData,
  })

/** The contacts that match a filter as it is edited. A newer request cancels the previous one. */
export const segmentPreviewQuery = (filter: SegmentFilter) =>
  queryOptions({
    queryKey: ['segments', 'preview', filter],
    queryFn: ({ signal }) =>
      send<{ count: number; sample: SegmentMember[]; took_ms: number }>(
        'POST',
        '/v1/segments/preview',
        { filter },
        signal,
      ),
    placeholderData: keepPreviousData,
    retry: false,
  })

/** Existing values of a property, or of a field of an event (`event.type`). */
export const suggestionsQuery = (property: string, typed: string) =>
  queryOptions({
    queryKey: ['segments', 'suggestions', property, typed],
    queryFn: ({ signal }) =>
      get<{ values: { value: string | number | boolean; label: string | null; count: number }[] }>(
        '/v1/segments/suggestions',
        { property, q: typed },
        signal,
      ),
    select: ({ values }) => values,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })

export interface SegmentDefinition {
  name: string
  description: string | null
  filter: SegmentFilter
}

export function createSegment(definition: SegmentDefinition) {
  return send<{ segment: Segment }>('POST', '/v1/segments', definition)
}

export function updateSegment(segmentId: string, changes: Partial<SegmentDefinition>) {
  return send<{ segment: Segment }>('PATCH', `/v1/segments/${encodeURIComponent(segmentId)}`, changes)
}

export function deleteSegment(segmentId: string) {
  return send('DELETE', `/v1/segments/${encodeURIComponent(segmentId)}`)
}

export function refreshSegments(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['segments'] })
}
