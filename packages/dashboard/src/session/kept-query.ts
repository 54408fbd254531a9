import { redirect } from '@tanstack/react-router'

/*
 * Queries with which another site sent a person here. They must not stay in the address: a code is secret, and a request of
 * an application is too long to be passed through a sign-in, which may lead to another site and back. So the tab keeps them.
 */

const keyOf = (path: string) => `cds-query:${path}`

/** Keeps the query of a page's address, if it has one, and opens the page without it. For `beforeLoad`. */
export function keepQuery(path: string): void {
  const { pathname, search } = window.location
  if (pathname !== path || search === '') return
  sessionStorage.setItem(keyOf(path), search)
  throw redirect({ to: path, search: {}, replace: true })
}

/** The query that was kept for a page; empty without one. */
export function keptQuery(path: string): string {
  return sessionStorage.getItem(keyOf(path)) ?? ''
}

/** Forgets a query once it has been used. */
export function forgetQuery(path: string): void {
  sessionStorage.removeItem(keyOf(path))
}
