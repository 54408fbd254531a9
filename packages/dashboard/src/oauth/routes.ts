import { createRoute } from '@tanstack/react-router'
import { keepQuery } from '../session/kept-query.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { rootRoute } from '../session/root-routes.ts'

const authorize = createRoute({
  getParentRoute: () => rootRoute,
  path: '/oauth/authorize',
  beforeLoad: () => keepQuery('/oauth/authorize'),
  component: lazyPage(() => import('./consent-page.tsx'), 'ConsentPage'),
})

export const oauthRoutes = [authorize] as const
