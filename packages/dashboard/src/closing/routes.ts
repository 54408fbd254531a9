import { createRoute, redirect } from '@tanstack/react-router'
import { meQuery } from '../api/session.ts'
import { lazyPage } from '../app/lazy-page.ts'
import { rootRoute } from '../app/root-routes.tsx'

const closed = createRoute({
  getParentRoute: () => rootRoute,
  path: '/closed',
  // Requested anew: another owner may have reopened it.
  beforeLoad: async ({ context }) => {
    const me = await context.queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
    if (!me.tenant?.closed) throw redirect({ to: '/' })
  },
  component: lazyPage(() => import('./closed-page.tsx'), 'ClosedPage'),
})

export const closingRoutes = [closed] as const
