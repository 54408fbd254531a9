/** Runs work when it is its turn. */
export type TakeTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

interface Limits {
  /** Pieces of work with the same key at once. */
  perKey: number
  /** Pieces of work at once, whatever their keys. */
  inAll: number
}

/**
 * Lets work wait in line instead of letting it hold something scarce while it waits: what many transactions of one
 * tenant wait for must not use up the connections of all. First come, first served, except that a key that has its
 * share lets others go ahead.
 */
export function createTurns({ perKey, inAll }: Limits): TakeTurn {
  const running = new Map<string, number>()
  let all = 0
  const waiting: { key: string; start: () => void }[] = []

  const isFree = (key: string) => all < inAll && (running.get(key) ?? 0) < perKey
  const begin = (key: string) => {
    all++
    running.set(key, (running.get(key) ?? 0) + 1)
  }
  const end = (key: string) => {
    all--
    const left = (running.get(key) ?? 1) - 1
    if (left === 0) running.delete(key)
    else running.set(key, left)
    const next = waiting.findIndex((other) => isFree(other.key))
    if (next >= 0) waiting.splice(next, 1)[0]?.start()
  }

  return async (key, work) => {
    if (isFree(key)) begin(key)
    else {
      await new Promise<void>((resolve) => {
        const start = () => {
          begin(key)
          resolve()
        }
        waiting.push({ key, start })
      })
    }
    try {
      return await work()
    } finally {
      end(key)
    }
  }
}
