import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { meQuery, type Role } from '../api/session.ts'
import { NotFoundPage } from '../ui/page-states.tsx'
import { lazyPage } from './lazy-page.ts'
import { isAtLeast } from './may.ts'

interface Context {
  queryClient: QueryClient
}

export const rootRoute = createRootRouteWithContext<Context>()({ component: Outlet })

/** The parent of every page that requires a sign-in: the frame with the navigation. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: async ({ context, location }) => {
    const me = await context.queryClient.ensureQueryData(meQuery).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { redirect: location.href } })
    })
    if (me.tenant === null) throw redirect({ to: '/choose-tenant' })
    if (me.tenant.closed !== null) throw redirect({ to: '/closed' })
  },
  component: lazyPage(() => import('./shell.tsx'), 'Shell'),
})

/** The page for an unknown address, with the navigation beside it. */
export const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFoundPage })

/** Redirects people without the role from a page for editing to one for reading. */
export async function requireRole({ queryClient }: Context, role: Role, instead: string): Promise<void> {
  const me = await queryClient.ensureQueryData(meQuery)
  if (!isAtLeast(me.role, role)) throw redirect({ to: instead, replace: true })
}
