import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
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
    void queryClient.prefetchQuery(queryOf('getTracker'))
    // Before the first event there is nothing to read.
    if (queryClient.getQueryData(queryOf('getTracker').queryKey)?.first_event === null) return
    void queryClient.prefetchQuery(overviewQuery(overviewRange(deps)))
    void queryClient.prefetchQuery(queryOf('listEvents', { limit: FEED_EVENTS }))
    // The page says what failed.
    import('../insights/daily-chart.tsx').catch(() => {})
  },
  component: lazyPage(() => import('./home-page.tsx'), 'HomePage'),
})

export const homeRoutes = [home] as const
