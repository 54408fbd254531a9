import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { searchParams } from '../session/search-params.ts'
import { FUNNEL, PATHS, prefetchAnswer, RETENTION, TREND } from './kinds.ts'
import { questionParam } from './question.ts'

const trendSearch = searchParams({ question: questionParam(TREND.isQuestion) })

const retentionSearch = searchParams({ question: questionParam(RETENTION.isQuestion) })

const funnelSearch = searchParams({ question: questionParam(FUNNEL.isQuestion) })

const pathsSearch = searchParams({ question: questionParam(PATHS.isQuestion) })

const trend = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights',
  validateSearch: trendSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void prefetchAnswer(context.queryClient, TREND, deps.question),
  component: lazyPage(() => import('./trend-page.tsx'), 'TrendPage'),
})

const retention = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/retention',
  validateSearch: retentionSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void prefetchAnswer(context.queryClient, RETENTION, deps.question),
  component: lazyPage(() => import('./retention-page.tsx'), 'RetentionPage'),
})

const funnel = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/funnel',
  validateSearch: funnelSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void prefetchAnswer(context.queryClient, FUNNEL, deps.question),
  component: lazyPage(() => import('./funnel-page.tsx'), 'FunnelPage'),
})

const paths = createRoute({
  getParentRoute: () => shellRoute,
  path: '/insights/paths',
  validateSearch: pathsSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void prefetchAnswer(context.queryClient, PATHS, deps.question),
  component: lazyPage(() => import('./paths-page.tsx'), 'PathsPage'),
})

export const insightRoutes = [trend, funnel, retention, paths] as const
