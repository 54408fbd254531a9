import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'

const integrations = createRoute({
  getParentRoute: () => shellRoute,
  path: '/integrations',
  loader: ({ context: { queryClient } }) => {
    void queryClient.prefetchQuery(queryOf('getTracker'))
    void queryClient.prefetchQuery(queryOf('listConnections', { limit: 50 }))
  },
  component: lazyPage(() => import('./integrations-page.tsx'), 'IntegrationsPage'),
})

export const integrationRoutes = [integrations] as const
