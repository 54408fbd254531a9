import { createRoute, redirect } from '@tanstack/react-router'
import { auditQuery } from '../api/audit.ts'
import { APPS_LENGTH, connectedAppsQuery } from '../api/connected-apps.ts'
import { DOMAINS_LENGTH, domainsQuery } from '../api/domains.ts'
import { KEYS_LENGTH, keysQuery } from '../api/keys.ts'
import { limitsQuery } from '../api/limits.ts'
import { oauthClientsQuery } from '../api/providers.ts'
import { SOURCES_LENGTH, sourcesQuery } from '../api/sources.ts'
import { MEMBERS_LENGTH, membersQuery } from '../api/team.ts'
import { tenantQuery } from '../api/tenant.ts'
import { ERASURES_LENGTH, erasuresQuery, exportsQuery } from '../api/tenant-data.ts'
import { trackerQuery } from '../api/tracker.ts'
import { destinationQuery, destinationsQuery, runsQuery } from '../api/warehouse.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { flag, pageNumber, searchParams } from '../session/search-params.ts'
import { auditSearch, toAuditQuery } from './audit-search.ts'

const pageSearch = searchParams({ page: pageNumber })
/** Of a page with a form in a dialog, which a link may open. */
const dialogSearch = searchParams({ page: pageNumber, dialog: flag })

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
    void context.queryClient.prefetchQuery(membersQuery(page, MEMBERS_LENGTH)),
  component: lazyPage(() => import('./team-page.tsx'), 'TeamPage'),
})

const workspace = createRoute({
  getParentRoute: () => settings,
  path: '/workspace',
  component: lazyPage(() => import('./workspace-page.tsx'), 'WorkspacePage'),
})

const tracker = createRoute({
  getParentRoute: () => settings,
  path: '/tracker',
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(trackerQuery)
    void context.queryClient.prefetchQuery(domainsQuery({ limit: 1, verified: true }))
  },
  component: lazyPage(() => import('./tracker-page.tsx'), 'TrackerPage'),
})

const domains = createRoute({
  getParentRoute: () => settings,
  path: '/domains',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(domainsQuery({ page, limit: DOMAINS_LENGTH }))
    void queryClient.prefetchQuery(tenantQuery)
    void queryClient.prefetchQuery(trackerQuery)
  },
  component: lazyPage(() => import('./domains-page.tsx'), 'DomainsPage'),
})

const identification = createRoute({
  getParentRoute: () => settings,
  path: '/identification',
  loader: ({ context }) => void context.queryClient.prefetchQuery(tenantQuery),
  component: lazyPage(() => import('./identification-page.tsx'), 'IdentificationPage'),
})

const sources = createRoute({
  getParentRoute: () => settings,
  path: '/sources',
  validateSearch: dialogSearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(sourcesQuery(page, SOURCES_LENGTH)),
  component: lazyPage(() => import('./sources-page.tsx'), 'SourcesPage'),
})

const keys = createRoute({
  getParentRoute: () => settings,
  path: '/keys',
  validateSearch: dialogSearch,
  loaderDeps: ({ search: { page } }) => ({ page }),
  loader: ({ context, deps: { page = 1 } }) => void context.queryClient.prefetchQuery(keysQuery(page, KEYS_LENGTH)),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
})

const connectedApps = createRoute({
  getParentRoute: () => settings,
  path: '/connected-apps',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) =>
    void context.queryClient.prefetchQuery(connectedAppsQuery(page, APPS_LENGTH)),
  component: lazyPage(() => import('./connected-apps-page.tsx'), 'ConnectedAppsPage'),
})

const oauthClients = createRoute({
  getParentRoute: () => settings,
  path: '/oauth-clients',
  loader: ({ context }) => void context.queryClient.prefetchQuery(oauthClientsQuery),
  component: lazyPage(() => import('./oauth-clients-page.tsx'), 'OAuthClientsPage'),
})

const warehouse = createRoute({
  getParentRoute: () => settings,
  path: '/warehouse',
  validateSearch: searchParams({ dialog: flag }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(destinationsQuery),
  component: lazyPage(() => import('./warehouse-page.tsx'), 'WarehousePage'),
})

const warehouseDestination = createRoute({
  getParentRoute: () => settings,
  path: '/warehouse/$destinationId',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient }, params: { destinationId }, deps: { page = 1 } }) => {
    void queryClient.prefetchQuery(destinationQuery(destinationId))
    void queryClient.prefetchQuery(runsQuery(destinationId, page))
  },
  component: lazyPage(() => import('./warehouse-destination-page.tsx'), 'WarehouseDestinationPage'),
})

const limits = createRoute({
  getParentRoute: () => settings,
  path: '/limits',
  loader: ({ context }) => void context.queryClient.prefetchQuery(limitsQuery),
  component: lazyPage(() => import('./limits-page.tsx'), 'LimitsPage'),
})

const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(auditQuery(toAuditQuery(deps))),
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
})

const data = createRoute({
  getParentRoute: () => settings,
  path: '/data',
  validateSearch: pageSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { page = 1 } }) => {
    void context.queryClient.prefetchQuery(exportsQuery)
    void context.queryClient.prefetchQuery(erasuresQuery(page, ERASURES_LENGTH))
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
