import { queryOptions } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { keyOf } from '../api/operation.ts'
import type { Entity, Segment } from '../api/types.ts'

/** The segments of contacts, or those of companies. */
export function segmentsOf(segments: ReadonlyMap<string, Segment> | undefined, entity: Entity): Segment[] {
  return [...(segments?.values() ?? [])].filter((segment) => segment.entity === entity)
}

const SEGMENTS_A_PAGE = 100

/** Every segment by its id, for choices and labels: at most five pages of them, usually one. */
export const allSegmentsQuery = queryOptions({
  queryKey: keyOf('listSegments', { page: 'all' }),
  queryFn: async ({ signal }) => {
    const read = (page: number) => call('listSegments', { page, limit: SEGMENTS_A_PAGE }, signal)
    const first = await read(1)
    const others = Array.from({ length: first.pagination.total_pages - 1 }, (_, index) => read(index + 2))
    const pages = [first, ...(await Promise.all(others))]
    // A segment created meanwhile can shift the last one to the next page, where it appears again.
    return new Map(pages.flatMap(({ segments }) => segments).map((segment) => [segment.segment_id, segment]))
  },
})
