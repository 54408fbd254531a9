import { queryOptions } from '@tanstack/react-query'
import type { Limits } from '../../../server/src/dashboard/limit-routes.ts'
import { get } from './client.ts'

export const limitsQuery = queryOptions({
  queryKey: ['limits'],
  queryFn: ({ signal }) => get<Limits>('/api/limits', {}, signal),
})
