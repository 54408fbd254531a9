import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams, text } from '../session/search-params.ts'
import { inputOf } from './waiting.ts'

const inboxSearch = searchParams({
  page: pageNumber,
  agent_id: text,
  type: oneOf('email_message', 'social_message', 'social_connect', 'note', 'crm_update'),
  /** The action whose preview is shown, as `actionKey` names it. */
  action: text,
})

const inbox = createRoute({
  getParentRoute: () => shellRoute,
  path: '/approvals',
  validateSearch: inboxSearch,
  // Without the chosen action, which changes with every key.
  loaderDeps: ({ search: { page, agent_id, type } }) => ({ page, agent_id, type }),
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(queryOf('listApprovals', inputOf(deps))),
  component: lazyPage(() => import('./approvals-page.tsx'), 'ApprovalsPage'),
})

export const approvalRoutes = [inbox] as const
