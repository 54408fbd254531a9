import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Key as KeySchema } from '../../../server/src/access/key-operations.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type Key = Type.Static<typeof KeySchema>

export interface NewKey {
  name: string
  scopes: string[]
  expires_at?: string
  redact_personal_data?: boolean
}

/** Rows per page. */
export const KEYS_LENGTH = 50

export const keysQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['keys', 'list', page, limit],
    queryFn: ({ signal }) =>
      get<{ keys: Key[]; pagination: Type.Static<typeof Pagination> }>('/v1/api-keys', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** The scopes that a key can have. */
export const scopesQuery = queryOptions({
  queryKey: ['scopes'],
  queryFn: ({ signal }) => get<{ scopes: string[] }>('/v1/api-keys/scopes', {}, signal),
  select: ({ scopes }) => scopes,
  staleTime: Number.POSITIVE_INFINITY,
})

/** @returns the key itself, which the service never shows again. */
export function createKey(key: NewKey) {
  return send<{ key_id: string; api_key: string }>('POST', '/v1/api-keys', key)
}

export function revokeKey(keyId: string) {
  return send('DELETE', `/v1/api-keys/${encodeURIComponent(keyId)}`)
}

export function refreshKeys(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['keys'] })
}
