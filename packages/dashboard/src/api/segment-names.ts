import { queryOptions } from '@tanstack/react-query'
import { get } from './client.ts'

/** The names of the tenant's segments, to show which of them a contact belongs to. */
export const segmentNamesQuery = queryOptions({
  queryKey: ['segments', 'names'],
  queryFn: ({ signal }) =>
    get<{ segments: { segment_id: string; name: string }[] }>('/v1/segments', { limit: 100 }, signal),
  select: ({ segments }) => new Map(segments.map(({ segment_id, name }) => [segment_id, name])),
})
