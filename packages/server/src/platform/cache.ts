import type { Invalidation } from './postgres/invalidation.ts'

const ENTRIES_MAX = 10_000

/**
 * Remembers what a look-up found, and that it found nothing, until any process changes a cached table. Callers that
 * ask for the same key at once share one look-up.
 * @param isKept whether a value is worth caching.
 */
export function cached<Value>(
  invalidation: Invalidation,
  lookUp: (key: string) => Promise<Value>,
  isKept: (value: Value) => boolean = () => true,
): (key: string) => Promise<Value> {
  const entries = new Map<string, Promise<Value>>()
  invalidation.onChange(() => entries.clear())

  return (key) => {
    const known = entries.get(key)
    if (known) return known
    const found = lookUp(key)
    if (!invalidation.listening) return found
    // Callers can make up keys without end: the oldest entry goes.
    if (entries.size >= ENTRIES_MAX) {
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        break
      }
    }
    entries.set(key, found)
    found
      .then(isKept, () => false)
      .then((keep) => {
        if (!keep && entries.get(key) === found) entries.delete(key)
      })
    return found
  }
}
