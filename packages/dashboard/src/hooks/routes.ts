import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../session/lazy-page.ts'
import { requireRole, shellRoute } from '../session/root-routes.ts'
import { searchParams, text } from '../session/search-params.ts'
import { bodiesQuery, bodyQuery, hookQuery, hooksQuery } from './hook-queries.ts'

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hooks',
  loader: ({ context }) => void context.queryClient.prefetchQuery(hooksQuery()),
  component: lazyPage(() => import('./hooks-page.tsx'), 'HooksPage'),
})

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hooks/new',
  beforeLoad: ({ context }) => requireRole(context, 'admin', '/hooks'),
  component: lazyPage(() => import('./new-hook-page.tsx'), 'NewHookPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hooks/$hookId',
  loader: ({ context: { queryClient }, params: { hookId } }) => {
    void queryClient.prefetchQuery(hookQuery(hookId))
    void queryClient.prefetchQuery(bodiesQuery(hookId))
  },
  component: lazyPage(() => import('./hook-page.tsx'), 'HookPage'),
})

const mapping = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hooks/$hookId/mapping',
  /** The body to use as the sample. Default: the newest. */
  validateSearch: searchParams({ body: text }),
  loader: ({ context: { queryClient }, params: { hookId } }) => {
    void queryClient.prefetchQuery(hookQuery(hookId))
    void queryClient.prefetchQuery(bodiesQuery(hookId))
  },
  component: lazyPage(() => import('./mapping-page.tsx'), 'MappingPage'),
})

const body = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hooks/$hookId/bodies/$bodyId',
  loader: ({ context, params: { hookId, bodyId } }) =>
    void context.queryClient.prefetchQuery(bodyQuery(hookId, bodyId)),
  component: lazyPage(() => import('./body-page.tsx'), 'BodyPage'),
})

export const hookRoutes = [list, create, one, mapping, body] as const
