import { MINUTE_MS } from '../time.ts'

const WINDOW_MS = MINUTE_MS
/** A window older than this does not count. */
const FORGOTTEN_AFTER_MS = 2 * WINDOW_MS
/** At most 27 MB per limit. */
const WINDOWS_MAX = 100_000

interface Window {
  startedAt: number
  current: number
  before: number
}

/** A key's used part of its limit, and the end of its window. */
export interface Usage {
  used: number
  resetSeconds: number
}

/** The counters of one limit, by key. Times are in milliseconds. */
export interface Windows {
  usageOf(key: string, now: number): Usage
  count(key: string, now: number): void
}

/**
 * A sliding window for each key: the previous window counts by the part of it that is still within a minute. This
 * prevents a burst of twice the limit at a window's border, and stores only two numbers per key.
 *
 * The store is bounded: when it is full, the least recently used half of the windows is dropped. A refused request
 * uses its window too. To evict one window, an attacker has to use at least 50,000 other keys of the same limit after
 * the last request under that window, and within two minutes:
 * - by address: 50,000 IPv4 addresses or IPv6 networks. The limits of all those addresses allow more requests than the
 *   evicted window.
 * - by person: 50,000 sign-ins under different addresses, each of which first passes the limit of its network. At 30 a
 *   minute that takes 834 networks for two minutes, and allows five more guesses at one password.
 * - by API key, user or tenant: keys, users and tenants that exist. Strangers cannot add any.
 */
export function createWindows(): Windows {
  // Two generations, because deleting from the front of a Map gets slower with every deleted entry.
  let young = new Map<string, Window>()
  let old = new Map<string, Window>()
  let youngSince = 0

  function windowAt(key: string, now: number): Window {
    const known = young.get(key) ?? old.get(key)
    if (known && now - known.startedAt < WINDOW_MS) return known
    const isNext = known !== undefined && now - known.startedAt < FORGOTTEN_AFTER_MS
    const startedAt = isNext ? known.startedAt + WINDOW_MS : now
    return { startedAt, current: 0, before: isNext ? known.current : 0 }
  }

  function keep(key: string, window: Window, now: number): void {
    if (young.size >= WINDOWS_MAX / 2 || now - youngSince >= FORGOTTEN_AFTER_MS) {
      old = young
      young = new Map()
      youngSince = now
    }
    young.set(key, window)
  }

  return {
    usageOf: (key, now) => {
      const window = windowAt(key, now)
      // A window without counts is not stored.
      if (window.before + window.current > 0) keep(key, window, now)
      const elapsed = now - window.startedAt
      return {
        used: window.before * (1 - elapsed / WINDOW_MS) + window.current,
        resetSeconds: Math.max(1, Math.ceil((WINDOW_MS - elapsed) / 1000)),
      }
    },
    count: (key, now) => {
      const window = windowAt(key, now)
      window.current++
      keep(key, window, now)
    },
  }
}
