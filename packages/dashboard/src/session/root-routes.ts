import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { isAtLeast } from './may.ts'
import { meQuery, type Role } from './session.ts'

interface Context {
  queryClient: QueryClient
}

export const rootRoute = createRootRouteWithContext<Context>()()

/** The parent of every page that requires a sign-in. `app/router.tsx` gives it the frame with the navigation. */
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
})

/** Redirects people without the role from a page for editing to one for reading. */
export async function requireRole({ queryClient }: Context, role: Role, instead: string): Promise<void> {
  const me = await queryClient.ensureQueryData(meQuery)
  if (!isAtLeast(me.role, role)) throw redirect({ to: instead, replace: true })
}
