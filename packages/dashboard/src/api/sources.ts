import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './client.ts'

export const sourcesQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['sources', 'list', page, limit],
    queryFn: ({ signal }) => call('listSources', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })
