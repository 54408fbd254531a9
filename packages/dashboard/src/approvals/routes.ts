import { createRoute } from '@tanstack/react-router'
import { APPROVALS_LENGTH, approvalsQuery } from '../api/approvals.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'

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
