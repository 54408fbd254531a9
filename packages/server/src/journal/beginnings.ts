import { isStorableText } from '../platform/http/json-body.ts'
import type { EventRecord } from './event-record.ts'

/** How an episode of a visitor began. */
export interface Beginning {
  /** When its earliest event happened, in milliseconds since 1970. */
  seenAt: number
  /** Its earliest page; null when no event names one. */
  page: FirstPage | null
}

export interface FirstPage {
  /** Milliseconds since 1970. */
  at: number
  url: string
  referrer: string
}

/** What some events, in the order they were sent in, and what was known before say; null when there is nothing. */
export function beginningOf(events: readonly EventRecord[], known: Beginning | null = null): Beginning | null {
  let beginning = known
  for (const { timestamp: at, url, referrer } of events) {
    const isPage = url !== '' && isStorableText(url) && isStorableText(referrer)
    beginning = earlierOf(beginning, { seenAt: at, page: isPage ? { at, url, referrer } : null })
  }
  return beginning
}

/** Of two beginnings the earlier event and the earlier page; the first one's where they are at the same moment. */
export function earlierOf(a: Beginning | null, b: Beginning | null): Beginning | null {
  if (a === null || b === null) return a ?? b
  const isPageOfB = b.page !== null && (a.page === null || b.page.at < a.page.at)
  return { seenAt: Math.min(a.seenAt, b.seenAt), page: isPageOfB ? b.page : a.page }
}
