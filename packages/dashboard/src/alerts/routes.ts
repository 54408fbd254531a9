import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'

/** The report that a new alert watches. */
const newSearch = searchParams({ report: text })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/alerts',
  validateSearch: searchParams({ page: pageNumber }),
  component: lazyPage(() => import('./alerts-page.tsx'), 'AlertsPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/alerts/new',
  validateSearch: newSearch,
  beforeLoad: ({ context }) => requireRole(context, 'member', '/insights/alerts'),
  component: lazyPage(() => import('./new-alert-page.tsx'), 'NewAlertPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/alerts/$alertId',
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery(queryOf('getAlert', { alert_id: params.alertId })),
  component: lazyPage(() => import('./alert-page.tsx'), 'AlertPage'),
})

export const alertRoutes = [list, create, one] as const
