import { createRoute } from '@tanstack/react-router'
import { timelineQuery } from '../api/events.ts'
import { visitorQuery } from '../api/visitors.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, searchParams, text } from '../session/search-params.ts'

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/visitors/$visitorId',
  validateSearch: searchParams({ view: oneOf('events'), event_type: text }),
  loader: ({ context: { queryClient }, params: { visitorId } }) => {
    void queryClient.prefetchQuery(visitorQuery(visitorId))
    void queryClient.prefetchInfiniteQuery(timelineQuery({ visitorId }))
  },
  component: lazyPage(() => import('./visitor-page.tsx'), 'VisitorPage'),
})

export const visitorRoutes = [one] as const
