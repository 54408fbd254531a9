import type { Claimed, Room } from './claim.ts'
import type { Outcome } from './record.ts'

/** Deliveries that one process has in hand at once; each holds one payload in memory. */
const SLOTS = 512
const PER_TENANT = 384
/** Requests to one receiver at once: few at first, and one more with each quick answer. */
const PER_SUBSCRIPTION_FIRST = 4
const PER_SUBSCRIPTION_MAX = 32
/** A request that is not answered by then leaves its slot to others and waits beside them. */
const SLOW_MS = 1_000
const WAITING_BESIDE_MAX = 4_096
/** A receiver that let a request wait for longer gets few at once until it is quick again. */
const PER_SLOW_SUBSCRIPTION = 4
const PER_HANGING_SUBSCRIPTION = 1
const REMEMBERED_MAX = 1_000

/** A delivery in hand. */
export interface Slot {
  /** The receiver is done with it; what is left is to write that down. */
  answered(outcome: Outcome | null): void
  release(): void
}

/**
 * Deals out what a process can do at once, so that no receiver can hold up another one: a queue begins with few slots, and
 * who hangs keeps none for longer than a second.
 */
export interface Slots {
  take(delivery: Claimed): Slot
  room(): Room
}

export function createSlots(): Slots {
  const underWay = new Map<string, number>()
  const byTenant = new Map<string, number>()
  const limits = new Map<string, number>()
  let taken = 0
  let waitingBeside = 0

  const limitOf = (subscriptionId: string) => limits.get(subscriptionId) ?? PER_SUBSCRIPTION_FIRST

  function setLimit(subscriptionId: string, limit: number): void {
    // The one that was learnt longest ago goes first.
    limits.delete(subscriptionId)
    const [oldest] = limits.size >= REMEMBERED_MAX ? limits.keys() : []
    if (oldest !== undefined) limits.delete(oldest)
    limits.set(subscriptionId, limit)
  }

  function learn(subscriptionId: string, { at, endedAt, succeeded }: Outcome): void {
    const quick = endedAt.getTime() - at.getTime() < SLOW_MS
    if (quick) setLimit(subscriptionId, Math.min(PER_SUBSCRIPTION_MAX, limitOf(subscriptionId) + 1))
    else setLimit(subscriptionId, succeeded ? PER_SLOW_SUBSCRIPTION : PER_HANGING_SUBSCRIPTION)
  }

  return {
    take: ({ tenantId, subscriptionId }) => {
      let beside = false
      taken++
      add(underWay, subscriptionId, 1)
      add(byTenant, tenantId, 1)
      const stepAside = () => {
        setLimit(subscriptionId, PER_HANGING_SUBSCRIPTION)
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
          if (!beside) add(byTenant, tenantId, -1)
          if (outcome) learn(subscriptionId, outcome)
        },
        release: () => {
          if (beside) waitingBeside--
          else taken--
        },
      }
    },
    room: () => {
      const free = new Map<string, number>()
      for (const id of new Set([...underWay.keys(), ...limits.keys()])) {
        free.set(id, Math.max(0, limitOf(id) - (underWay.get(id) ?? 0)))
      }
      const fullTenants = [...byTenant].filter(([, count]) => count >= PER_TENANT).map(([id]) => id)
      return { slots: SLOTS - taken, perSubscription: PER_SUBSCRIPTION_FIRST, free, fullTenants }
    },
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
