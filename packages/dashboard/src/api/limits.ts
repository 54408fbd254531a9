import { queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'

export const limitsQuery = queryOptions({
  queryKey: ['limits'],
  queryFn: ({ signal }) => call('getLimits', {}, signal),
})
