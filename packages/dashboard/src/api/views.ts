import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { CreateViewInput, SavedView } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { CreateViewInput, SavedView }

/** The server's limit on the views of a tenant. */
const VIEWS_MAX = 200

/** The saved views of the whole tenant. */
export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => call('listViews', { limit: VIEWS_MAX }, signal),
})

export function createView(view: CreateViewInput) {
  return call('createView', view)
}

export function replaceView(view_id: string, view: CreateViewInput) {
  return call('replaceView', { view_id, ...view })
}

export function deleteView(view_id: string) {
  return call('deleteView', { view_id })
}

export function refreshViews(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: viewsQuery.queryKey })
}
