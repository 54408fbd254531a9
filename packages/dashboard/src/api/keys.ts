import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { ApiKey, CreateApiKeyInput } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { ApiKey }

/** Rows per page. */
export const KEYS_LENGTH = 50

export const keysQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['keys', 'list', page, limit],
    queryFn: ({ signal }) => call('listApiKeys', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** The scopes that a key can have. */
export const scopesQuery = queryOptions({
  queryKey: ['scopes'],
  queryFn: ({ signal }) => call('listScopes', {}, signal),
  select: ({ scopes }) => scopes,
  staleTime: Number.POSITIVE_INFINITY,
})

/** The tools that a key or an application can use over MCP. */
export const toolsQuery = queryOptions({
  queryKey: ['tools'],
  queryFn: ({ signal }) => call('listTools', {}, signal),
  select: ({ tools }) => tools,
  staleTime: Number.POSITIVE_INFINITY,
})

/** @returns the key itself, which the service never shows again. */
export function createApiKey(key: CreateApiKeyInput) {
  return call('createApiKey', key)
}

export function chooseKeyTools(key_id: string, tools: string[]) {
  return call('updateApiKey', { key_id, tools })
}

export function revokeApiKey(key_id: string) {
  return call('revokeApiKey', { key_id })
}

export function refreshKeys(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['keys'] })
}
