import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../session/lazy-page.ts'
import { rootRoute, shellRoute } from '../session/root-routes.ts'
import { pageNumber, searchParams } from '../session/search-params.ts'
import { QUESTION_LENGTH_MAX } from './question-length.ts'

const short = (text: string) => (text.length > QUESTION_LENGTH_MAX ? undefined : text)
/** A question as JSON; its page reads it, and proposes another one if it cannot be shown. */
const search = searchParams({ question: short })

const trend = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights',
  validateSearch: search,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    void import('./kinds.ts').then(({ TREND, prefetchAnswer }) =>
      prefetchAnswer(context.queryClient, TREND, deps.question),
    ),
  component: lazyPage(() => import('./trend-page.tsx'), 'TrendPage'),
})

const retention = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/retention',
  validateSearch: search,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    void import('./kinds.ts').then(({ RETENTION, prefetchAnswer }) =>
      prefetchAnswer(context.queryClient, RETENTION, deps.question),
    ),
  component: lazyPage(() => import('./retention-page.tsx'), 'RetentionPage'),
})

const funnel = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/funnel',
  validateSearch: search,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    void import('./kinds.ts').then(({ FUNNEL, prefetchAnswer }) =>
      prefetchAnswer(context.queryClient, FUNNEL, deps.question),
    ),
  component: lazyPage(() => import('./funnel-page.tsx'), 'FunnelPage'),
})

const paths = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/paths',
  validateSearch: search,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    void import('./kinds.ts').then(({ PATHS, prefetchAnswer }) =>
      prefetchAnswer(context.queryClient, PATHS, deps.question),
    ),
  component: lazyPage(() => import('./paths-page.tsx'), 'PathsPage'),
})

const web = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/web',
  validateSearch: search,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) =>
    void import('./kinds.ts').then(({ WEB, prefetchAnswer }) =>
      prefetchAnswer(context.queryClient, WEB, deps.question),
    ),
  component: lazyPage(() => import('./web-page.tsx'), 'WebPage'),
})

const reports = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/reports',
  validateSearch: searchParams({ page: pageNumber }),
  component: lazyPage(() => import('./reports-page.tsx'), 'ReportsPage'),
})

const dashboards = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/dashboards',
  validateSearch: searchParams({ page: pageNumber }),
  component: lazyPage(() => import('./dashboards/dashboards-page.tsx'), 'DashboardsPage'),
})

const dashboard = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/dashboards/$dashboardId',
  // Its page reads them, and takes those of the dashboard in place of broken ones.
  validateSearch: searchParams({ range: short, where: short }),
  loader: ({ context, params }) =>
    void import('./dashboards/save.ts').then(({ dashboardQuery }) =>
      context.queryClient.prefetchQuery(dashboardQuery(params.dashboardId)),
    ),
  component: lazyPage(() => import('./dashboards/dashboard-page.tsx'), 'DashboardPage'),
})

export const insightRoutes = [trend, funnel, retention, paths, web, reports, dashboards, dashboard] as const

/** For anybody who has the link, without a sign-in. */
const shared = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shared/$token',
  loader: ({ context, params }) =>
    void import('./shared/shared-query.ts').then(({ sharedQuery }) =>
      context.queryClient.prefetchQuery(sharedQuery(params.token)),
    ),
  component: lazyPage(() => import('./shared/shared-page.tsx'), 'SharedPage'),
})

export const sharedRoutes = [shared] as const
