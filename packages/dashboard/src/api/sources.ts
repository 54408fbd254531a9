import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { CreateSourceInput, Source } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { CreateSourceInput, Source }

/** Rows per page. */
export const SOURCES_LENGTH = 50

export const sourcesQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['sources', 'list', page, limit],
    queryFn: ({ signal }) => call('GET /v1/sources', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** @returns the source with its write key, which the service never shows again. */
export function createSource(source: CreateSourceInput) {
  return call('POST /v1/sources', source)
}

export function updateSource(source_id: string, name: string) {
  return call('PATCH /v1/sources/{source_id}', { source_id, name })
}

/** @returns the source with its new write key, which the service never shows again. */
export function rotateWriteKey(source_id: string, revokesOld: boolean) {
  return call('POST /v1/sources/{source_id}/rotate', { source_id, revoke_old_key: revokesOld })
}

export function deleteSource(source_id: string) {
  return call('DELETE /v1/sources/{source_id}', { source_id })
}

export function refreshSources(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['sources'] })
}
