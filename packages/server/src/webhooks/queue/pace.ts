import type { Outcome } from './finish.ts'

/**
 * Requests to one receiver at once: few at first, and one more with each quick answer until that makes it slower. From then
 * on one more or fewer for each time that so many were answered (two fewer when all of them were slow): those that are under
 * way together come back together.
 */
export const PER_SUBSCRIPTION_FIRST = 4
const PER_SUBSCRIPTION_MAX = 32
/** A request that is not answered by then leaves its slot to others and waits beside them. */
export const SLOW_MS = 1_000
/** A receiver that let a request wait for longer gets few at once until it is quick again. */
const PER_SLOW_SUBSCRIPTION = 4
const PER_HANGING_SUBSCRIPTION = 1
/** A receiver that takes longer than so many times its best, and some milliseconds, has as many as it can work on. */
const STRAINED_FACTOR = 2
const STRAINED_MS = 4
/**
 * By what share of the difference an answer that is quicker changes what its best is (one of them may be an accident), and
 * one that is slow although it gets few at once.
 */
const LEARNING = 0.005
const FORGETTING = 0.01
/** So many quick answers in a row prove a receiver quick. */
const QUICK_ANSWERS = 24
/**
 * Taken ahead for a receiver that has proved quick, so that it need not wait for the next look at the queue: what it does
 * in a second, but not more than this, and not before a third of it is gone: few large takes cost less than many small.
 */
const AHEAD_MAX = 2_048
const AHEAD_MS = 1_000
export const AHEAD_LEFT = 2 / 3
const REMEMBERED_MAX = 1_000

/** How a receiver does. */
interface Pace {
  /** Requests that it gets at once; grows and shrinks by parts of one. */
  limit: number
  /** Whether it has got more at once than it works on: from then on the limit changes slowly. */
  isSettled: boolean
  strainedInARow: number
  /** What it takes when it is not strained, and what it took last, in milliseconds. */
  bestMs: number
  lastMs: number
  quickInARow: number
}

/** What is known of the receivers, and so how many requests each gets at once. */
export interface Paces {
  limitOf(subscriptionId: string): number
  /** How many are worth having in hand beyond those. */
  aheadOf(subscriptionId: string): number
  isQuick(subscriptionId: string): boolean
  known(): Iterable<string>
  learn(subscriptionId: string, outcome: Outcome): void
  /** A request was not answered within a second. */
  hangs(subscriptionId: string): void
}

export function createPaces(): Paces {
  const paces = new Map<string, Pace>()

  const limitOf = (subscriptionId: string) => Math.floor(paces.get(subscriptionId)?.limit ?? PER_SUBSCRIPTION_FIRST)

  function paceOf(subscriptionId: string): Pace {
    const isFull = paces.size >= REMEMBERED_MAX
    const known = paces.get(subscriptionId)
    // The one that was heard of longest ago goes first; nobody has to go before there are too many.
    if (known && !isFull) return known
    const [first] = isFull ? paces.keys() : []
    const leaving = known ? subscriptionId : first
    if (leaving !== undefined) paces.delete(leaving)
    const pace = known ?? newPace()
    paces.set(subscriptionId, pace)
    return pace
  }

  function slowDown(subscriptionId: string, limit: number): void {
    const pace = paceOf(subscriptionId)
    pace.limit = limit
    pace.isSettled = false
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
    // A refusal says nothing about the work.
    if (succeeded && tookMs < pace.bestMs) pace.bestMs = quicker(pace.bestMs, tookMs)
    pace.strainedInARow = isStrained ? pace.strainedInARow + 1 : 0
    if (!isStrained || pace.limit < PER_SUBSCRIPTION_FIRST) {
      const more = pace.isSettled && pace.limit >= PER_SUBSCRIPTION_FIRST ? 1 / pace.limit : 1
      pace.limit = Math.min(PER_SUBSCRIPTION_MAX, pace.limit + more)
    } else if (pace.limit > PER_SUBSCRIPTION_FIRST) {
      pace.isSettled = true
      const fewer = pace.strainedInARow > pace.limit ? 2 : 1
      pace.limit = Math.max(PER_SUBSCRIPTION_FIRST, pace.limit - fewer / pace.limit)
    } else {
      // It is not what it gets at once that makes it slower.
      pace.isSettled = false
      pace.bestMs += (tookMs - pace.bestMs) * FORGETTING
    }
  }

  const isQuick = (subscriptionId: string) => (paces.get(subscriptionId)?.quickInARow ?? 0) >= QUICK_ANSWERS

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
  return { limit, isSettled: false, strainedInARow: 0, bestMs, lastMs: 0, quickInARow: 0 }
}

function quicker(bestMs: number, tookMs: number): number {
  return Number.isFinite(bestMs) ? bestMs + (tookMs - bestMs) * LEARNING : tookMs
}
