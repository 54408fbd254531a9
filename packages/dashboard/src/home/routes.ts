import { createRoute } from '@tanstack/react-router'
import { latestEventsQuery } from '../api/events.ts'
import { trackerQuery } from '../api/tracker.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { searchParams } from '../session/search-params.ts'
import { rangeSearch } from '../ui/range.ts'
import { FEED_EVENTS, overviewQuery, overviewRange } from './overview.ts'

const home = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchParams(rangeSearch),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps }) => {
    void queryClient.prefetchQuery(trackerQuery)
    // Before the first event there is nothing to read.
    if (queryClient.getQueryData(trackerQuery.queryKey)?.first_event === null) return
    void queryClient.prefetchQuery(overviewQuery(overviewRange(deps)))
    void queryClient.prefetchQuery(latestEventsQuery(FEED_EVENTS))
  },
  component: lazyPage(() => import('./home-page.tsx'), 'HomePage'),
})

export const homeRoutes = [home] as const
