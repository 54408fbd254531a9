import { createRoute, notFound, redirect } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { flag, oneOf, searchParams, text } from '../session/search-params.ts'
import { isKind } from './kinds.ts'
import { PROBLEMS_READ } from './use-arrivals.ts'

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
  validateSearch: searchParams({ filter: text, show: oneOf('events', 'problems'), raw: flag }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listRequestProblems', PROBLEMS_READ)),
  component: lazyPage(() => import('./debugger-page.tsx'), 'DebuggerPage'),
})

const guide = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connect/$kind',
  beforeLoad: ({ params }) => {
    if (!isKind(params.kind)) throw notFound()
  },
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('getTracker')),
  component: lazyPage(() => import('./guide-page.tsx'), 'GuidePage'),
})

export const connectRoutes = [overview, watch, guide] as const
