import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
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
    void context.queryClient.prefetchQuery(queryOf('listConnections', { page, limit: 50 }))
    void context.queryClient.prefetchQuery(queryOf('listConnectors'))
  },
  component: lazyPage(() => import('./connections-page.tsx'), 'ConnectionsPage'),
})

const choice = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections/new',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/connections'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listConnectors')),
  component: lazyPage(() => import('./choice-page.tsx'), 'ChoicePage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections/new/$connector',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/connections'),
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listConnectors')),
  component: lazyPage(() => import('./new-connection-page.tsx'), 'NewConnectionPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/connections/$connectionId',
  validateSearch: oneSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { connectionId: connection_id }, deps: { page = 1, runs = 1 } }) => {
    void queryClient.prefetchQuery(queryOf('listConnectors'))
    void queryClient.prefetchQuery(queryOf('getConnection', { connection_id }))
    void queryClient.prefetchQuery(queryOf('listConnectionRuns', { connection_id, page: runs, limit: 10 }))
    void queryClient.prefetchQuery(queryOf('listConnectionErrors', { connection_id, page, limit: 20 }))
  },
  component: lazyPage(() => import('./connection-page.tsx'), 'ConnectionPage'),
})

export const connectionRoutes = [list, choice, create, one] as const
