import { createRoute } from '@tanstack/react-router'
import { keepQuery } from '../app/kept-query.ts'
import { lazyPage } from '../app/lazy-page.ts'
import { rootRoute } from '../app/root-routes.tsx'

const authorize = createRoute({
  getParentRoute: () => rootRoute,
  path: '/oauth/authorize',
  beforeLoad: () => keepQuery('/oauth/authorize'),
  component: lazyPage(() => import('./consent-page.tsx'), 'ConsentPage'),
})

export const oauthRoutes = [authorize] as const
