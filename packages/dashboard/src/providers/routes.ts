import { createRoute, redirect } from '@tanstack/react-router'
import { lazyPage } from '../app/lazy-page.ts'
import { rootRoute } from '../app/root-routes.tsx'

const PATH = '/authorized'
/** Where the tab keeps what the provider added to the address. */
const KEPT = 'cds-authorized'
/** Where the tab keeps the page on which the sign-in started. */
const STARTED_AT = 'cds-authorization-started-at'

/** The query with which a provider sent the person back; empty without one. */
export function keptQuery(): string {
  return sessionStorage.getItem(KEPT) ?? ''
}

/** Forgets it, once it has been used. */
export function forgetQuery(): void {
  sessionStorage.removeItem(KEPT)
}

/** Remembers the current page before the person leaves for the provider. */
export function rememberPage(): void {
  sessionStorage.setItem(STARTED_AT, window.location.pathname)
}

/** The page on which the sign-in started. */
export function startPage(): string {
  const path = sessionStorage.getItem(STARTED_AT) ?? ''
  return /^\/(?![/\\])/.test(path) ? path : '/'
}

const authorized = createRoute({
  getParentRoute: () => rootRoute,
  path: PATH,
  // The code must not stay in the address, nor in that of the sign-in page, where a person may have to go first.
  beforeLoad: () => {
    const { pathname, search } = window.location
    if (pathname !== PATH || search === '') return
    sessionStorage.setItem(KEPT, search)
    throw redirect({ to: PATH, search: {}, replace: true })
  },
  component: lazyPage(() => import('./authorized-page.tsx'), 'AuthorizedPage'),
})

export const providerRoutes = [authorized] as const
