import { createRoute, redirect } from '@tanstack/react-router'
import { lazyPage } from '../app/lazy-page.ts'
import { rootRoute } from '../app/root-routes.tsx'

const PATH = '/oauth/authorize'
/** Where the tab keeps what an application asked for. */
const KEPT = 'cds-authorization-request'

/** The query with which an application sent the person here; empty without one. */
export function keptQuery(): string {
  return sessionStorage.getItem(KEPT) ?? ''
}

const authorize = createRoute({
  getParentRoute: () => rootRoute,
  path: PATH,
  // The query is too long to be passed through a sign-in, which may lead to another site and back. So the tab keeps it.
  beforeLoad: () => {
    const { pathname, search } = window.location
    if (pathname !== PATH || search === '') return
    sessionStorage.setItem(KEPT, search)
    throw redirect({ to: PATH, search: {}, replace: true })
  },
  component: lazyPage(() => import('./consent-page.tsx'), 'ConsentPage'),
})

export const oauthRoutes = [authorize] as const
