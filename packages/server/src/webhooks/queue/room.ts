import type { Claimed, Room } from './claim.ts'
import type { Outcome } from './record.ts'

/** Deliveries that one process has in hand at once; each holds one payload in memory. */
const SLOTS = 1024
const PER_TENANT = 768
/** Outcomes that wait to be written down; with more than this nothing new is taken. */
const UNWRITTEN_MAX = 1_024
/** Requests to one receiver at once: few at first, and one more with each quick answer until that makes it slower. */
const PER_SUBSCRIPTION_FIRST = 4
const PER_SUBSCRIPTION_MAX = 32
/** A request that is not answered by then leaves its slot to others and waits beside them. */
const SLOW_MS = 1_000
const WAITING_BESIDE_MAX = 4_096
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
const LEARNING = 0.05
const FORGETTING = 0.002
/** So many quick answers in a row prove a receiver quick. */
const QUICK_ANSWERS = 24
/**
 * Taken ahead for a receiver that has proved quick, so that it need not wait for the next look at the queue: what it does
 * in a second, but not more than this, and not before a third of it is gone: few large takes cost less than many small.
 */
const AHEAD_MAX = 192
const AHEAD_MS = 1_000
const AHEAD_LEFT = 2 / 3
/** What is left of a lease must do for an attempt and for writing it down. */
const LEASE_LEFT_MS_MIN = 13_000
const REMEMBERED_MAX = 1_000

/** A delivery in hand. */
export interface Slot {
  /** The receiver is done with it; what is left is to write that down. */
  answered(outcome: Outcome | null): void
  /** What came of it is written down, or will not be. */
  written(): void
}

/**
 * Deals out what a process can do at once, so that no receiver can hold up another one: a queue begins with few slots, and
 * who hangs keeps none for longer than a second.
 */
export interface Slots {
  /** Room to send it now; null when its receiver has as many as it can take: then it is held. */
  take(delivery: Claimed): Slot | null
  /** One that was held and whose receiver has room again. */
  next(subscriptionId: string): Claimed | undefined
  /** Takes out what was held too long, or for a receiver that is not quick any more: others may take it. */
  surplus(now: Date): Claimed[]
  /** Takes out everything that is held. */
  empty(): Claimed[]
  room(): Room
}

/** How a receiver does. */
interface Pace {
  /** Requests that it gets at once. */
  limit: number
  /** What it takes when it is not strained, and what it took last, in milliseconds. */
  bestMs: number
  lastMs: number
  quickInARow: number
}

export function createSlots(): Slots {
  const underWay = new Map<string, number>()
  const byTenant = new Map<string, number>()
  const paces = new Map<string, Pace>()
  const held = new Map<string, Claimed[]>()
  let taken = 0
  let waitingBeside = 0
  let unwritten = 0

  const limitOf = (subscriptionId: string) => paces.get(subscriptionId)?.limit ?? PER_SUBSCRIPTION_FIRST

  function paceOf(subscriptionId: string): Pace {
    const isFull = paces.size >= REMEMBERED_MAX
    const known = paces.get(subscriptionId)
    // The one that was heard of longest ago goes first; nobody has to go before there are too many.
    if (known && !isFull) return known
    const [first] = isFull ? paces.keys() : []
    const leaving = known ? subscriptionId : first
    if (leaving !== undefined) paces.delete(leaving)
    const pace = known ?? { limit: PER_SUBSCRIPTION_FIRST, bestMs: Number.POSITIVE_INFINITY, lastMs: 0, quickInARow: 0 }
    paces.set(subscriptionId, pace)
    return pace
  }

  function slowDown(subscriptionId: string, limit: number): void {
    const pace = paceOf(subscriptionId)
    pace.limit = limit
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
    if (!isStrained || pace.limit < PER_SUBSCRIPTION_FIRST) pace.limit = Math.min(PER_SUBSCRIPTION_MAX, pace.limit + 1)
    else if (pace.limit > PER_SUBSCRIPTION_FIRST) pace.limit--
    // It is not what it gets at once that makes it slower.
    else pace.bestMs += (tookMs - pace.bestMs) * FORGETTING
  }

  const isFull = (subscriptionId: string) => (underWay.get(subscriptionId) ?? 0) >= limitOf(subscriptionId)
  const isQuick = (subscriptionId: string) => (paces.get(subscriptionId)?.quickInARow ?? 0) >= QUICK_ANSWERS

  function aheadOf(subscriptionId: string): number {
    const pace = paces.get(subscriptionId)
    if (!pace || !isQuick(subscriptionId)) return 0
    return Math.min(AHEAD_MAX, Math.floor((pace.limit * AHEAD_MS) / Math.max(1, pace.lastMs)))
  }

  function hold(delivery: Claimed): void {
    taken++
    const { tenantId, subscriptionId } = delivery.batch
    add(byTenant, tenantId, 1)
    const others = held.get(subscriptionId)
    if (others) others.push(delivery)
    else held.set(subscriptionId, [delivery])
  }

  function takeOut(isKept: (delivery: Claimed) => boolean): Claimed[] {
    const out: Claimed[] = []
    for (const [id, waiting] of held) {
      const { kept = [], gone = [] } = Object.groupBy(waiting, (each) => (isKept(each) ? 'kept' : 'gone'))
      if (kept.length > 0) held.set(id, kept)
      else held.delete(id)
      out.push(...gone)
    }
    for (const delivery of out) letGo(delivery)
    return out
  }

  function letGo({ batch }: Claimed): void {
    taken--
    add(byTenant, batch.tenantId, -1)
  }

  return {
    take: (delivery) => {
      const { tenantId, subscriptionId } = delivery.batch
      if (isFull(subscriptionId)) {
        hold(delivery)
        return null
      }
      let beside = false
      taken++
      add(underWay, subscriptionId, 1)
      add(byTenant, tenantId, 1)
      const stepAside = () => {
        slowDown(subscriptionId, PER_HANGING_SUBSCRIPTION)
        if (waitingBeside >= WAITING_BESIDE_MAX) return
        beside = true
        taken--
        add(byTenant, tenantId, -1)
        waitingBeside++
      }
      const timer = setTimeout(stepAside, SLOW_MS)
      return {
        answered: (outcome) => {
          clearTimeout(timer)
          add(underWay, subscriptionId, -1)
          if (beside) waitingBeside--
          else {
            taken--
            add(byTenant, tenantId, -1)
          }
          unwritten++
          if (outcome) learn(subscriptionId, outcome)
        },
        written: () => {
          unwritten--
        },
      }
    },
    next: (subscriptionId) => {
      if (isFull(subscriptionId)) return
      const waiting = held.get(subscriptionId)
      const delivery = waiting?.shift()
      if (waiting?.length === 0) held.delete(subscriptionId)
      if (delivery) letGo(delivery)
      return delivery
    },
    surplus: (now) => {
      const latest = now.getTime() + LEASE_LEFT_MS_MIN
      return takeOut(({ batch }) => isQuick(batch.subscriptionId) && batch.leaseUntil.getTime() > latest)
    },
    empty: () => takeOut(() => false),
    room: () => {
      const free = new Map<string, number>()
      for (const id of new Set([...underWay.keys(), ...paces.keys()])) {
        const waiting = held.get(id)?.length ?? 0
        const ahead = aheadOf(id)
        const wanted = limitOf(id) + (waiting > ahead * AHEAD_LEFT ? 0 : ahead)
        free.set(id, Math.max(0, wanted - (underWay.get(id) ?? 0) - waiting))
      }
      const fullTenants = [...byTenant].filter(([, count]) => count >= PER_TENANT).map(([id]) => id)
      const slots = Math.min(SLOTS - taken, UNWRITTEN_MAX - unwritten)
      return { slots, perSubscription: PER_SUBSCRIPTION_FIRST, free, fullTenants }
    },
  }
}

function quicker(bestMs: number, tookMs: number): number {
  return Number.isFinite(bestMs) ? bestMs + (tookMs - bestMs) * LEARNING : tookMs
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
