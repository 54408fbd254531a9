import { capture, now } from './capture.ts'
import { attempt, later, on } from './guard.ts'
import { cut, redact } from './text.ts'
import { flushLast } from './transport.ts'
import { decideNow } from './visitor.ts'

/** How long a page view waits for the page to load, and a route change for its title. */
const LOAD_MS_MAX = 900
const TITLE_MS = 100
/** Polling interval for the URL in browsers without the Navigation API. */
const POLL_MS = 300

let url: string
let path: string
let query: string
let title: string
/** Visible time so far, and when the page last became visible. */
let visibleMs = 0
let visibleSince = 0
/** Records the pending page view. */
let recordPending: (() => void) | undefined

export function watchPages(): void {
  // The Navigation API reports every navigation without patching the page's objects.
  const { navigation } = window as { navigation?: EventTarget }
  if (navigation) {
    on(navigation, 'currententrychange', (event: Event & { navigationType?: string }) => moved(event.navigationType))
  } else setInterval(() => attempt(moved), POLL_MS)
  on(document, 'visibilitychange', () => {
    if (document.hidden) {
      stopClock()
      recordPending?.()
      send()
    } else startClock()
  })
  on(window, 'pagehide', () => {
    leave()
    send()
  })
  on(window, 'pageshow', (event: PageTransitionEvent) => {
    // Restored from the back-forward cache: a new view of the page.
    if (event.persisted) view(TITLE_MS, redact(document.referrer))
  })
  on(window, 'load', () => later(() => recordPending?.(), 0))
  view(document.readyState === 'complete' ? 0 : LOAD_MS_MAX)
}

function send(): void {
  decideNow?.()
  flushLast()
}

/** The path, with the fragment if it is a route of a single-page application (`#/cart`, `#!/cart`). */
function currentPath(): string {
  return redact(location.pathname + (/^#!?\//.test(location.hash) ? location.hash : ''))
}

/** Starts a page view if the path has changed. The query counts too, unless it was only replaced (search as you type). */
function moved(type?: string): void {
  const isSame = currentPath() === path && (type === 'replace' || location.search === query)
  if (isSame) query = location.search
  else {
    const before = url
    leave()
    view(TITLE_MS, before)
  }
}

/** Starts a page view with the current time; it is recorded as soon as title and load time are known. */
function view(waitMs: number, referrer?: string): void {
  const timestamp = now()
  const isLoad = referrer === undefined
  url = redact(location.href)
  path = currentPath()
  query = location.search
  visibleMs = visibleSince = 0
  startClock()
  const record = () => {
    if (recordPending !== record) return
    recordPending = undefined
    title = cut(document.title)
    const data: Record<string, unknown> = { path, load_time: (isLoad && attempt(loadMs)) || undefined }
    new URL(url).searchParams.forEach((value, name) => {
      if (/^utm_/.test(name)) data[name] = cut(value)
    })
    capture('page_view', data, { timestamp, url, title, referrer: referrer || undefined })
  }
  recordPending = record
  later(record, waitMs)
}

/** Time from the start of the navigation, or from the activation of a prerendered page, until the page has loaded. */
function loadMs(): number {
  const [entry] = performance.getEntriesByType('navigation') as [
    PerformanceNavigationTiming & { activationStart?: number },
  ]
  // If the page is still loading, the time until its content was ready counts.
  return Math.max(0, Math.round((entry.loadEventEnd || entry.domContentLoadedEventEnd) - (entry.activationStart || 0)))
}

/** Records that the page is left. */
export function leave(): void {
  recordPending?.()
  if (!url) return
  stopClock()
  capture('page_leave', { path, time_on_page: Math.round(visibleMs) / 1000 }, { url, title })
  url = ''
}

function startClock(): void {
  if (!document.hidden) visibleSince ||= performance.now()
}

function stopClock(): void {
  if (visibleSince) visibleMs += performance.now() - visibleSince
  visibleSince = 0
}
