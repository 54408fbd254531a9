import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateSegmentInput,
  GetSegmentGrowthResult,
  Segment,
  SegmentFilter,
  UpdateSegmentInput,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { CreateSegmentInput, GetSegmentGrowthResult, Segment, SegmentFilter }
export type SegmentCondition = SegmentFilter['conditions'][number]
export type EventMatch = Extract<SegmentCondition, { event: object }>['event']
export type PropertyOperator = Extract<SegmentCondition, { property: string }>['operator']

const COUNTING_MS = 1_000

/** How often to poll while the service evaluates the filter. */
const whileCounting = (isCounting: boolean | undefined) => (isCounting ? COUNTING_MS : false)

const readSegments = (page: number, limit: number, signal: AbortSignal) => call('listSegments', { page, limit }, signal)

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

export const segmentQuery = (segment_id: string) =>
  queryOptions({
    queryKey: ['segments', 'one', segment_id],
    queryFn: ({ signal }) => call('getSegment', { segment_id }, signal),
    refetchInterval: ({ state }) => whileCounting(state.data?.segment.counting),
    select: ({ segment }) => segment,
  })

/** Rows per page. */
export const SEGMENT_MEMBERS_LENGTH = 20

export const segmentGrowthQuery = (segment_id: string, range: { from: string; to: string }) =>
  queryOptions({
    queryKey: ['segments', 'growth', segment_id, range],
    queryFn: ({ signal }) => call('getSegmentGrowth', { segment_id, ...range }, signal),
    refetchInterval: ({ state }) => whileCounting(state.data?.counting),
    placeholderData: keepPreviousData,
  })

/** The contacts that match a filter as it is edited. A newer request cancels the previous one. */
export const segmentPreviewQuery = (filter: SegmentFilter) =>
  queryOptions({
    queryKey: ['segments', 'preview', filter],
    queryFn: ({ signal }) => call('previewSegment', { filter }, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })

/** Existing values of a property, or of a field of an event (`event.type`). */
export const suggestionsQuery = (property: string, typed: string) =>
  queryOptions({
    queryKey: ['segments', 'suggestions', property, typed],
    queryFn: ({ signal }) => call('suggestSegmentValues', { property, q: typed }, signal),
    select: ({ values }) => values,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })

export function createSegment(definition: CreateSegmentInput) {
  return call('createSegment', definition)
}

export function updateSegment(segment_id: string, changes: Omit<UpdateSegmentInput, 'segment_id'>) {
  return call('updateSegment', { segment_id, ...changes })
}

export function refreshSegments(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['segments'] })
}
