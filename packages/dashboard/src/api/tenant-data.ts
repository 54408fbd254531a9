import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { Receipt } from '../../../server/src/erasure/erasures.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import type { Export } from '../../../server/src/tenant-export/exports.ts'
import { get, send } from './client.ts'

export type { Export, Receipt }

/** The latest exports of all data. */
export const exportsQuery = queryOptions({
  queryKey: ['exports'],
  queryFn: ({ signal }) => get<{ exports: Export[] }>('/v1/exports', {}, signal),
  select: ({ exports }) => exports,
})

/** Rows per page. */
export const ERASURES_LENGTH = 20

/** One page of the contacts that were erased everywhere. */
export const erasuresQuery = (page: number, limit: number) =>
  queryOptions({
    queryKey: ['erasures', page, limit],
    queryFn: ({ signal }) =>
      get<{ erasures: Receipt[]; pagination: Type.Static<typeof Pagination> }>('/v1/erasures', { page, limit }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.erasures.some(({ status }) => status === 'running') ? 2_000 : false),
  })

export function createExport() {
  return send<{ export_id: string }>('POST', '/v1/exports')
}

export function refreshExports(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['exports'] })
}
