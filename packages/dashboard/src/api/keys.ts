import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { CreateApiKeyInput } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export const keysQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['keys', 'list', page, limit],
    queryFn: ({ signal }) => call('listApiKeys', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** @returns the key itself, which the service never shows again. */
export function createApiKey(key: CreateApiKeyInput) {
  return call('createApiKey', key)
}

export function refreshKeys(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['keys'] })
}
