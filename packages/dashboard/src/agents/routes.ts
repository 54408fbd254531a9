import { createRoute } from '@tanstack/react-router'
import {
  AGENTS_LENGTH,
  agentQuery,
  agentSettingsQuery,
  agentsQuery,
  playbooksQuery,
  RUN_CONTACTS_LENGTH,
  RUNS_LENGTH,
  runContactsQuery,
  runQuery,
  runsQuery,
} from '../api/agents.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams, text } from '../session/search-params.ts'

const pageSearch = searchParams({ page: pageNumber })
const templateSearch = searchParams({ template: text, segment: text })

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(agentsQuery({ limit: AGENTS_LENGTH, offset: (page - 1) * AGENTS_LENGTH })),
  component: lazyPage(() => import('./agents-page.tsx'), 'AgentsPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/new',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/agents'),
  validateSearch: templateSearch,
  loader: ({ context }) => void context.queryClient.prefetchQuery(playbooksQuery),
  component: lazyPage(() => import('./new-agent-page.tsx'), 'NewAgentPage'),
})

const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/settings',
  loader: ({ context }) => void context.queryClient.prefetchQuery(agentSettingsQuery),
  component: lazyPage(() => import('./agent-settings-page.tsx'), 'AgentSettingsPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params: { agentId }, deps: { page = 1 } }) => {
    void context.queryClient.prefetchQuery(agentQuery(agentId))
    void context.queryClient.prefetchQuery(runsQuery(agentId, { limit: RUNS_LENGTH, offset: (page - 1) * RUNS_LENGTH }))
  },
  component: lazyPage(() => import('./agent-page.tsx'), 'AgentPage'),
})

const edit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/$agentId/edit',
  beforeLoad: ({ context, params }) => requireRole(context, 'admin', `/agents/${params.agentId}`),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(agentQuery(params.agentId))
    void context.queryClient.prefetchQuery(playbooksQuery)
  },
  component: lazyPage(() => import('./edit-agent-page.tsx'), 'EditAgentPage'),
})

const run = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents/runs/$runId',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params: { runId }, deps: { page = 1 } }) => {
    void context.queryClient.prefetchQuery(runQuery(runId))
    void context.queryClient.prefetchQuery(runContactsQuery(runId, { page, limit: RUN_CONTACTS_LENGTH }, false))
  },
  component: lazyPage(() => import('./run-page.tsx'), 'RunPage'),
})

export const agentRoutes = [list, create, settings, one, edit, run] as const
