import { createRoute } from '@tanstack/react-router'
import { connectionsQuery, IDENTITIES_LENGTH, identitiesQuery, identityQuery } from '../api/identities.ts'
import { lazyPage } from '../app/lazy-page.ts'
import { shellRoute } from '../app/root-routes.tsx'
import { pageNumber, searchParams, text } from '../app/search-params.ts'

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
