export interface ConcurrencyOptions {
  /** Concurrent work with the same key. */
  perKey: number
  /** Concurrent work in total. */
  inAll: number
  /** How many may wait per key; unlimited by default. Applies to work with a caller. */
  waitingPerKey?: number
  /** How many may wait in total; unlimited by default. Applies to work with a caller. */
  waitingInAll?: number
  /** How long work with a caller waits at most; unlimited by default. */
  waitMsMax?: number
}

export interface EnterOptions {
  /**
   * Aborts when the caller no longer needs the result: waiting work then leaves the queue. Work without a caller is
   * never rejected.
   */
  caller?: AbortSignal | undefined
  /** Goes ahead of other work with the same key. */
  isUrgent?: boolean
}

/** Why work with a caller was not started. */
export type RefusalReason = 'key_is_full' | 'all_is_full' | 'waited_too_long' | 'caller_left'

export class EntryRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(`The work was not started: ${reason}.`)
    this.name = 'EntryRefused'
    this.reason = reason
  }
}

export interface ConcurrencyCounts {
  waiting: number
  running: number
  /** Since the start. */
  started: number
  refused: number
  waitedSeconds: number
}

export interface ConcurrencyLimit {
  /** Runs work once a slot is free. @throws EntryRefused. */
  runWithinLimit<T>(key: string, work: () => Promise<T>, options?: EnterOptions): Promise<T>
  /** Waits for a slot. @returns a function that frees it. @throws EntryRefused. */
  enter(key: string, options?: EnterOptions): Promise<() => void>
  counts(): ConcurrencyCounts
}

interface Waiting {
  start(): void
}

/**
 * Queues work, so that it does not occupy scarce resources while it waits: transactions of one tenant that wait for one
 * another must not use up all connections. Keys are served round-robin: a key with a hundred waiting items delays
 * another key by at most one.
 */
export function createConcurrencyLimit(limits: ConcurrencyOptions): ConcurrencyLimit {
  const { perKey, inAll, waitingPerKey = Infinity, waitingInAll = Infinity, waitMsMax } = limits
  const runningOf = new Map<string, number>()
  /** The next slot goes to the first key that may have one. That key then moves to the end. */
  const lines = new Map<string, Waiting[]>()
  const counts: ConcurrencyCounts = { waiting: 0, running: 0, started: 0, refused: 0, waitedSeconds: 0 }

  const hasSlot = (key: string) => counts.running < inAll && (runningOf.get(key) ?? 0) < perKey

  function start(key: string): () => void {
    counts.running++
    counts.started++
    runningOf.set(key, (runningOf.get(key) ?? 0) + 1)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      counts.running--
      const left = (runningOf.get(key) ?? 1) - 1
      if (left === 0) runningOf.delete(key)
      else runningOf.set(key, left)
      startNext()
    }
  }

  function startNext(): void {
    for (const [key, line] of lines) {
      if (!hasSlot(key)) continue
      const [next] = line
      lines.delete(key)
      lines.set(key, line)
      next?.start()
      return
    }
  }

  function refusal(key: string): RefusalReason | null {
    if ((lines.get(key)?.length ?? 0) >= waitingPerKey) return 'key_is_full'
    return counts.waiting >= waitingInAll ? 'all_is_full' : null
  }

  function refuse(reason: RefusalReason): never {
    counts.refused++
    throw new EntryRefused(reason)
  }

  async function waitInLine(key: string, { caller, isUrgent }: EnterOptions): Promise<() => void> {
    const since = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const line = lines.get(key) ?? []
    lines.set(key, line)
    const leave = () => {
      line.splice(line.indexOf(waiting), 1)
      if (line.length === 0) lines.delete(key)
      counts.waiting--
      counts.waitedSeconds += (performance.now() - since) / 1000
    }
    const giveUp = (reason: RefusalReason) => {
      leave()
      counts.refused++
      reject(new EntryRefused(reason))
    }
    const waiting: Waiting = {
      start: () => {
        leave()
        resolve(start(key))
      },
    }
    if (isUrgent) line.unshift(waiting)
    else line.push(waiting)
    counts.waiting++
    const onGone = () => giveUp('caller_left')
    caller?.addEventListener('abort', onGone)
    const timer = caller && waitMsMax ? setTimeout(() => giveUp('waited_too_long'), waitMsMax) : undefined
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      caller?.removeEventListener('abort', onGone)
    }
  }

  async function enter(key: string, options: EnterOptions = {}): Promise<() => void> {
    if (options.caller?.aborted) refuse('caller_left')
    if (hasSlot(key)) return start(key)
    const reason = options.caller ? refusal(key) : null
    return reason ? refuse(reason) : waitInLine(key, options)
  }

  return {
    enter,
    runWithinLimit: async (key, work, options) => {
      const end = await enter(key, options)
      try {
        return await work()
      } finally {
        end()
      }
    },
    counts: () => ({ ...counts }),
  }
}
