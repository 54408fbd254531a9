import { createRoute, notFound, redirect } from '@tanstack/react-router'
import { problemsQuery } from '../api/problems.ts'
import { tenantQuery } from '../api/tenant.ts'
import { trackerQuery } from '../api/tracker.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, searchParams, text } from '../session/search-params.ts'
import { isKind } from './kinds.ts'

const overview = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connect',
  beforeLoad: () => {
    throw redirect({ to: '/integrations', replace: true })
  },
})

const watch = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connect/debugger',
  validateSearch: searchParams({ filter: text, show: oneOf('events', 'problems') }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(problemsQuery),
  component: lazyPage(() => import('./debugger-page.tsx'), 'DebuggerPage'),
})

const guide = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connect/$kind',
  beforeLoad: ({ params }) => {
    if (!isKind(params.kind)) throw notFound()
  },
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(trackerQuery)
    void context.queryClient.prefetchQuery(tenantQuery)
  },
  component: lazyPage(() => import('./guide-page.tsx'), 'GuidePage'),
})

export const connectRoutes = [overview, watch, guide] as const
