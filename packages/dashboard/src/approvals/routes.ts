import { createRoute } from '@tanstack/react-router'
import { APPROVALS_LENGTH, approvalsQuery } from '../api/approvals.ts'
import { lazyPage } from '../app/lazy-page.ts'
import { shellRoute } from '../app/root-routes.tsx'
import { pageNumber, searchParams, text } from '../app/search-params.ts'

const inboxSearch = searchParams({ page: pageNumber, agent_id: text })

const inbox = createRoute({
  getParentRoute: () => shellRoute,
  path: '/approvals',
  validateSearch: inboxSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1, agent_id } }) =>
    void context.queryClient.prefetchQuery(approvalsQuery({ page, limit: APPROVALS_LENGTH, agent_id })),
  component: lazyPage(() => import('./approvals-page.tsx'), 'ApprovalsPage'),
})

export const approvalRoutes = [inbox] as const
