import { queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'

export const tenantQuery = queryOptions({
  queryKey: ['tenant'],
  queryFn: ({ signal }) => call('getTenant', {}, signal),
  select: ({ tenant }) => tenant,
})
