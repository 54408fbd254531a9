import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { ErasureReceipt, Export } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { ErasureReceipt, Export }

/** The latest exports of all data. */
export const exportsQuery = queryOptions({
  queryKey: ['exports'],
  queryFn: ({ signal }) => call('listExports', {}, signal),
  select: ({ exports }) => exports,
})

/** Rows per page. */
export const ERASURES_LENGTH = 20

/** One page of the contacts that were erased everywhere. */
export const erasuresQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['erasures', page, limit],
    queryFn: ({ signal }) => call('listErasures', { page, limit }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.erasures.some(({ status }) => status === 'running') ? 2_000 : false),
  })

export function createExport() {
  return call('createExport', {})
}

export function refreshExports(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['exports'] })
}
