/** A page of a record that was opened. */
export interface RecentPage {
  path: string
  name: string
}

const STORED = 'recent-pages'
const KEPT_MAX = 8
/** The pages of single records. */
const RECORD = /^\/(contacts|companies|segments|agents|identities|webhooks|connections)\/(?!new$|settings$)[^/]+$/

/**
 * Remembers that a record's page was opened. Only for this tab, because names are personal data, which must not stay
 * behind in the browser.
 */
export function rememberPage(path: string, name: string): void {
  if (!RECORD.test(path)) return
  const others = recentPages().filter((page) => page.path !== path)
  const pages = [{ path, name: name.slice(0, 200) }, ...others].slice(0, KEPT_MAX)
  try {
    sessionStorage.setItem(STORED, JSON.stringify(pages))
  } catch {
    // The browser stores nothing: the list stays empty.
  }
}

/** The latest first. */
export function recentPages(): RecentPage[] {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '[]') as RecentPage[]
  } catch {
    return []
  }
}

/** For another person or workspace. */
export function forgetRecentPages(): void {
  sessionStorage.removeItem(STORED)
}
