import { queryOptions } from '@tanstack/react-query'
import type { Limits } from '../../../server/src/access/settings-operations.ts'
import { get } from './client.ts'

export const limitsQuery = queryOptions({
  queryKey: ['limits'],
  queryFn: ({ signal }) => get<Limits>('/v1/limits', {}, signal),
})
