import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { propertiesQuery } from '../api/properties.ts'
import { SEGMENT_MEMBERS_LENGTH, SEGMENTS_LENGTH, segmentQuery, segmentsQuery } from '../api/segments.ts'
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
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(segmentsQuery(deps.page ?? 1, SEGMENTS_LENGTH)),
  component: lazyPage(() => import('./segments-page.tsx'), 'SegmentsPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/new',
  validateSearch: newSearch,
  beforeLoad: ({ context }) => requireRole(context, 'member', '/segments'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(propertiesQuery('contacts')),
  component: lazyPage(() => import('./new-segment-page.tsx'), 'NewSegmentPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/$segmentId',
  validateSearch: segmentSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => {
    void context.queryClient.prefetchQuery(segmentQuery(params.segmentId))
    void context.queryClient.prefetchQuery(
      queryOf('listSegmentContacts', {
        segment_id: params.segmentId,
        page: deps.page ?? 1,
        limit: SEGMENT_MEMBERS_LENGTH,
      }),
    )
  },
  component: lazyPage(() => import('./segment-page.tsx'), 'SegmentPage'),
})

const edit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/$segmentId/edit',
  beforeLoad: ({ context, params }) => requireRole(context, 'member', `/segments/${params.segmentId}`),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(segmentQuery(params.segmentId))
    void context.queryClient.prefetchQuery(propertiesQuery('contacts'))
  },
  component: lazyPage(() => import('./edit-segment-page.tsx'), 'EditSegmentPage'),
})

export const segmentRoutes = [list, create, one, edit] as const
