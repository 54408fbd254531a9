import { createRoute } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { lazyPage } from '../session/lazy-page.ts'
import { shellRoute } from '../session/root-routes.ts'
import { oneOf, searchParams, text } from '../session/search-params.ts'
import { timelineQuery } from '../ui/timeline-query.ts'
import { contactQuery, contactSearch, toContactQuery } from './contact-search.ts'

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts',
  validateSearch: contactSearch,
  loaderDeps: ({ search }) => search,
  // Not awaited: the page opens at once and shows its data when it arrives.
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchQuery(queryOf('listContacts', toContactQuery(deps)))
    void context.queryClient.prefetchQuery(queryOf('listViews', { limit: 200 }))
  },
  component: lazyPage(() => import('./contacts-page.tsx'), 'ContactsPage'),
})

const one = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts/$contactId',
  validateSearch: searchParams({
    tab: oneOf('timeline', 'details', 'notes', 'conversations', 'profile', 'actions'),
    view: oneOf('events'),
    event_type: text,
    // The contact that was just merged into this one.
    merged: text,
  }),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(contactQuery(params.contactId))
    void context.queryClient.prefetchQuery(queryOf('listProperties', { entity: 'contacts' }))
    void context.queryClient.prefetchInfiniteQuery(timelineQuery({ contactId: params.contactId }))
  },
  component: lazyPage(() => import('./contact-page.tsx'), 'ContactPage'),
})

export const contactRoutes = [list, one] as const
