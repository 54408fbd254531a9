import { queryOptions } from '@tanstack/react-query'
import type { Visitor } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Visitor }

export const visitorQuery = (visitor_id: string) =>
  queryOptions({
    queryKey: ['visitors', visitor_id],
    queryFn: ({ signal }) => call('getVisitor', { visitor_id }, signal),
    select: ({ visitor }) => visitor,
  })
