import { createRoute, redirect } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { flag, pageNumber, searchParams } from '../session/search-params.ts'
import { auditSearch, toAuditQuery } from './audit-search.ts'

const pageSearch = searchParams({ page: pageNumber })
/** Of a page with a form in a dialog, which a link may open. */
const dialogSearch = searchParams({ page: pageNumber, dialog: flag })

/** Whether the form for a new workspace is open. */
const newWorkspaceSearch = searchParams({ dialog: flag })

const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyPage(() => import('./settings-frame.tsx'), 'SettingsFrame'),
})

const index = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/profile', replace: true })
  },
})

const profile = createRoute({
  getParentRoute: () => settings,
  path: '/profile',
  component: lazyPage(() => import('./profile-page.tsx'), 'ProfilePage'),
})

const team = createRoute({
  getParentRoute: () => settings,
  path: '/team',
  validateSearch: dialogSearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listMembers', { page, limit: 50 })),
  component: lazyPage(() => import('./team-page.tsx'), 'TeamPage'),
})

const workspace = createRoute({
  getParentRoute: () => settings,
  path: '/workspace',
  validateSearch: newWorkspaceSearch,
  component: lazyPage(() => import('./workspace-page.tsx'), 'WorkspacePage'),
})

const tracker = createRoute({
  getParentRoute: () => settings,
  path: '/tracker',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(queryOf('getTracker'))
    void context.queryClient.prefetchQuery(queryOf('listDomains', { limit: 1, verified: true }))
  },
  component: lazyPage(() => import('./tracker-page.tsx'), 'TrackerPage'),
})

const domains = createRoute({
  getParentRoute: () => settings,
  path: '/domains',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(queryOf('listDomains', { page, limit: 20 }))
    void queryClient.prefetchQuery(queryOf('getTenant'))
    void queryClient.prefetchQuery(queryOf('getTracker'))
  },
  component: lazyPage(() => import('./domains-page.tsx'), 'DomainsPage'),
})

const identification = createRoute({
  getParentRoute: () => settings,
  path: '/identification',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('getTenant')),
  component: lazyPage(() => import('./identification-page.tsx'), 'IdentificationPage'),
})

const enrichment = createRoute({
  getParentRoute: () => settings,
  path: '/enrichment',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('getEnrichment')),
  component: lazyPage(() => import('./enrichment-page.tsx'), 'EnrichmentPage'),
})

const computed = createRoute({
  getParentRoute: () => settings,
  path: '/computed-properties',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listComputedProperties', { page, limit: 50 })),
  component: lazyPage(() => import('../computed/computed-properties-page.tsx'), 'ComputedPropertiesPage'),
})

const newComputed = createRoute({
  getParentRoute: () => settings,
  path: '/computed-properties/new',
  component: lazyPage(() => import('../computed/new-computed-property-page.tsx'), 'NewComputedPropertyPage'),
})

const computedProperty = createRoute({
  getParentRoute: () => settings,
  path: '/computed-properties/$id',
  loader: ({ context, params: { id } }) =>
    void context.queryClient.prefetchQuery(queryOf('getComputedProperty', { computed_property_id: id })),
  component: lazyPage(() => import('../computed/computed-property-page.tsx'), 'ComputedPropertyPage'),
})

const sources = createRoute({
  getParentRoute: () => settings,
  path: '/sources',
  validateSearch: dialogSearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listSources', { page, limit: 50 })),
  component: lazyPage(() => import('./sources-page.tsx'), 'SourcesPage'),
})

const keys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  validateSearch: dialogSearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listApiKeys', { page, limit: 50 })),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
})

const connectedApps = createRoute({
  getParentRoute: () => settings,
  path: '/connected-apps',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(queryOf('listConnectedApps', { page, limit: 50 })),
  component: lazyPage(() => import('./connected-apps-page.tsx'), 'ConnectedAppsPage'),
})

const oauthClients = createRoute({
  getParentRoute: () => settings,
  path: '/oauth-clients',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listOAuthClients')),
  component: lazyPage(() => import('./oauth-clients-page.tsx'), 'OAuthClientsPage'),
})

const warehouse = createRoute({
  getParentRoute: () => settings,
  path: '/warehouse',
  validateSearch: searchParams({ dialog: flag }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('listWarehouseDestinations', { limit: 20 })),
  component: lazyPage(() => import('./warehouse-page.tsx'), 'WarehousePage'),
})

const warehouseDestination = createRoute({
  getParentRoute: () => settings,
  path: '/warehouse/$destinationId',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { destinationId }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(queryOf('getWarehouseDestination', { destination_id: destinationId }))
    void queryClient.prefetchQuery(queryOf('listWarehouseRuns', { destination_id: destinationId, page, limit: 20 }))
  },
  component: lazyPage(() => import('./warehouse-destination-page.tsx'), 'WarehouseDestinationPage'),
})

const limits = createRoute({
  getParentRoute: () => settings,
  path: '/limits',
  loader: ({ context }) => void context.queryClient.prefetchQuery(queryOf('getLimits')),
  component: lazyPage(() => import('./limits-page.tsx'), 'LimitsPage'),
})

const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(queryOf('listAuditLog', toAuditQuery(deps))),
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
})

const data = createRoute({
  getParentRoute: () => settings,
  path: '/data',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) => {
    void context.queryClient.prefetchQuery(queryOf('listExports'))
    void context.queryClient.prefetchQuery(queryOf('listErasures', { page, limit: 20 }))
  },
  component: lazyPage(() => import('./data-page.tsx'), 'DataPage'),
})

export const settingsRoutes = [
  settings.addChildren([
    index,
    profile,
    workspace,
    team,
    tracker,
    domains,
    identification,
    computed,
    newComputed,
    computedProperty,
    enrichment,
    sources,
    keys,
    connectedApps,
    oauthClients,
    warehouse,
    warehouseDestination,
    limits,
    audit,
    data,
  ]),
] as const
