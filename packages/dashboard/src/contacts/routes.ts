import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { contactsQuery } from '../api/contacts.ts'
import { shellRoute } from '../app/root-routes.tsx'
import { contactSearch, toContactQuery } from './contact-search.ts'

const list = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts',
  validateSearch: contactSearch,
  loaderDeps: ({ search }) => search,
  // Not awaited: the page opens at once and shows what it has.
  loader: ({ context, deps }) => void context.queryClient.prefetchQuery(contactsQuery(toContactQuery(deps))),
  component: lazyRouteComponent(() => import('./contacts-page.tsx'), 'ContactsPage'),
})

export const contactRoutes = [list] as const
