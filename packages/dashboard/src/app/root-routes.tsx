import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { meQuery } from '../api/session.ts'

interface Context {
  queryClient: QueryClient
}

export const rootRoute = createRootRouteWithContext<Context>()({ component: Outlet })

/** The parent of every page that needs somebody signed in: the frame with the navigation. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ context, location }) => {
    const me = await context.queryClient.ensureQueryData(meQuery).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { redirect: location.href } })
    })
    if (me.tenant === null) throw redirect({ to: '/choose-tenant' })
  },
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
})
