import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'
import { segmentSearch } from './segment-search.ts'

const listSearch = searchParams({ page: pageNumber })

/** A segment that the new one begins as. */
const newSearch = searchParams({ copy: text })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments',
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listSegments', { page, limit: 50 })),
  component: lazyPage(() => import('./segments-page.tsx'), 'SegmentsPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/new',
  validateSearch: newSearch,
  beforeLoad: ({ context }) => requireRole(context, 'member', '/segments'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listProperties', { entity: 'contacts' })),
  component: lazyPage(() => import('./new-segment-page.tsx'), 'NewSegmentPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/$segmentId',
  validateSearch: segmentSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { segmentId: segment_id }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(queryOf('getSegment', { segment_id }))
    void queryClient.prefetchQuery(queryOf('listSegmentContacts', { segment_id, page, limit: 20 }))
  },
  component: lazyPage(() => import('./segment-page.tsx'), 'SegmentPage'),
})

const edit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/$segmentId/edit',
  beforeLoad: ({ context, params }) => requireRole(context, 'member', `/segments/${params.segmentId}`),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(queryOf('getSegment', { segment_id: params.segmentId }))
    void context.queryClient.prefetchQuery(queryOf('listProperties', { entity: 'contacts' }))
  },
  component: lazyPage(() => import('./edit-segment-page.tsx'), 'EditSegmentPage'),
})

export const segmentRoutes = [list, create, one, edit] as const
