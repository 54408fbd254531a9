import { createRoute } from '@tanstack/react-router'
import {
  CONNECTIONS_LENGTH,
  connectionErrorsQuery,
  connectionQuery,
  connectionRunsQuery,
  connectionsQuery,
  connectorsQuery,
} from '../api/connections.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams } from '../session/search-params.ts'

const listSearch = searchParams({ page: pageNumber })
const oneSearch = searchParams({ page: pageNumber, runs: pageNumber })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections',
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) => {
    void context.queryClient.prefetchQuery(connectionsQuery(page, CONNECTIONS_LENGTH))
    void context.queryClient.prefetchQuery(connectorsQuery)
  },
  component: lazyPage(() => import('./connections-page.tsx'), 'ConnectionsPage'),
})

const choice = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections/new',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/connections'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(connectorsQuery),
  component: lazyPage(() => import('./choice-page.tsx'), 'ChoicePage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections/new/$connector',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/connections'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(connectorsQuery),
  component: lazyPage(() => import('./new-connection-page.tsx'), 'NewConnectionPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections/$connectionId',
  validateSearch: oneSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params: { connectionId }, deps: { page = 1, runs = 1 } }) => {
    void context.queryClient.prefetchQuery(connectorsQuery)
    void context.queryClient.prefetchQuery(connectionQuery(connectionId))
    void context.queryClient.prefetchQuery(connectionRunsQuery(connectionId, runs))
    void context.queryClient.prefetchQuery(connectionErrorsQuery(connectionId, page))
  },
  component: lazyPage(() => import('./connection-page.tsx'), 'ConnectionPage'),
})

export const connectionRoutes = [list, choice, create, one] as const
