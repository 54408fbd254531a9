import { queryOptions } from '@tanstack/react-query'
import type { Visitor } from '../../../server/src/events/visitor.ts'
import { get } from './client.ts'

export type { Visitor }

export const visitorQuery = (visitorId: string) =>
  queryOptions({
    queryKey: ['visitors', visitorId],
    queryFn: ({ signal }) => get<{ visitor: Visitor }>(`/v1/visitors/${encodeURIComponent(visitorId)}`, {}, signal),
    select: ({ visitor }) => visitor,
  })
