import { createRoute, redirect } from '@tanstack/react-router'
import { lazyPage } from '../session/lazy-page.ts'
import { rootRoute } from '../session/root-routes.ts'
import { meQuery } from '../session/session.ts'

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
