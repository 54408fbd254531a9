import { createRoute } from '@tanstack/react-router'
import { keepQuery } from '../session/kept-query.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { rootRoute } from '../session/root-routes.ts'

const authorized = createRoute({
  getParentRoute: () => rootRoute,
  path: '/authorized',
  beforeLoad: () => keepQuery('/authorized'),
  component: lazyPage(() => import('./authorized-page.tsx'), 'AuthorizedPage'),
})

export const providerRoutes = [authorized] as const
