import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams } from '../session/search-params.ts'
import { importQuery, importsQuery } from './import-queries.ts'

const listSearch = searchParams({ page: pageNumber })
const importSearch = searchParams({ step: oneOf('mapping', 'preview', 'import'), page: pageNumber })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/imports',
  beforeLoad: ({ context }) => requireRole(context, 'member', '/contacts'),
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) => void context.queryClient.prefetchQuery(importsQuery(page)),
  component: lazyPage(() => import('./imports-page.tsx'), 'ImportsPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/imports/new',
  beforeLoad: ({ context }) => requireRole(context, 'member', '/contacts'),
  component: lazyPage(() => import('./new-import-page.tsx'), 'NewImportPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/imports/$importId',
  beforeLoad: ({ context }) => requireRole(context, 'member', '/contacts'),
  validateSearch: importSearch,
  loader: ({ context, params: { importId } }) => {
    void context.queryClient.prefetchQuery(importQuery(importId))
    void context.queryClient.prefetchQuery(queryOf('listProperties', { entity: 'contacts' }))
  },
  component: lazyPage(() => import('./import-page.tsx'), 'ImportPage'),
})

export const importRoutes = [list, create, one] as const
