import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams } from '../session/search-params.ts'

const reviewSearch = searchParams({ page: pageNumber })

const review = createRoute({
  getParentRoute: () => shellRoute,
  path: '/duplicates',
  validateSearch: reviewSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listDuplicates', { page, limit: 1 })),
  component: lazyPage(() => import('./duplicates-page.tsx'), 'DuplicatesPage'),
})

export const duplicateRoutes = [review] as const
