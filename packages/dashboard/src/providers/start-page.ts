/** Where the tab keeps the page on which the sign-in started. */
const KEY = 'cds-authorization-started-at'

/** Remembers the current page before the person leaves for the provider. */
export function rememberPage(): void {
  sessionStorage.setItem(KEY, window.location.pathname)
}

/** The page on which the sign-in started. */
export function startPage(): string {
  const path = sessionStorage.getItem(KEY) ?? ''
  return /^\/(?![/\\])/.test(path) ? path : '/'
}
