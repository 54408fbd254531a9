import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { overviewQuery } from '../api/overview.ts'
import { shellRoute } from '../app/root-routes.tsx'
import { searchParams } from '../app/search-params.ts'
import { rangeSearch, resolveRange } from '../ui/range.ts'

const home = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: searchParams(rangeSearch),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(overviewQuery(resolveRange(deps))),
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
})

export const homeRoutes = [home] as const
