import { createRoute } from '@tanstack/react-router'
import { keepQuery } from '../app/kept-query.ts'
import { lazyPage } from '../app/lazy-page.ts'
import { rootRoute } from '../app/root-routes.tsx'

const authorized = createRoute({
  getParentRoute: () => rootRoute,
  path: '/authorized',
  beforeLoad: () => keepQuery('/authorized'),
  component: lazyPage(() => import('./authorized-page.tsx'), 'AuthorizedPage'),
})

export const providerRoutes = [authorized] as const
