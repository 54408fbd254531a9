import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, searchParams, text } from '../session/search-params.ts'
import { timelineQuery } from '../ui/timeline-query.ts'

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/visitors/$visitorId',
  validateSearch: searchParams({ view: oneOf('events'), event_type: text }),
  loader: ({ context: { queryClient }, params: { visitorId } }) => {
    void queryClient.prefetchQuery(queryOf('getVisitor', { visitor_id: visitorId }))
    void queryClient.prefetchInfiniteQuery(timelineQuery({ visitorId }))
  },
  component: lazyPage(() => import('./visitor-page.tsx'), 'VisitorPage'),
})

export const visitorRoutes = [one] as const
