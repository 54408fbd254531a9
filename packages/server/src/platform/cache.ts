import type { Invalidation } from './postgres/invalidation.ts'

const ENTRIES_MAX = 10_000

/**
 * Caches the results of look-ups, including empty ones, until any process changes a cached table. Concurrent callers of
 * the same key share one look-up.
 * @param isKept whether a value is worth caching.
 */
export function cached<Value>(
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
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
    // Callers can invent any number of keys, so the oldest entry is evicted.
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
