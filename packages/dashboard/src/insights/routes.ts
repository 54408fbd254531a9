import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { searchParams } from '../session/search-params.ts'
import { prefetchAnswer, RETENTION, TREND } from './kinds.ts'
import { questionParam } from './question.ts'

const trendSearch = searchParams({ question: questionParam(TREND.isQuestion) })

const retentionSearch = searchParams({ question: questionParam(RETENTION.isQuestion) })

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

export const insightRoutes = [trend, retention] as const
