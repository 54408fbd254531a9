import { createRoute } from '@tanstack/react-router'
import { connectionsQuery, IDENTITIES_LENGTH, identitiesQuery, identityQuery } from '../api/identities.ts'
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
    void context.queryClient.prefetchQuery(identitiesQuery({ page, limit: IDENTITIES_LENGTH, search })),
  component: lazyPage(() => import('./identities-page.tsx'), 'IdentitiesPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/identities/$identityId',
  loader: ({ context, params: { identityId } }) => {
    void context.queryClient.prefetchQuery(identityQuery(identityId))
    void context.queryClient.prefetchQuery(connectionsQuery(identityId))
  },
  component: lazyPage(() => import('./identity-page.tsx'), 'IdentityPage'),
})

export const identityRoutes = [list, one] as const
