import { isStorableText } from '../platform/http/json-body.ts'
import type { EventRecord } from './event-record.ts'

/** How an episode of a visitor began. */
export interface Beginning {
  /** Time of its earliest event, in milliseconds since 1970. */
  seenAt: number
  /** Its earliest page; null if no event has one. */
  page: FirstPage | null
}

export interface FirstPage {
  /** Milliseconds since 1970. */
  at: number
  url: string
  referrer: string
}

/**
 * The beginning according to some events, in the order they were sent, and to what was known before; null if there is
 * neither.
 */
export function beginningOf(events: readonly EventRecord[], known: Beginning | null = null): Beginning | null {
  let beginning = known
  for (const { timestamp: at, url, referrer } of events) {
    const isPage = url !== '' && isStorableText(url) && isStorableText(referrer)
    beginning = earlierOf(beginning, { seenAt: at, page: isPage ? { at, url, referrer } : null })
  }
  return beginning
}

/** The earlier event and the earlier page of two beginnings; if their times are equal, the first one's. */
export function earlierOf(a: Beginning | null, b: Beginning | null): Beginning | null {
  if (a === null || b === null) return a ?? b
  const isPageOfB = b.page !== null && (a.page === null || b.page.at < a.page.at)
  return { seenAt: Math.min(a.seenAt, b.seenAt), page: isPageOfB ? b.page : a.page }
}
