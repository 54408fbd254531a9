import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'

const listSearch = searchParams({ page: pageNumber, search: text })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identities',
  validateSearch: listSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1, search } }) =>
    void context.queryClient.prefetchQuery(queryOf('listIdentities', { page, limit: 50, search })),
  component: lazyPage(() => import('./identities-page.tsx'), 'IdentitiesPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identities/$identityId',
  loader: ({ context: { queryClient }, params: { identityId: identity_id } }) => {
    void queryClient.prefetchQuery(queryOf('getIdentity', { identity_id }))
    void queryClient.prefetchQuery(queryOf('getIdentityConnections', { identity_id }))
  },
  component: lazyPage(() => import('./identity-page.tsx'), 'IdentityPage'),
})

export const identityRoutes = [list, one] as const
