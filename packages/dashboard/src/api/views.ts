import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { SavedView, ViewBody } from '../../../server/src/overview/view-schema.ts'
import { get, send } from './client.ts'

export type { SavedView, ViewBody }
export type ViewPage = ViewBody['page']

/** The server's limit on the views of a tenant. */
const VIEWS_MAX = 200

/** The saved views of the whole tenant. */
export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => get<{ views: SavedView[] }>('/v1/views', { limit: VIEWS_MAX }, signal),
})

export function createView(view: ViewBody) {
  return send<{ view: SavedView }>('POST', '/v1/views', view)
}

export function replaceView(viewId: string, view: ViewBody) {
  return send<{ view: SavedView }>('PUT', `/v1/views/${viewId}`, view)
}

export function deleteView(viewId: string) {
  return send('DELETE', `/v1/views/${viewId}`)
}

export function refreshViews(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: viewsQuery.queryKey })
}
