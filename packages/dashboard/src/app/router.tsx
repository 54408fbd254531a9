import type { QueryClient } from '@tanstack/react-query'
import { createRoute, createRouter } from '@tanstack/react-router'
import { agentRoutes } from '../agents/routes.ts'
import { alertRoutes } from '../alerts/routes.ts'
import { approvalRoutes } from '../approvals/routes.ts'
import { closingRoutes } from '../closing/routes.ts'
import { companyRoutes } from '../companies/routes.ts'
import { connectRoutes } from '../connect/routes.ts'
import { connectionRoutes } from '../connections/routes.ts'
import { contactRoutes } from '../contacts/routes.ts'
import { duplicateRoutes } from '../duplicates/routes.ts'
import { eventRoutes } from '../events/routes.ts'
import { homeRoutes } from '../home/routes.ts'
import { hookRoutes } from '../hooks/routes.ts'
import { identityRoutes } from '../identities/routes.ts'
import { importRoutes } from '../imports/routes.ts'
import { insightRoutes, sharedRoutes } from '../insights/routes.ts'
import { integrationRoutes } from '../integrations/routes.ts'
import { oauthRoutes } from '../oauth/routes.ts'
import { providerRoutes } from '../providers/routes.ts'
import { segmentRoutes } from '../segments/routes.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { rootRoute, shellRoute } from '../session/root-routes.ts'
import { parseSearch, stringifySearch } from '../session/search-params.ts'
import { settingsRoutes } from '../settings/routes.ts'
import { signInRoutes } from '../sign-in/routes.ts'
import { NotFoundPage, PageError, PagePending } from '../ui/page-states.tsx'
import { visitorRoutes } from '../visitors/routes.ts'
import { webhookRoutes } from '../webhooks/routes.ts'

/** The page for an unknown address, with the navigation beside it. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFoundPage })

shellRoute.update({ component: lazyPage(() => import('./shell.tsx'), 'Shell') })

const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  ...closingRoutes,
  ...oauthRoutes,
  ...sharedRoutes,
  ...providerRoutes,
  shellRoute.addChildren([
    ...homeRoutes,
    ...contactRoutes,
    ...duplicateRoutes,
    ...importRoutes,
    ...companyRoutes,
    ...eventRoutes,
    ...insightRoutes,
    ...alertRoutes,
    ...visitorRoutes,
    ...segmentRoutes,
    ...approvalRoutes,
    ...agentRoutes,
    ...identityRoutes,
    ...webhookRoutes,
    ...hookRoutes,
    ...integrationRoutes,
    ...connectRoutes,
    ...connectionRoutes,
    ...settingsRoutes,
    unknownRoute,
  ]),
])

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    // A page starts to load when its link is hovered or focused; the query client decides what is fresh.
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    // On a slow network, shows a loading state before the click seems lost.
    defaultPendingMs: 400,
    defaultPendingMinMs: 200,
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    defaultErrorComponent: PageError,
    defaultPendingComponent: PagePending,
    defaultNotFoundComponent: NotFoundPage,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
