import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import type { Source as SourceSchema } from '../../../server/src/sources/operations.ts'
import { get, send } from './client.ts'

export type Source = Type.Static<typeof SourceSchema>

export interface NewSource {
  name: string
  type: 'browser' | 'server'
}

/** A source with its new write key, which the service never shows again. */
interface Keyed {
  source: Source
  write_key: string
}

/** Rows per page. */
export const SOURCES_LENGTH = 50

export const sourcesQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['sources', 'list', page, limit],
    queryFn: ({ signal }) =>
      get<{ sources: Source[]; pagination: Type.Static<typeof Pagination> }>('/v1/sources', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

export function createSource(source: NewSource) {
  return send<Keyed>('POST', '/v1/sources', source)
}

export function renameSource(sourceId: string, name: string) {
  return send('PATCH', pathOf(sourceId), { name })
}

export function rotateWriteKey(sourceId: string, revokesOld: boolean) {
  return send<Keyed>('POST', `${pathOf(sourceId)}/rotate`, { revoke_old_key: revokesOld })
}

export function deleteSource(sourceId: string) {
  return send('DELETE', pathOf(sourceId))
}

export function refreshSources(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['sources'] })
}

function pathOf(sourceId: string): string {
  return `/v1/sources/${encodeURIComponent(sourceId)}`
}
