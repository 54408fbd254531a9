import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../app/root-routes.tsx'

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
})

export const accountRoutes = [account] as const
