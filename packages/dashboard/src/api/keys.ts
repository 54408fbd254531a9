import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Key } from '../../../server/src/dashboard/key-routes.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type { Key }

export interface NewKey {
  name: string
  scopes: string[]
  expires_at?: string
}

export const keysQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['keys', 'list', page, limit],
    queryFn: ({ signal }) =>
      get<{ keys: Key[]; pagination: Type.Static<typeof Pagination> }>('/api/keys', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** What a key may be allowed to do. */
export const scopesQuery = queryOptions({
  queryKey: ['scopes'],
  queryFn: ({ signal }) => get<{ scopes: string[] }>('/api/scopes', {}, signal),
  select: ({ scopes }) => scopes,
  staleTime: Number.POSITIVE_INFINITY,
})

/** @returns the key itself, which the service never shows again. */
export function createKey(key: NewKey) {
  return send<{ key_id: string; api_key: string }>('POST', '/api/keys', key)
}

export function revokeKey(keyId: string) {
  return send('DELETE', `/api/keys/${encodeURIComponent(keyId)}`)
}

export function refreshKeys(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['keys'] })
}
