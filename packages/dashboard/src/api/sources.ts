import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { CreateSourceInput, Source } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { CreateSourceInput, Source }

/** Rows per page. */
export const SOURCES_LENGTH = 50

export const sourcesQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['sources', 'list', page, limit],
    queryFn: ({ signal }) => call('listSources', { page, limit }, signal),
    placeholderData: keepPreviousData,
  })

/** @returns the source with its write key, which the service never shows again. */
export function createSource(source: CreateSourceInput) {
  return call('createSource', source)
}

export function updateSource(source_id: string, name: string) {
  return call('updateSource', { source_id, name })
}

/** @returns the source with its new write key, which the service never shows again. */
export function rotateWriteKey(source_id: string, revokesOld: boolean) {
  return call('rotateWriteKey', { source_id, revoke_old_key: revokesOld })
}

export function deleteSource(source_id: string) {
  return call('deleteSource', { source_id })
}

export function refreshSources(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['sources'] })
}
