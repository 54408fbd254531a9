import type { Outcome } from './finish.ts'

/**
 * The number of concurrent requests to a receiver starts here and grows by one with each quick response until that slows
 * the receiver down. From then on it changes by one each time that as many requests have got a response (by minus two if
 * all of them were slow), because requests that are in flight together get their responses together.
 */
export const PER_SUBSCRIPTION_FIRST = 4
const PER_SUBSCRIPTION_MAX = 32
/** A request that takes longer frees its slot and remains in flight. */
export const SLOW_MS = 1_000
/** Concurrent requests after a slow success, until the receiver is quick again. */
const PER_SLOW_SUBSCRIPTION = 4
/** Concurrent requests after a slow failure, and while a slow request is in flight. */
const PER_HANGING_SUBSCRIPTION = 1
/** A receiver is strained, which means it has enough requests, if it takes this many times its best and these milliseconds. */
const STRAINED_FACTOR = 2
const STRAINED_MS = 4
/** A quicker response lowers the best time by this share of the difference, because it may be an exception. */
const LEARNING = 0.005
/** A slow response raises it by this share, if the receiver already gets the fewest concurrent requests. */
const FORGETTING = 0.01
/** A receiver is quick after this many quick responses in a row. */
const QUICK_RESPONSES = 24
/**
 * A quick receiver gets deliveries ahead, so that it need not wait for the next poll: as many as it accepts in this time,
 * up to a maximum. They are claimed again only when less than this share of them remains, because a few large claims cost
 * less than many small ones.
 */
const AHEAD_MS = 1_000
const AHEAD_MAX = 2_048
export const BUFFER_REFILL_SHARE = 2 / 3
const REMEMBERED_MAX = 1_000

/** What is known of a receiver. */
interface Pace {
  /** The number of concurrent requests, with fractions. */
  limit: number
  /** Whether the receiver has had too many requests; from then on the limit changes slowly. */
  growsSlowly: boolean
  strainedInARow: number
  /** How long the receiver takes when it is not strained, and how long it took last. */
  bestMs: number
  lastMs: number
  quickInARow: number
}

/** How many concurrent requests each receiver gets, depending on how quickly it responds. */
export interface Paces {
  limitOf(subscriptionId: string): number
  /** How many more deliveries are worth buffering. */
  aheadOf(subscriptionId: string): number
  isQuick(subscriptionId: string): boolean
  known(): Iterable<string>
  learn(subscriptionId: string, outcome: Outcome): void
  /** A request has been slow; there is no response yet. */
  hangs(subscriptionId: string): void
}

export function createPaces(): Paces {
  const paces = new Map<string, Pace>()

  const limitOf = (subscriptionId: string) => Math.floor(paces.get(subscriptionId)?.limit ?? PER_SUBSCRIPTION_FIRST)

  function paceOf(subscriptionId: string): Pace {
    const isFull = paces.size >= REMEMBERED_MAX
    const known = paces.get(subscriptionId)
    // Once there are too many, the one that was used longest ago is forgotten.
    if (known && !isFull) return known
    const [first] = isFull ? paces.keys() : []
    const forgotten = known ? subscriptionId : first
    if (forgotten !== undefined) paces.delete(forgotten)
    const pace = known ?? newPace()
    paces.set(subscriptionId, pace)
    return pace
  }

  function slowDown(subscriptionId: string, limit: number): void {
    const pace = paceOf(subscriptionId)
    pace.limit = limit
    pace.growsSlowly = false
    pace.quickInARow = 0
  }

  function learn(subscriptionId: string, { at, endedAt, succeeded }: Outcome): void {
    const tookMs = endedAt.getTime() - at.getTime()
    if (tookMs >= SLOW_MS) {
      slowDown(subscriptionId, succeeded ? PER_SLOW_SUBSCRIPTION : PER_HANGING_SUBSCRIPTION)
      return
    }
    const pace = paceOf(subscriptionId)
    pace.quickInARow++
    pace.lastMs = tookMs
    const isStrained = tookMs > pace.bestMs * STRAINED_FACTOR + STRAINED_MS
    // A quick refusal does not show how fast the receiver works.
    if (succeeded && tookMs < pace.bestMs) pace.bestMs = quicker(pace.bestMs, tookMs)
    pace.strainedInARow = isStrained ? pace.strainedInARow + 1 : 0
    if (!isStrained || pace.limit < PER_SUBSCRIPTION_FIRST) {
      const more = pace.growsSlowly && pace.limit >= PER_SUBSCRIPTION_FIRST ? 1 / pace.limit : 1
      pace.limit = Math.min(PER_SUBSCRIPTION_MAX, pace.limit + more)
    } else if (pace.limit > PER_SUBSCRIPTION_FIRST) {
      pace.growsSlowly = true
      const fewer = pace.strainedInARow > pace.limit ? 2 : 1
      pace.limit = Math.max(PER_SUBSCRIPTION_FIRST, pace.limit - fewer / pace.limit)
    } else {
      // The receiver is slow for another reason than the number of requests.
      pace.growsSlowly = false
      pace.bestMs += (tookMs - pace.bestMs) * FORGETTING
    }
  }

  const isQuick = (subscriptionId: string) => (paces.get(subscriptionId)?.quickInARow ?? 0) >= QUICK_RESPONSES

  function aheadOf(subscriptionId: string): number {
    const pace = paces.get(subscriptionId)
    if (!pace || !isQuick(subscriptionId)) return 0
    return Math.min(AHEAD_MAX, Math.floor((pace.limit * AHEAD_MS) / Math.max(1, pace.lastMs)))
  }

  return {
    limitOf,
    aheadOf,
    isQuick,
    known: () => paces.keys(),
    learn,
    hangs: (subscriptionId) => slowDown(subscriptionId, PER_HANGING_SUBSCRIPTION),
  }
}

function newPace(): Pace {
  const [limit, bestMs] = [PER_SUBSCRIPTION_FIRST, Number.POSITIVE_INFINITY]
  return { limit, growsSlowly: false, strainedInARow: 0, bestMs, lastMs: 0, quickInARow: 0 }
}

function quicker(bestMs: number, tookMs: number): number {
  return Number.isFinite(bestMs) ? bestMs + (tookMs - bestMs) * LEARNING : tookMs
}
