import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { filterParam } from '../filters/filter-text.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { oneOf, pageNumber, searchParams, text } from '../session/search-params.ts'
import { outcomesInput } from './outcomes-query.ts'

const pageSearch = searchParams({ page: pageNumber })
const outcomesSearch = searchParams({ page: pageNumber, days: oneOf('90', '30') })
/** With what a new agent begins: its playbook, and its audience, which is a segment or a filter. */
const newSearch = searchParams({ template: text, segment: text, filter: filterParam })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(
      queryOf('listAgents', { limit: 50, offset: (page - 1) * 50, include: 'last_run' }),
    ),
  component: lazyPage(() => import('./agents-page.tsx'), 'AgentsPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/new',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/agents'),
  validateSearch: newSearch,
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listPlaybooks')),
  component: lazyPage(() => import('./new-agent-page.tsx'), 'NewAgentPage'),
})

const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/settings',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('getAgentSettings')),
  component: lazyPage(() => import('./agent-settings-page.tsx'), 'AgentSettingsPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { agentId: agent_id }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(queryOf('getAgent', { agent_id }))
    void queryClient.prefetchQuery(queryOf('listAgentRuns', { agent_id, limit: 20, offset: (page - 1) * 20 }))
  },
  component: lazyPage(() => import('./agent-page.tsx'), 'AgentPage'),
})

const edit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId/edit',
  beforeLoad: ({ context, params }) => requireRole(context, 'admin', `/agents/${params.agentId}`),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(queryOf('getAgent', { agent_id: params.agentId }))
    void context.queryClient.prefetchQuery(queryOf('listPlaybooks'))
  },
  component: lazyPage(() => import('./edit-agent-page.tsx'), 'EditAgentPage'),
})

const outcomes = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId/outcomes',
  validateSearch: outcomesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { agentId }, deps: { page = 1, days } }) => {
    void queryClient.prefetchQuery(queryOf('getAgent', { agent_id: agentId }))
    void queryClient.prefetchQuery(queryOf('getAgentOutcomes', outcomesInput(agentId, days, page)))
  },
  component: lazyPage(() => import('./outcomes-page.tsx'), 'OutcomesPage'),
})

const run = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/runs/$runId',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { runId: run_id }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(queryOf('getAgentRun', { run_id, mode: 'summary' }))
    void queryClient.prefetchQuery(queryOf('listRunContacts', { run_id, page, limit: 10 }))
  },
  component: lazyPage(() => import('./run-page.tsx'), 'RunPage'),
})

export const agentRoutes = [list, create, settings, one, edit, outcomes, run] as const
