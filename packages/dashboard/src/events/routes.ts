import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import {
  eventGroupSearch,
  eventListSearch,
  toEventQuery,
  toGroupRequest,
  toVisitQuery,
  visitSearch,
} from './event-search.ts'

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  validateSearch: eventListSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(queryOf('listEvents', toEventQuery(deps))),
  component: lazyPage(() => import('./events-page.tsx'), 'EventsPage'),
})

const groups = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/groups',
  validateSearch: eventGroupSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(queryOf('aggregate', toGroupRequest(deps))),
  component: lazyPage(() => import('./event-groups-page.tsx'), 'EventGroupsPage'),
})

const visits = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/visits',
  validateSearch: visitSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(queryOf('listVisits', toVisitQuery(deps))),
  component: lazyPage(() => import('./visits-page.tsx'), 'VisitsPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/$eventId',
  loader: ({ context, params }) =>
    void context.queryClient.prefetchQuery(queryOf('getEvent', { event_id: params.eventId })),
  component: lazyPage(() => import('./event-page.tsx'), 'EventPage'),
})

export const eventRoutes = [list, visits, groups, one] as const
